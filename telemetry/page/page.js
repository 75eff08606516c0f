// A recording drawn from the data in this page. Nothing is loaded.
"use strict";
(() => {
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
    // What fills the memory: parameters, gradients, optimizer, activations, buffers, host, workspace, context.
    memoryColours = [colours[3], colours[1], colours[6], colours[0], colours[4], colours[5], of("--m6"), of("--m7")];
  };
  const colour = name => style.getPropertyValue(name).trim();

  // What is shown.
  let kind = kinds[0], from = 0, to = 1, pointed = null;
  const left = 112, right = 8;

  // A row for each lane of each rank; compute is high, what moves bytes is thin.
  let rows = [], height = 0;
  const layRows = () => {
    rows = [];
    let y = 4;
    const ranks = [...new Set(kind.lanes.map(l => l.rank))].sort((a, b) => a - b);
    for (const rank of ranks) {
      const top = y;
      for (const lane of kind.lanes.filter(l => l.rank === rank)) {
        const high = lane.lane === 0 ? 20 : 7;
        rows.push({lane, y, high, rank});
        y += high + 2;
      }
      rows[rows.length - 1].last = true;
      rows.filter(r => r.rank === rank).forEach(r => { r.top = top; r.bottom = y; });
      y += 6;
    }
    height = Math.max(y, 40);
  };

  const prepared = (canvas, high) => {
    const ratio = window.devicePixelRatio || 1, wide = canvas.clientWidth || canvas.parentElement.clientWidth || 900;
    canvas.style.height = high + "px";
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(high * ratio);
    const paint = canvas.getContext("2d");
    paint.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint.font = "11px 'DejaVu Sans', system-ui, sans-serif";
    paint.clearRect(0, 0, wide, high);
    return [paint, wide];
  };
  const xOf = (time, wide) => left + (time - from) / (to - from) * (wide - left - right);
  const timeAt = (x, wide) => from + (x - left) / (wide - left - right) * (to - from);

  const firstVisible = (values, time) => {  // the first whose value is beyond the time
    let low = 0, high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] > time) high = middle; else low = middle + 1;
    }
    return low;
  };

  let hatch = null;
  const makeHatch = paint => {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const p = tile.getContext("2d");
    p.strokeStyle = colour("--hatch");
    p.lineWidth = 1;
    p.beginPath();
    for (const shift of [-6, 0, 6]) { p.moveTo(shift, 6); p.lineTo(shift + 6, 0); }
    p.stroke();
    hatch = paint.createPattern(tile, "repeat");
  };

  const niceStep = whole => {
    const power = Math.pow(10, Math.floor(Math.log10(whole)));
    for (const m of [1, 2, 5]) if (m * power >= whole) return m * power;
    return 10 * power;
  };

  // Ops of one pass of a micro-batch that touch each other have its number in their middle, unless they have names.
  const drawMicroBatches = (paint, row, wide) => {
    const lane = row.lane, touching = 2 * (to - from) / wide;
    paint.textAlign = "center";
    for (let i = firstVisible(lane.until, from); i < lane.n && lane.begin[i] < to;) {
      const first = data.ops[lane.op[i]];
      let next = i + 1, longest = lane.end[i] - lane.begin[i];
      while (next < lane.n && lane.begin[next] - lane.end[next - 1] < touching && data.ops[lane.op[next]][1] === first[1] &&
             data.ops[lane.op[next]][4] === first[4]) {
        longest = Math.max(longest, lane.end[next] - lane.begin[next]);
        ++next;
      }
      const x = Math.max(left, xOf(lane.begin[i], wide)), x2 = xOf(lane.end[next - 1], wide), label = String(first[4]);
      const named = longest / (to - from) * (wide - left - right) > paint.measureText(first[0]).width + 5;
      if (first[4] >= 0 && !named && x2 - x > paint.measureText(label).width + 5) {
        paint.fillStyle = colours[first[1]];
        paint.fillRect((x + x2) / 2 - paint.measureText(label).width / 2 - 2, row.y + 4, paint.measureText(label).width + 4, 12);
        paint.fillStyle = colour("--ground");
        paint.fillText(label, (x + x2) / 2, row.y + 14);
      }
      i = next;
    }
    paint.textAlign = "left";
  };

  const drawTimeline = () => {
    const [paint, wide] = prepared(at("timeline"), height);
    makeHatch(paint);
    let drawn = 0;
    for (const step of kind.steps) {
      const x = xOf(step.begin, wide);
      if (x < left || x > wide) continue;
      paint.fillStyle = colour("--line");
      paint.fillRect(x, 0, 1, height);
    }
    paint.save();
    paint.beginPath();
    paint.rect(left, 0, wide - left - right, height);
    paint.clip();
    for (const row of rows) {
      paint.fillStyle = colour("--card");
      if (row.lane.lane === 0) paint.fillRect(left, row.y, wide, row.high);
      const lane = row.lane;
      let drawnTo = -1;
      for (let i = firstVisible(lane.until, from); i < lane.n && lane.begin[i] < to; ++i) {
        const x = xOf(lane.begin[i], wide), x2 = xOf(lane.end[i], wide);
        if (x2 < drawnTo + 0.4) continue;  // under a pixel, and one is drawn there
        const op = data.ops[lane.op[i]], xa = xOf(lane.active[i], wide);
        if (xa - x > 0.5) {
          paint.globalAlpha = 0.3;
          paint.fillStyle = colours[op[1]];
          paint.fillRect(x, row.y, xa - x, row.high);
          paint.globalAlpha = 1;
        }
        paint.fillStyle = colours[op[1]];
        paint.fillRect(xa, row.y, Math.max(x2 - xa, 0.8), row.high);
        drawnTo = Math.max(xa + 0.8, x2);
        ++drawn;
        if (row.lane.lane !== 0 || x2 - xa < 30 || paint.measureText(op[0]).width > x2 - xa - 5) continue;
        paint.fillStyle = colour("--ground");
        paint.fillText(op[0], xa + 3, row.y + 14);
      }
      if (row.lane.lane !== 0) continue;
      drawMicroBatches(paint, row, wide);
      for (const step of kind.steps) {
        if (step.end < from || step.begin > to) continue;
        for (const one of step.idle) {
          if (one[0] !== row.rank || one[1] + one[2] < from || one[1] > to) continue;
          const x = xOf(one[1], wide), w = xOf(one[1] + one[2], wide) - x;
          if (w < 1) continue;
          paint.fillStyle = hatch;
          paint.fillRect(x, row.y, w, row.high);
          const cause = data.causes[one[3][0][0]];  // the longest
          if (paint.measureText(cause).width + 8 > w) continue;
          paint.fillStyle = colour("--card");
          paint.fillRect(x + 3, row.y + 3, paint.measureText(cause).width + 4, 14);
          paint.fillStyle = colour("--ink");
          paint.fillText(cause, x + 5, row.y + 14);
        }
      }
      for (const gap of kind.gaps) {
        if (gap[0] !== row.rank && gap[0] !== -1) continue;
        paint.fillStyle = colour("--unknown");
        paint.globalAlpha = 0.25;
        paint.fillRect(xOf(gap[1], wide), row.y, xOf(gap[2], wide) - xOf(gap[1], wide), row.high);
        paint.globalAlpha = 1;
      }
    }
    if (pointed && pointed.lane) {
      const {row, i, lane} = pointed, x = xOf(lane.begin[i], wide);
      paint.strokeStyle = colour("--accent");
      paint.lineWidth = 2;
      paint.strokeRect(x, row.y - 1, Math.max(xOf(lane.end[i], wide) - x, 2), row.high + 2);
    }
    paint.restore();
    paint.fillStyle = colour("--ink");
    for (const row of rows) {
      if (row.y === row.top) paint.fillText("rank " + row.rank, 6, row.y + 14);
      if (row.lane.lane !== 0) {
        paint.fillStyle = colour("--soft");
        paint.font = "8px 'DejaVu Sans', sans-serif";
        paint.textAlign = "right";
        paint.fillText(data.lanes[row.lane.lane], left - 4, row.y + 7);
        paint.textAlign = "left";
        paint.font = "11px 'DejaVu Sans', system-ui, sans-serif";
        paint.fillStyle = colour("--ink");
      }
    }
    document.body.dataset.drawn = drawn;
    document.body.dataset.range = Math.round(from) + " " + Math.round(to);  // for whoever looks from outside
    drawAxis();
  };

  const drawAxis = () => {
    const [paint, wide] = prepared(at("axis"), 34);
    const whole = to - from, step = niceStep(whole / Math.max(3, wide / 130));
    const unit = whole >= 2e9 ? [1e9, "s"] : whole >= 2e6 ? [1e6, "ms"] : [1e3, "µs"];
    paint.textAlign = "center";
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const x = xOf(t, wide);
      paint.fillStyle = colour("--line");
      paint.fillRect(x, 0, 1, 5);
      paint.fillStyle = colour("--soft");
      paint.fillText(String(+(t / unit[0]).toPrecision(9)), x, 16);
    }
    paint.textAlign = "right";
    paint.fillText("time from the first shown step's begin, " + unit[1], wide - right, 31);
    paint.textAlign = "left";
    paint.fillStyle = colour("--ink");
    for (const s of kind.steps) {
      const x = xOf(s.begin, wide), width = xOf(s.end, wide) - x;
      if (x >= left - 1 && x < wide - 60 && width > 44) paint.fillText("step " + s.step, x + 2, 31);
    }
  };

  // Memory.
  const memoryOf = rank => kind.memory.find(m => m.rank === rank);
  const drawMemory = () => {
    const memory = memoryOf(Number(at("rank").value));
    at("no-memory").hidden = !!memory;
    at("memory").hidden = at("memory-legend").hidden = !memory;
    if (!memory) return;
    const high = 190, bottom = high - 6;
    const [paint, wide] = prepared(at("memory"), high);
    const n = memory.times.length;
    let most = 1;
    for (let i = 0; i < n; ++i) {
      let sum = 0;
      for (const c of memory.classes) sum += c.values[i];
      most = Math.max(most, sum);
    }
    const scale = (bottom - 12) / most;
    paint.save();
    paint.beginPath();
    paint.rect(left, 0, wide - left - right, high);
    paint.clip();
    const under = new Float64Array(n);
    const first = Math.max(0, firstVisible(memory.times, from) - 1);
    for (const c of memory.classes) {
      paint.fillStyle = memoryColours[c.class];
      paint.beginPath();
      const points = [];
      for (let i = first; i < n && memory.times[i] <= to; ++i) {
        const x1 = xOf(memory.times[i], wide), x2 = xOf(i + 1 < n ? memory.times[i + 1] : Math.max(to, kind.end), wide);
        points.push([x1, x2, bottom - under[i] * scale, bottom - (under[i] + c.values[i]) * scale]);
      }
      points.forEach(([x1, x2, , y], i) => { if (i === 0) paint.moveTo(x1, y); else paint.lineTo(x1, y); paint.lineTo(x2, y); });
      for (const [x1, x2, y] of points.reverse()) { paint.lineTo(x2, y); paint.lineTo(x1, y); }
      paint.closePath();
      paint.fill();
      for (let i = 0; i < n; ++i) under[i] += c.values[i];
    }
    paint.restore();
    paint.textAlign = "right";
    let unit = 1;
    while (unit * 1024 <= most && unit < 2 ** 40) unit *= 1024;
    const step = niceStep(most / unit / 4) * unit;
    for (let b = 0; b <= most; b += step) {
      const y = bottom - b * scale;
      paint.fillStyle = colour("--line");
      paint.fillRect(left, y, wide - left - right, 0.6);
      paint.fillStyle = colour("--soft");
      paint.fillText(bytes(b).replace(/\.00 /, " "), left - 6, y + 4);
    }
  };

  // What lies under the pointer.
  const spanAt = (row, time, slack) => {
    const lane = row.lane;
    let best = -1;
    for (let i = firstVisible(lane.until, time - slack); i < lane.n && lane.begin[i] <= time + slack; ++i)
      if (lane.end[i] >= time - slack && (best < 0 || lane.begin[i] <= time)) best = i;
    return best;
  };
  const linesOfSpan = (lane, i) => {
    const op = data.ops[lane.op[i]], lines = [];
    lines.push(op[2] + " on rank " + lane.rank + ", " + data.lanes[lane.lane] + " lane, step " + lane.step[i]);
    const waiting = lane.active[i] - lane.begin[i], size = data.bytes[lane.rank + ":" + lane.op[i]];
    lines.push(ms(lane.end[i] - lane.active[i]) + (waiting > 0 ? ", after waiting " + ms(waiting) : "") + "; begins at " + ms(lane.begin[i]));
    if (size !== undefined) lines.push("moves " + bytes(size));
    lines.push(kind.words);
    return [op[0], lines];
  };
  const linesOfIdle = one => {
    const lines = ["idle for " + ms(one[2]) + " on rank " + one[0]];
    for (const [cause, length, rank, op, time] of one[3])
      lines.push((one[3].length > 1 ? ms(length) + " " + data.causes[cause] + ", " : "") + "counted as " + data.times[time] +
                 (rank >= 0 ? ": waits for " + (op >= 0 ? data.ops[op][0] + " on " : "") + "rank " + rank : ""));
    lines.push(kind.words);
    return [data.causes[one[3][0][0]], lines];
  };
  const thingAt = (x, y, wide) => {
    const row = rows.find(r => y >= r.y - 1 && y < r.y + r.high + 1);
    if (!row || x < left) return null;
    const time = timeAt(x, wide), slack = (to - from) / (wide - left) * 1.5;
    const i = spanAt(row, time, slack);
    if (i >= 0) return {row, lane: row.lane, i, words: linesOfSpan(row.lane, i)};
    if (row.lane.lane !== 0) return null;
    for (const step of kind.steps)
      for (const one of step.idle)
        if (one[0] === row.rank && one[1] <= time && one[1] + one[2] >= time) return {row, words: linesOfIdle(one)};
    return null;
  };
  const showDetails = thing => {
    at("details").textContent = thing ? thing.words[0] + ": " + thing.words[1].join("; ") : "Point at a box to see its description here.";
  };
  const showTip = (thing, event) => {
    const tip = at("tip");
    tip.hidden = !thing;
    if (!thing) return;
    tip.textContent = "";
    element("b", thing.words[0], tip);
    for (const line of thing.words[1]) element("div", line, tip);
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(event.clientX + 14, window.innerWidth - box.width - 8)) + "px";
    tip.style.top = (event.clientY + 18 + box.height > window.innerHeight ? event.clientY - box.height - 10 : event.clientY + 18) + "px";
  };

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
})();
