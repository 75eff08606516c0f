// Memory by class, over the time that is shown.
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
