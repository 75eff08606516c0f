// The time line: rows of lanes, boxes, bubbles and the axis.
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

// Bubbles and exposed communication of a rank, hatched, with their longest cause.
const drawIdle = (paint, row, wide) => {
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
    drawIdle(paint, row, wide);
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
