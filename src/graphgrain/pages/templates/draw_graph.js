// Draw a graph from plain data (outline in graphs/drawing/picture.py): points in hundredths of an
// edge length and, for molecules, the shapes of the structural formula. Values are in percent.

/** Return the colour of a value between -100 and 100: from the background to orange or blue. */
function valueColour(value) {
  const end = value > 0 ? "var(--positive)" : "var(--negative)";
  return `color-mix(in srgb, ${end} ${Math.min(100, Math.abs(value))}%, var(--page))`;
}

/** Return a vertex radius at which hardly any vertices overlap. */
function vertexRadius(points) {
  const gaps = points.map(([x, y], one) => {
    let gap = Infinity;
    points.forEach(([u, v], two) => { if (one !== two) gap = Math.min(gap, Math.hypot(x - u, y - v)); });
    return gap;
  }).sort((a, b) => a - b);
  return Math.max(3, Math.min(30, 0.48 * (gaps[0] ?? 100)));
}

function drawGraph(drawn, values, bonds, title) {
  if (!drawn) return html("p", { class: "empty" }, "This graph is too large to be drawn.");
  const points = drawn.points;
  const molecule = !("labels" in drawn);
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const pad = 75;
  // Limit the scale of small molecules: the picture is at least eight bonds wide.
  const [leftmost, topmost] = points.length ? [Math.min(...xs), Math.min(...ys)] : [0, 0];
  const [across, down] = points.length ? [Math.max(...xs) - leftmost, Math.max(...ys) - topmost] : [0, 0];
  const [width, height] = [Math.max(across + 2 * pad, 800), Math.max(down + 2 * pad, 450)];
  const [left, top] = [leftmost + across / 2 - width / 2, topmost + down / 2 - height / 2];
  const picture = svg("svg", {
    viewBox: [left, top, width, height].map(Math.round).join(" "), class: "drawn", role: "img", "aria-label": title,
  });
  const radius = molecule ? 36 : vertexRadius(points);
  drawn.edges.forEach(([first, second], row) => {
    const [[x1, y1], [x2, y2]] = [points[first], points[second]];
    if (bonds && Math.abs(bonds[row]) >= 3) {
      picture.append(svg("line", { x1, y1, x2, y2, style: `stroke: ${valueColour(0.75 * bonds[row])}`, "stroke-width": 1.1 * radius, "stroke-linecap": "round" }));
    }
  });
  if (!molecule) drawn.edges.forEach(([first, second]) => {
    const [[x1, y1], [x2, y2]] = [points[first], points[second]];
    picture.append(svg("line", { x1, y1, x2, y2, class: "bond", "stroke-width": Math.min(5.5, 0.2 * radius) }));
  });
  points.forEach(([cx, cy], vertex) => {
    const value = values ? values[vertex] : 0;
    const name = drawn.labels?.[vertex] ?? (molecule ? "atom" : "vertex");
    const words = svg("title", {}, `${name} ${vertex}${values ? `: ${value} %` : ""}`);
    const fill = Math.abs(value) >= 3 ? valueColour(value) : molecule ? "transparent" : "var(--page)";
    picture.append(svg("circle", { cx, cy, r: radius, class: molecule ? "halo" : "vertex", "data-v": vertex, style: `fill: ${fill}` }, words));
    if (drawn.labels?.[vertex] && radius > 10) {
      const text = drawn.labels[vertex].length > 8 ? `${drawn.labels[vertex].slice(0, 7)}…` : drawn.labels[vertex];
      picture.append(svg("text", { x: cx, y: cy, class: "atom", "font-size": Math.min(1.4 * radius, (4 * radius) / Math.max(2, text.length)) }, text));
    }
  });
  if (molecule) {
    picture.append(svg("path", { d: drawn.lines ?? "", class: "ink" }));
    if (drawn.dashes) picture.append(svg("path", { d: drawn.dashes, class: "ink", "stroke-dasharray": 11 }));
    if (drawn.wedges) picture.append(svg("path", { d: drawn.wedges, class: "wedge" }));
    for (const [cx, cy, r] of drawn.circles ?? []) picture.append(svg("circle", { cx, cy, r, class: "ink" }));
    for (const [x, y, text, size] of drawn.texts ?? []) picture.append(svg("text", { x, y, class: "symbol", "font-size": size }, text));
  }
  if (!points.length) picture.append(svg("text", { x: left + width / 2, y: top + height / 2, class: "atom", "font-size": 40 }, "no vertices"));
  return picture;
}
