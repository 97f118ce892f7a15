"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const ROW = 28, BLOCK = 12, LANE = 30, LEFT = 90;
  const [SEQ, TURN, CONTEXT, TOOL, ARGS, OUTCOME, EFFECT, CHARS, VERDICT] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  let trace = null, visible = [], selected = -1, bySeq = new Map();

  // Text only ever becomes text.
  function element(tag, text, name) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (name) made.className = name;
    return made;
  }
  function option(select, value, text) {
    const made = element("option", text);
    made.value = value;
    select.append(made);
  }
  const verdictOf = (call) => (call[VERDICT] < 0 ? null : trace.verdicts[call[VERDICT]]);
  const named = (verdict) => verdict.kind === "fine" ? verdict.code
    : verdict.code + " " + (data.rules[verdict.code] || [""])[0];

  function header() {
    $("answer").textContent = data.answer;
    $("cost").textContent = data.cost;
    for (const [name, value] of Object.entries(data.figures)) {
      const row = element("div");
      row.append(element("dt", name), element("dd", String(value)));
      $("figures").append(row);
    }
    if (data.errors.length) {
      $("errors").hidden = false;
      $("errors").append(element("h2", "Not readable"));
      for (const text of data.errors) $("errors").append(element("p", text));
    }
    const fine = Object.entries(data.fine).map(([reason, count]) => reason + " " + count);
    $("fine").textContent = fine.join(" · ") || "none";
    data.traces.forEach((one, index) => option($("trace"), String(index), one.run));
  }

  function open(index) {
    trace = data.traces[index] || { calls: [], marks: [], verdicts: [], contexts: [] };
    bySeq = new Map(trace.calls.map((call, place) => [call[SEQ], place]));
    for (const id of ["rule", "tool", "context"]) {
      $(id).replaceChildren();
      option($(id), "", "any");
    }
    const codes = [...new Set(trace.verdicts.map((verdict) => verdict.code))].sort();
    codes.forEach((code) => option($("rule"), code, code));
    [...new Set(trace.calls.map((call) => call[TOOL]))].sort().forEach((t) => option($("tool"), t, t));
    trace.contexts.forEach((name, place) => option($("context"), String(place), name));
    $("level").value = trace.verdicts.length ? "repeats" : "all";
    selected = -1;
    filter();
  }

  function wanted(call) {
    const verdict = verdictOf(call), level = $("level").value;
    if (level !== "all" && (!verdict || (level !== "repeats" && verdict.kind !== level))) return false;
    if ($("rule").value && (!verdict || verdict.code !== $("rule").value)) return false;
    if ($("tool").value && call[TOOL] !== $("tool").value) return false;
    if ($("context").value && String(call[CONTEXT]) !== $("context").value) return false;
    const words = $("search").value.toLowerCase();
    return !words || (call[TOOL] + " " + call[ARGS]).toLowerCase().includes(words);
  }

  function filter() {
    visible = [];
    trace.calls.forEach((call, place) => { if (wanted(call)) visible.push(place); });
    $("shown").textContent = visible.length + " of " + trace.calls.length + " calls";
    $("spacer").style.height = visible.length * ROW + "px";
    $("scroll").scrollTop = 0;
    rows();
    draw();
  }

  // Only the rows in sight exist.
  function rows() {
    const box = $("scroll"), first = Math.max(0, Math.floor(box.scrollTop / ROW) - 5);
    const last = Math.min(visible.length, first + Math.ceil(box.clientHeight / ROW) + 10);
    const made = [];
    for (let at = first; at < last; at++) made.push(row(at));
    $("spacer").replaceChildren(...made);
    const current = $("row-" + selected);
    if (current) box.setAttribute("aria-activedescendant", current.id);
    else box.removeAttribute("aria-activedescendant");
  }

  function row(at) {
    const place = visible[at], call = trace.calls[place], verdict = verdictOf(call);
    const made = element("div", undefined, "row");
    made.id = "row-" + place;
    made.setAttribute("role", "option");
    made.setAttribute("aria-selected", String(place === selected));
    made.style.top = at * ROW + "px";
    made.append(element("span", "#" + call[SEQ], "no"));
    made.append(element("span", call[TOOL] + " " + call[ARGS], "call"));
    if (verdict) made.append(element("span", named(verdict), "verdict " + verdict.kind));
    made.addEventListener("click", () => select(place));
    return made;
  }

  function select(place) {
    selected = place;
    const at = visible.indexOf(place);
    if (at >= 0) {
      const box = $("scroll"), top = at * ROW;
      if (top < box.scrollTop) box.scrollTop = top;
      if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
    }
    rows();
    panel();
    draw();
    if (place >= 0) history.replaceState(null, "", "#call-" + trace.calls[place][SEQ]);
  }

  function panel() {
    const box = $("panel"), call = trace.calls[selected];
    box.replaceChildren(element("h2", "Selected call"));
    if (!call) return;
    const verdict = verdictOf(call);
    box.append(element("p", "#" + call[SEQ] + " " + call[TOOL] + " · turn " + call[TURN] + " · "
      + trace.contexts[call[CONTEXT]] + " · " + call[OUTCOME] + " · " + call[EFFECT] + " · "
      + call[CHARS] + " characters"));
    const first = verdict && bySeq.has(verdict.first) ? trace.calls[bySeq.get(verdict.first)] : null;
    if (!first) {
      box.append(element("pre", call[ARGS]));
      return;
    }
    box.append(element("p", named(verdict), "verdict " + verdict.kind));
    const why = verdict.kind === "fine" ? "fine where " + (data.reasons[verdict.code] || verdict.code)
      : verdict.message + " (" + verdict.confidence + ")";
    box.append(element("p", why));
    if (verdict.cost) box.append(element("p", verdict.cost));
    const back = element("button", "#" + first[SEQ] + ", turn " + first[TURN]);
    back.type = "button";
    back.addEventListener("click", () => { $("level").value = "all"; filter(); select(bySeq.get(first[SEQ])); });
    const before = element("p", "It repeats ");
    before.append(back);
    box.append(before, different(first[ARGS], call[ARGS]), element("p", "with"), different(call[ARGS], first[ARGS]));
    if (verdict.evidence.length) {
      box.append(element("p", "Between them, in order:"));
      const list = element("ul");
      for (const seq of verdict.evidence) {
        const proof = trace.calls[bySeq.get(seq)];
        list.append(element("li", proof ? "#" + seq + " " + proof[TOOL] + " " + proof[ARGS].slice(0, 200) : "#" + seq));
      }
      box.append(list);
    }
    if (verdict.kind !== "fine") {
      box.append(element("p", "What to change: " + (data.remedies[verdict.code] || "")));
      box.append(element("p", "If this is wrong, declare the tool: refetch explain " + verdict.code));
    }
  }

  // The part of one text that the other does not have, marked.
  function different(text, other) {
    let start = 0;
    while (start < text.length && text[start] === other[start]) start++;
    let end = 0;
    while (end < text.length - start && end < other.length - start
      && text[text.length - 1 - end] === other[other.length - 1 - end]) end++;
    const made = element("pre", text.slice(0, start));
    const middle = text.slice(start, text.length - end);
    if (middle) made.append(element("mark", middle));
    made.append(text.slice(text.length - end));
    return made;
  }

  function colors() {
    const style = getComputedStyle(document.documentElement);
    return (name) => style.getPropertyValue("--" + name).trim();
  }

  function draw() {
    const canvas = $("timeline"), color = colors(), calls = trace.calls;
    const lanes = Math.max(1, trace.contexts.length), step = calls.length > 2500 ? 2 : BLOCK + 2;
    const width = Math.min(30000, LEFT + calls.length * step + 20), height = lanes * LANE + 50;
    const ratio = width > 8000 ? 1 : window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const x = (place) => LEFT + place * step, y = (lane) => 40 + lane * LANE;
    pen.font = "12px system-ui, sans-serif";
    trace.contexts.forEach((name, lane) => {
      pen.fillStyle = color("dim");
      pen.fillText(name.slice(0, 12), 4, y(lane) + 10);
    });
    for (const [place, kind] of trace.marks) {
      pen.fillStyle = color(kind === "context-loss" ? "bad" : kind === "write" ? "write" : "rule");
      pen.fillRect(x(place) - 2, 30, 2, height - 40);
    }
    calls.forEach((call, place) => {
      const verdict = verdictOf(call), failed = !call[OUTCOME].startsWith("ok");
      const effect = { read: "read", pure: "read", write: "write", opaque: "opaque" }[call[EFFECT]] || "other";
      pen.globalAlpha = failed ? 0.4 : 1;
      pen.fillStyle = color(effect);
      pen.fillRect(x(place), y(call[CONTEXT]), Math.max(1, step - 2), 14);
      pen.globalAlpha = 1;
      if (verdict && verdict.kind !== "fine") {
        pen.fillStyle = color(verdict.kind === "flag" ? "bad" : "advice");
        pen.fillRect(x(place), y(call[CONTEXT]) + 15, Math.max(2, step - 2), 4);
      }
      if (place === selected) {
        pen.strokeStyle = color("ink");
        pen.lineWidth = 2;
        pen.strokeRect(x(place) - 1, y(call[CONTEXT]) - 1, Math.max(3, step), 16);
      }
    });
    const verdict = calls[selected] ? verdictOf(calls[selected]) : null;
    if (verdict && bySeq.has(verdict.first)) {
      const from = bySeq.get(verdict.first);
      pen.strokeStyle = color(verdict.kind === "fine" ? "fine" : verdict.kind === "flag" ? "bad" : "advice");
      pen.lineWidth = 2;
      pen.beginPath();
      const a = x(from) + step / 2, b = x(selected) + step / 2;
      pen.moveTo(a, y(calls[from][CONTEXT]));
      pen.quadraticCurveTo((a + b) / 2, -10, b, y(calls[selected][CONTEXT]));
      pen.stroke();
      for (const seq of verdict.evidence) {
        if (!bySeq.has(seq)) continue;
        const proof = bySeq.get(seq);
        pen.strokeStyle = color("write");
        pen.strokeRect(x(proof) - 1, y(calls[proof][CONTEXT]) - 1, Math.max(3, step), 16);
      }
    }
    canvas.dataset.step = String(step);
  }

  function move(by) {
    if (!visible.length) return;
    const at = visible.indexOf(selected);
    const next = at < 0 ? (by > 0 ? 0 : visible.length - 1) : Math.min(visible.length - 1, Math.max(0, at + by));
    select(visible[next]);
  }
  function keys(event) {
    const moves = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, PageDown: 15, PageUp: -15, Home: -1e9, End: 1e9 };
    if (!(event.key in moves)) return;
    event.preventDefault();
    move(moves[event.key]);
  }

  header();
  $("legend").textContent = "blocks: read, write, unknown effect, other; faded: failed; "
    + "bars below: redundant (flag or advice); lines: user messages, writes by others, context losses";
  $("trace").addEventListener("change", () => open(Number($("trace").value)));
  for (const id of ["level", "rule", "tool", "context"]) $(id).addEventListener("change", filter);
  $("search").addEventListener("input", filter);
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("scroll").addEventListener("scroll", rows);
  $("scroll").addEventListener("keydown", keys);
  $("lanes").addEventListener("keydown", keys);
  $("timeline").addEventListener("click", (event) => {
    const box = $("timeline").getBoundingClientRect(), step = Number($("timeline").dataset.step);
    const place = Math.floor((event.clientX - box.left - LEFT) / step);
    if (trace.calls[place]) {
      if (!visible.includes(place)) { $("level").value = "all"; filter(); }
      select(place);
    }
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  open(0);
  const linked = /^#call-(\d+)$/.exec(location.hash);
  if (linked && bySeq.has(Number(linked[1]))) {
    $("level").value = "all";
    filter();
    select(bySeq.get(Number(linked[1])));
  } else if (visible.length) select(visible[0]);
})();
