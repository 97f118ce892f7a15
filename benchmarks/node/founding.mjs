// The founding logic, written for Node as directly as it is stated: read session files, rebuild the
// calls, normalize their arguments, look for exact duplicates, semantic duplicates and stale reads.
//
//   node founding.mjs PATH…        prints {"files", "bytes", "calls", "exact", "semantic", "stale", "ms"}
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";

const READS = new Set(["Read", "Grep", "Glob", "read_file", "search", "get_user"]);
const WRITES = new Set(["Edit", "Write", "MultiEdit", "NotebookEdit", "write_file"]);

function normalize(value) {
  if (Array.isArray(value)) return value.map(normalize);
  if (value !== null && typeof value === "object") {
    const sorted = {};
    for (const key of Object.keys(value).sort()) sorted[key] = normalize(value[key]);
    return sorted;
  }
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return value.trim();
  return value;
}

const rawKey = (name, args) => `${name}(${JSON.stringify(args ?? {})})`;
const normalKey = (name, args) => `${name}(${JSON.stringify(normalize(args ?? {}))})`;

function resourceOf(name, args) {
  const path = args?.file_path ?? args?.path ?? args?.notebook_path;
  if (path !== undefined) return `file:${path}`;
  if (args?.query !== undefined) return `search:${args.query}`;
  return null;
}

function* linesOf(text) {
  let start = 0;
  while (start < text.length) {
    let end = text.indexOf("\n", start);
    if (end < 0) end = text.length;
    if (end > start) yield text.slice(start, end);
    start = end + 1;
  }
}

function readCalls(path) {
  const calls = [];
  const open = new Map();
  let turn = 0;
  let message = null;
  for (const line of linesOf(readFileSync(path, "utf8"))) {
    let record;
    try {
      record = JSON.parse(line);
    } catch {
      continue;
    }
    if (record.type === "call") {
      const ok = record.ok ?? record.outcome === "ok";
      calls.push({ turn: record.turn, name: record.name, args: record.args, ok });
      continue;
    }
    const content = record.message?.content;
    if (!Array.isArray(content)) continue;
    for (const block of content) {
      if (block.type === "tool_use") {
        if (record.message.id !== message) {
          message = record.message.id;
          turn += 1;
        }
        const call = { turn, name: block.name, args: block.input, ok: false };
        calls.push(call);
        open.set(block.id, call);
      } else if (block.type === "tool_result") {
        const call = open.get(block.tool_use_id);
        if (call !== undefined) {
          call.ok = block.is_error !== true;
          call.result = block.content;
        }
      }
    }
  }
  return calls;
}

function findDuplicates(calls) {
  let exact = 0;
  let semantic = 0;
  let turn = null;
  let raws = new Set();
  let normals = new Set();
  for (const call of calls) {
    if (call.turn !== turn) {
      turn = call.turn;
      raws = new Set();
      normals = new Set();
    }
    const raw = rawKey(call.name, call.args);
    const normal = normalKey(call.name, call.args);
    if (raws.has(raw)) exact += 1;
    else if (normals.has(normal)) semantic += 1;
    raws.add(raw);
    normals.add(normal);
  }
  return { exact, semantic };
}

function findStale(calls) {
  let stale = 0;
  const lastRead = new Map();
  for (const call of calls) {
    const resource = resourceOf(call.name, call.args);
    if (resource === null) continue;
    if (WRITES.has(call.name)) {
      lastRead.delete(resource);
    } else if (READS.has(call.name) && call.ok) {
      const earlier = lastRead.get(resource);
      const key = normalKey(call.name, call.args);
      if (earlier !== undefined && earlier.turn !== call.turn && earlier.key === key) stale += 1;
      lastRead.set(resource, { turn: call.turn, key });
    }
  }
  return stale;
}

function filesUnder(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).sort().flatMap((name) => filesUnder(join(path, name)));
}

const totals = { files: 0, bytes: 0, calls: 0, exact: 0, semantic: 0, stale: 0, ms: 0 };
const started = performance.now();
for (const path of process.argv.slice(2).flatMap(filesUnder)) {
  if (!path.endsWith(".jsonl")) continue;
  const calls = readCalls(path);
  const { exact, semantic } = findDuplicates(calls);
  totals.files += 1;
  totals.bytes += statSync(path).size;
  totals.calls += calls.length;
  totals.exact += exact;
  totals.semantic += semantic;
  totals.stale += findStale(calls);
}
totals.ms = performance.now() - started;
console.log(JSON.stringify(totals));
