// Range, step and kind that are shown; keys, pointer and links that change them.
// Moving.
let waiting = false;
const redraw = () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; drawTimeline(); drawMemory(); });
};
const look = (a, b) => {
  const least = 100, whole = kind.end;
  let length = Math.min(Math.max(b - a, least), whole * 1.02);
  a = Math.min(Math.max(a, -0.01 * whole), whole * 1.01 - length);
  from = a;
  to = a + length;
  redraw();
};
const zoom = (factor, about) => {
  const middle = about === undefined ? (from + to) / 2 : about;
  look(middle - (middle - from) * factor, middle + (to - middle) * factor);
};
const lookAtStep = number => {
  const step = kind.steps.find(s => s.step === number);
  if (!step) return;
  const edge = (step.end - step.begin) * 0.02;
  at("step").value = String(number);
  look(step.begin - edge, step.end + edge);
  for (const row of at("steps").querySelectorAll("tr")) row.classList.toggle("chosen", row.dataset.step === String(number));
};
const lookAtAll = () => { at("step").value = ""; look(0, kind.end); };

// A kind: measured, emulated or simulated.
const legendOf = (parent, entries) => {
  parent.textContent = "";
  for (const [fill, name, hatched] of entries) {
    const entry = element("span", undefined, parent), mark = element("i", undefined, entry, hatched ? "hatched" : "");
    if (!hatched) mark.style.background = fill;
    entry.append(name);
  }
};
const fillSteps = () => {
  const table = at("steps");
  table.textContent = "";
  const head = element("tr", undefined, table);
  const used = data.times.map((_, t) => kind.steps.some(s => s.shares && s.shares[t] >= 0.0005));
  const bubbleAt = data.times.indexOf("bubble");
  used[bubbleAt] = false;  // it has the first column
  for (const name of ["step", "time", "× ranks", "bubble", "bubble_span"]) element("th", name, head);
  data.times.forEach((name, t) => { if (used[t]) element("th", name, head); });
  const hasLoss = kind.steps.some(s => s.loss !== null);
  if (hasLoss) element("th", "loss, nats", head);
  for (const s of kind.steps) {
    const row = element("tr", undefined, table);
    row.dataset.step = s.step;
    row.onclick = () => lookAtStep(s.step);
    element("td", s.step, row);
    element("td", ms(s.end - s.begin), row);
    element("td", s.workers ? s.workers + " = " + ms((s.end - s.begin) * s.workers) : "-", row);
    element("td", percent(s.bubble), row, "bubble");
    element("td", percent(s.bubble_span), row);
    data.times.forEach((_, t) => { if (used[t]) element("td", s.shares ? percent(s.shares[t]) : "-", row); });
    if (hasLoss) element("td", s.loss === null ? "-" : s.loss.toFixed(4), row);
  }
};
const showKind = index => {
  kind = kinds[index];
  pointed = null;
  layRows();
  for (const id of ["obtained", "obtained-memory", "obtained-steps"]) at(id).textContent = kind.words;
  const steps = at("step");
  steps.textContent = "";
  element("option", "all", steps).value = "";
  for (const s of kind.steps) element("option", s.step, steps).value = String(s.step);
  const ranks = at("rank"), before = ranks.value;
  ranks.textContent = "";
  for (const m of kind.memory) element("option", m.rank, ranks).value = String(m.rank);
  if (kind.memory.some(m => String(m.rank) === before)) ranks.value = before;
  const seen = new Set();
  for (const lane of kind.lanes) for (let i = 0; i < lane.n; ++i) seen.add(data.ops[lane.op[i]][1]);
  const others = [["", "idle, with its cause", true]];
  if (kind.gaps.length) others.push([colour("--unknown"), "unknown: data is missing"]);
  legendOf(at("legend"), [...seen].sort().map(c => [colours[c], data.classes[c]]).concat(others));
  const classes = new Map();
  for (const m of kind.memory) for (const c of m.classes) classes.set(c.class, c.name);
  legendOf(at("memory-legend"), [...classes].sort((a, b) => a[0] - b[0]).map(([c, name]) => [memoryColours[c], name]));
  fillSteps();
  const representative = data.representative;
  if (index === 0 && representative !== null && kind.steps.some(s => s.step === representative)) lookAtStep(representative);
  else if (kind.steps.length > 2) lookAtStep(kind.steps[kind.steps.length >> 1].step);
  else lookAtAll();
};

// The page.
at("title").textContent = data.title || "A recording";
document.title = at("title").textContent + " – Rankscope";
at("about").textContent = data.about;
at("limits").hidden = !data.limits;
at("limits").textContent = data.limits;
for (const figure of data.figures) {
  const card = element("div", undefined, at("figures"), "figure");
  element("small", figure.name, card);
  const value = element("output", figure.value, card);
  if (figure.id) value.id = figure.id;
  element("small", figure.of, card);
}
at("denominator").textContent = data.denominator;
if (data.lesson) {
  at("lesson").hidden = false;
  at("lesson").innerHTML = data.lesson;  // made of Markdown without HTML
}
kinds.forEach((one, i) => element("option", one.words, at("kind")).value = String(i));

readColours();
if (kinds.length) showKind(0);
const canvas = at("timeline");
let drag = null;
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  const wide = canvas.clientWidth;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    const shift = (event.deltaX || event.deltaY) / wide * (to - from);
    return look(from + shift, to + shift);
  }
  zoom(Math.pow(1.0015, event.deltaY), timeAt(event.offsetX, wide));
}, {passive: false});
canvas.addEventListener("pointerdown", event => {
  drag = {x: event.clientX, from, to};
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", event => {
  const wide = canvas.clientWidth;
  if (drag) {
    const shift = (drag.x - event.clientX) / (wide - left - right) * (drag.to - drag.from);
    showTip(null);
    return look(drag.from + shift, drag.to + shift);
  }
  const thing = thingAt(event.offsetX, event.offsetY, wide);
  if (thing || pointed) { pointed = thing; redraw(); }
  showTip(thing, event);
  if (thing) showDetails(thing);
});
canvas.addEventListener("pointerup", () => { drag = null; });
canvas.addEventListener("pointerleave", () => { if (!drag) showTip(null); });
canvas.addEventListener("dblclick", event => {
  const time = timeAt(event.offsetX, canvas.clientWidth);
  const step = kind.steps.find(s => s.begin <= time && time < s.end);
  if (step) lookAtStep(step.step);
});
at("memory").addEventListener("pointermove", event => {
  const memory = memoryOf(Number(at("rank").value));
  if (!memory) return;
  const i = Math.max(0, firstVisible(memory.times, timeAt(event.offsetX, at("memory").clientWidth)) - 1);
  const parts = memory.classes.map(c => c.name + " " + bytes(c.values[i]));
  at("memory-at").textContent = "at " + ms(memory.times[i]) + ": " + parts.join(", ") + "; together " +
    bytes(memory.classes.reduce((sum, c) => sum + c.values[i], 0));
});
const neighbour = by => {
  const middle = (from + to) / 2, index = kind.steps.findIndex(s => s.begin <= middle && middle < s.end);
  const next = kind.steps[index + by];
  if (next) lookAtStep(next.step);
};
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || /SELECT|INPUT/.test(event.target.tagName)) return;
  const move = share => look(from + share * (to - from), to + share * (to - from));
  const keys = {w: () => zoom(0.7), s: () => zoom(1 / 0.7), a: () => move(-0.2), d: () => move(0.2), f: lookAtAll,
                "[": () => neighbour(-1), "]": () => neighbour(1)};
  const act = keys[event.key.toLowerCase()];
  if (act) { act(); event.preventDefault(); }
});
at("closer").onclick = () => zoom(0.6);
at("farther").onclick = () => zoom(1 / 0.6);
at("fit").onclick = lookAtAll;
at("kind").onchange = () => showKind(Number(at("kind").value));
at("step").onchange = () => at("step").value === "" ? lookAtAll() : lookAtStep(Number(at("step").value));
at("rank").onchange = redraw;
window.addEventListener("resize", redraw);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); showKind(kinds.indexOf(kind)); });

// page.html#step=3&rank=0&op=B:c0:m1 shows that op.
const follow = () => {
  const wanted = new URLSearchParams(decodeURIComponent(location.hash.slice(1)));
  const step = Number(wanted.get("step"));
  if (wanted.has("step")) lookAtStep(step);
  if (!wanted.has("op")) return;
  for (const row of rows) {
    if (wanted.has("rank") && row.rank !== Number(wanted.get("rank"))) continue;
    for (let i = 0; i < row.lane.n; ++i) {
      if (data.ops[row.lane.op[i]][0] !== wanted.get("op") || (wanted.has("step") && row.lane.step[i] !== step)) continue;
      pointed = {row, lane: row.lane, i, words: linesOfSpan(row.lane, i)};
      showDetails(pointed);
      return redraw();
    }
  }
  at("details").textContent = "No op " + wanted.get("op") + " in the steps of this page.";
};
window.addEventListener("hashchange", follow);
if (location.hash) follow();
