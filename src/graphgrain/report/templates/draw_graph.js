// A graph from plain data: points, texts, edges with their number of lines, values in per cent.

/** The colour of a value between -100 and 100: from the page's own to orange or blue. */
function valueColour(value) {
  const end = value > 0 ? "var(--positive)" : "var(--negative)";
  return `color-mix(in srgb, ${end} ${Math.min(100, Math.abs(value))}%, var(--page))`;
}

function drawGraph(drawn, values, bonds, title) {
  if (!drawn) return html("p", { class: "empty" }, "This graph is too large to be drawn.");
  const points = drawn.points;
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const pad = 0.75;
  const [left, top] = points.length ? [Math.min(...xs) - pad, Math.min(...ys) - pad] : [0, 0];
  const width = points.length ? Math.max(Math.max(...xs) - left + pad, 4) : 4;
  const height = points.length ? Math.max(Math.max(...ys) - top + pad, 3) : 3;
  const picture = svg("svg", {
    viewBox: `${left.toFixed(2)} ${top.toFixed(2)} ${width.toFixed(2)} ${height.toFixed(2)}`,
    class: "drawn", role: "img", "aria-label": title,
  });
  const nearby = points.map(() => []);
  for (const [first, second] of drawn.edges) {
    nearby[first].push(second);
    nearby[second].push(first);
  }
  const lines = [];
  const glows = [];
  drawn.edges.forEach(([first, second], row) => {
    const [x1, y1] = points[first];
    const [x2, y2] = points[second];
    if (bonds && Math.abs(bonds[row]) >= 3) {
      glows.push(svg("line", { x1, y1, x2, y2, style: `stroke: ${valueColour(0.75 * bonds[row])}`, "stroke-width": 0.34, "stroke-linecap": "round" }));
    }
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [nx, ny] = [(y1 - y2) / length, (x2 - x1) / length];
    // The second line of a double bond lies where the other neighbours are: inside a ring.
    const side = [...nearby[first], ...nearby[second]].reduce((sum, other) =>
      sum + Math.sign(Math.round(100 * ((points[other][0] - x1) * nx + (points[other][1] - y1) * ny))), 0);
    const shifts = { 1: [0], 2: side ? [0, 0.16 * Math.sign(side)] : [-0.08, 0.08], 3: [-0.15, 0, 0.15] }[drawn.orders[row]] || [0];
    for (const shift of shifts) {
      const cut = shift && drawn.orders[row] === 2 && side ? 0.14 : 0;
      lines.push(svg("line", {
        x1: x1 + nx * shift + (x2 - x1) * cut, y1: y1 + ny * shift + (y2 - y1) * cut,
        x2: x2 + nx * shift - (x2 - x1) * cut, y2: y2 + ny * shift - (y2 - y1) * cut,
        class: "bond", "stroke-width": 0.055,
      }));
    }
  });
  const dots = [];
  points.forEach(([cx, cy], vertex) => {
    const value = values ? values[vertex] : 0;
    const words = drawn.texts[vertex];
    const label = svg("title", {}, `${words || (drawn.molecule ? "C" : "vertex")} ${vertex}${values ? `: ${value} %` : ""}`);
    if (!drawn.molecule) {
      dots.push(svg("circle", { cx, cy, r: 0.3, class: "vertex", style: `fill: ${valueColour(value)}` }, label));
    } else if (Math.abs(value) >= 3) {
      glows.push(svg("circle", { cx, cy, r: 0.36, style: `fill: ${valueColour(value)}` }, label));
    }
    if (!words) return;
    const size = Math.min(0.46, 1.25 / Math.max(2, words.length));
    if (drawn.molecule) {
      const fill = Math.abs(value) >= 3 ? `fill: ${valueColour(value)}` : "";
      dots.push(svg("ellipse", { cx, cy, rx: Math.max(0.24, 0.15 * words.length), ry: 0.27, class: "behind", style: fill }));
    }
    dots.push(svg("text", { x: cx, y: cy, class: "atom", "font-size": drawn.molecule ? 0.46 : size, "pointer-events": "none" },
      words.length > 8 ? `${words.slice(0, 7)}…` : words));
  });
  picture.append(...glows, ...lines, ...dots);
  if (!points.length) picture.append(svg("text", { x: 2, y: 1.5, class: "atom", "font-size": 0.4 }, "no vertices"));
  return picture;
}
