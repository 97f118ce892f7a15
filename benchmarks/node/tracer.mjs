// A tracer as one writes it for Node: the arguments as JSON, the result hashed, both times.
//
//   node tracer.mjs CALLS ROUNDS   prints the cost of one call in microseconds by length of the result
import { createHash } from "node:crypto";
import { performance } from "node:perf_hooks";

const [calls, rounds] = process.argv.slice(2).map(Number);

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

class Tracer {
  constructor({ hash }) {
    this.hash = hash;
    this.turn = 1;
    this.calls = [];
  }

  wrap(name, tool) {
    return (args) => {
      const record = {
        turn: this.turn,
        name,
        rawKey: `${name}(${JSON.stringify(args)})`,
        normalizedKey: `${name}(${JSON.stringify(normalize(args))})`,
        resource: tool.resource(args),
        mutates: tool.mutates,
        origin: "model",
        startedAt: performance.now(),
      };
      this.calls.push(record);
      try {
        const result = tool.run(args);
        record.ok = true;
        record.resultLength = result.length;
        if (this.hash) record.resultHash = createHash("sha256").update(result).digest("hex");
        return result;
      } catch (error) {
        record.ok = false;
        record.error = String(error);
        throw error;
      } finally {
        record.endedAt = performance.now();
      }
    };
  }
}

function perCall(make) {
  let best = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    const call = make();
    const started = performance.now();
    for (let n = 0; n < calls; n += 1) call({ path: "config.json", limit: 5 });
    best = Math.min(best, ((performance.now() - started) * 1000) / calls);
  }
  return best;
}

const found = {};
for (const length of [0, 100, 10_000]) {
  const text = "x".repeat(length);
  const tool = { run: () => text, mutates: false, resource: (args) => `file:${args.path}` };
  found[length] = {
    plain: perCall(() => tool.run),
    traced: perCall(() => new Tracer({ hash: false }).wrap("read_file", tool)),
    hashed: perCall(() => new Tracer({ hash: true }).wrap("read_file", tool)),
  };
}
console.log(JSON.stringify(found));
