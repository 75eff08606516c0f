// What the page holds: the recording, decoded; numbers as words; colours.
const data = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);
const element = (name, text, parent, kind) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  if (parent) parent.append(made);
  return made;
};

// Spans come as five numbers each: begin after the one before, waiting, length, op, step after the one before.
const decodeLane = lane => {
  const n = lane.spans.length / 5;
  const begin = new Float64Array(n), active = new Float64Array(n), end = new Float64Array(n);
  const op = new Int32Array(n), step = new Int32Array(n), until = new Float64Array(n);
  let time = 0, number = 0, last = -Infinity;
  for (let i = 0; i < n; ++i) {
    const s = lane.spans, k = 5 * i;
    time += s[k];
    number += s[k + 4];
    begin[i] = time; active[i] = time + s[k + 1]; end[i] = time + s[k + 2]; op[i] = s[k + 3]; step[i] = number;
    last = until[i] = Math.max(last, end[i]);  // of all so far: spans may overlap
  }
  return {rank: lane.rank, lane: lane.lane, n, begin, active, end, op, step, until};
};
const sums = differences => {
  const values = new Float64Array(differences.length);
  let sum = 0;
  for (let i = 0; i < values.length; ++i) values[i] = sum += differences[i];
  return values;
};
const decodeMemory = memory => ({rank: memory.rank, times: sums(memory.times),
                                 classes: memory.classes.map(c => ({...c, values: sums(c.values)}))});
const kinds = data.kinds.map(kind => ({...kind, lanes: kind.lanes.map(decodeLane), memory: kind.memory.map(decodeMemory)}));

// Words and numbers.
const ms = ns => {
  const size = Math.abs(ns);
  if (size >= 1e9) return (ns / 1e9).toFixed(3) + " s";
  if (size >= 1e6) return (ns / 1e6).toFixed(3) + " ms";
  return (ns / 1e3).toFixed(1) + " µs";
};
const bytes = b => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let u = 0;
  while (b >= 1024 && u + 1 < units.length) { b /= 1024; ++u; }
  return b.toFixed(u ? 2 : 0) + " " + units[u];
};
const percent = share => share === null ? "-" : (100 * share).toFixed(1) + " %";

let style, colours, memoryColours;
const readColours = () => {
  style = getComputedStyle(document.documentElement);
  const of = name => style.getPropertyValue(name).trim();
  colours = [0, 1, 2, 3, 4, 5, 6, 7].map(c => of("--c" + c));
  // What fills the memory: parameters, gradients, optimizer, activations, buffers, host, workspace, context; of another
  // program only their sum.
  memoryColours =
      [colours[3], colours[1], colours[6], colours[0], colours[4], colours[5], of('--m6'), of('--m7'), colours[7]];
};
const colour = name => style.getPropertyValue(name).trim();
