// Draw a graph from plain data (outline in graphs/drawing/picture.py): points in hundredths of an
// edge length and, for molecules, the shapes of the structural formula. Values are in percent.

/** Font size and radius of the vertices of trees; mean width of a letter, as a part of the size. */
const TREE = { font: 34, radius: 15 };
const LETTER = 0.56;
let gradients = 0;

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

/** Return a label: inside its vertex, or beside it where it does not fit. */
function vertexLabel(drawn, vertex, radius) {
  const [x, y] = drawn.points[vertex];
  const text = drawn.labels[vertex];
  const inside = drawn.tree ? 0 : Math.min(TREE.font, (2 * radius - 6) / (LETTER * text.length));
  if (inside > 18) return svg("text", { x, y, class: "atom", "font-size": inside }, text);
  return svg("text", { x: x + radius + 6, y, class: "beside", "font-size": drawn.tree ? TREE.font : 24 }, text);
}

/** Return the colour of an edge: that of its value or, without values, those of its ends, blended. */
function bandColour(picture, drawn, row, values, edges) {
  const [first, second] = drawn.edges[row];
  const ends = edges ? [edges[row], edges[row]] : values ? [values[first], values[second]] : [0, 0];
  if (Math.max(...ends.map(Math.abs)) < 3) return null;
  if (ends[0] === ends[1]) return valueColour(ends[0]);
  const [[x1, y1], [x2, y2]] = [drawn.points[first], drawn.points[second]];
  const blend = svg("linearGradient", { id: `blend-${++gradients}`, gradientUnits: "userSpaceOnUse", x1, y1, x2, y2 });
  ends.forEach((end, offset) => blend.append(svg("stop", { offset, style: `stop-color: ${valueColour(end)}` })));
  picture.append(blend);
  return `url(#${blend.id})`;
}

/** Draw a graph; edges blend the values of their ends unless they have values of their own. */
function drawGraph(drawn, values, edges, title) {
  if (!drawn) return html("p", { class: "empty" }, "This graph is too large to be drawn.");
  const points = drawn.points;
  const molecule = !("labels" in drawn);
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const pad = 75;
  // Limit the scale of small molecules: the picture is at least eight bonds wide.
  const [leftmost, topmost] = points.length ? [Math.min(...xs), Math.min(...ys)] : [0, 0];
  const wide = (text) => LETTER * TREE.font * text.length;
  const ends = points.map(([x], vertex) => x + (drawn.labels?.[vertex] ? wide(drawn.labels[vertex]) : 0));
  const [across, down] = points.length ? [Math.max(...ends) - leftmost, Math.max(...ys) - topmost] : [0, 0];
  const [width, height] = [Math.max(across + 2 * pad, 800), Math.max(down + 2 * pad, 450)];
  const [left, top] = [leftmost + across / 2 - width / 2, topmost + down / 2 - height / 2];
  const picture = svg("svg", {
    viewBox: [left, top, width, height].map(Math.round).join(" "), class: "drawn", role: "img", "aria-label": title,
  });
  const radius = molecule ? 36 : drawn.tree ? TREE.radius : vertexRadius(points);
  const lines = drawn.edges.map((pair) => {
    const [first, second] = drawn.tree ? [...pair].sort((u, v) => points[u][0] - points[v][0]) : pair;
    const after = drawn.tree && drawn.labels[first] ? radius + wide(drawn.labels[first]) + 14 : 0;
    return { x1: points[first][0] + after, y1: points[first][1], x2: points[second][0], y2: points[second][1] };
  });
  lines.forEach((line, row) => {
    const colour = bandColour(picture, drawn, row, values, edges);
    if (colour) picture.append(svg("line", { ...line, style: `stroke: ${colour}`, "stroke-width": 1.2 * radius, "stroke-linecap": "round" }));
  });
  if (!molecule) lines.forEach(({ x1, y1, x2, y2 }) => {
    picture.append(svg("line", { x1, y1, x2, y2, class: "bond", "stroke-width": Math.min(5.5, 0.2 * radius) }));
  });
  const labels = [];
  points.forEach(([cx, cy], vertex) => {
    const value = values ? values[vertex] : 0;
    const name = drawn.labels?.[vertex] ?? (molecule ? "atom" : "vertex");
    const words = svg("title", {}, `${name} ${vertex}${values ? `: ${value} %` : ""}`);
    const fill = Math.abs(value) >= 3 ? valueColour(value) : molecule ? "transparent" : "var(--page)";
    picture.append(svg("circle", { cx, cy, r: radius, class: molecule ? "halo" : "vertex", "data-v": vertex, style: `fill: ${fill}` }, words));
    if (drawn.labels?.[vertex]) labels.push(vertexLabel(drawn, vertex, radius));
  });
  picture.append(...labels);
  if (molecule) {
    picture.append(svg("path", { d: drawn.lines ?? "", class: "ink" }));
    if (drawn.dashes) picture.append(svg("path", { d: drawn.dashes, class: "ink", "stroke-dasharray": 11 }));
    if (drawn.wedges) picture.append(svg("path", { d: drawn.wedges, class: "wedge" }));
    for (const [x, y, text, size] of drawn.texts ?? []) picture.append(svg("text", { x, y, class: "symbol", "font-size": size }, text));
  }
  if (!points.length) picture.append(svg("text", { x: left + width / 2, y: top + height / 2, class: "atom", "font-size": 40 }, "no vertices"));
  return picture;
}
