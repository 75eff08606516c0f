// What lies under the pointer, and its description.
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
