// The exploration page: a map with selectable points, and the details of the selected graph.

/** Decode the data: base64 of deflated JSON, which keeps pages of 1,000 graphs small. */
async function unpack() {
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

function main(data) {
const at = (id) => document.getElementById(id);
const graphs = data.graphs;
const several = data.classes.length > 0;
const learned = !data.unlabelled;
const classOf = graphs.map((graph) => data.classes.indexOf(graph.truth));
let chosen = -1;
let visible = graphs.map((_, number) => number).slice(0, data.rows || graphs.length);
const doubting = () => learned && document.querySelector('input[name="shows"]:checked').value === "doubt";
/** Uncertainty of each prediction. */
const doubt = graphs.map((graph) => (graph.interval ? graph.interval[1] - graph.interval[0] : 1 - (graph.probability ?? 1)));

const signed = (value) => {
  const words = Math.abs(value) >= 1000 || (value && Math.abs(value) < 0.001) ? value.toExponential(1) : value.toPrecision(3);
  return value > 0 ? `+${words}` : words.replace("-", "−");
};
const round = (value) => Number(value).toPrecision(4).replace("-", "−");

// ---- Selected graph ----

function show(number, { focus = false } = {}) {
  if (number < 0 || number >= graphs.length) return;
  chosen = number;
  const graph = graphs[number];
  at("graph-title").textContent = graph.name;
  at("reasons").hidden = at("scale").hidden = at("note").hidden = at("verdict").hidden = at("shows").hidden = !learned;
  paint(graph);
  if (learned) reasons(graph);
  at("near").hidden = !graph.neighbours.length;
  at("neighbours").replaceChildren(...graph.neighbours.map((other) => neighbour(other)));
  if (at("plot")) mark_chosen();
  try {
    if (!data.single) history.replaceState(null, "", `#${number + 1}`);
  } catch {
    // Some browsers do not allow it for local files; nothing else depends on it.
  }
  if (focus) at("graph").focus({ preventScroll: false });
}

/** Draw the picture, coloured by contributions to the prediction or to its uncertainty. */
function paint(graph) {
  const unsure = doubting();
  const words = !learned ? graph.name : `${graph.name}, coloured by contributions to the ${unsure ? "uncertainty" : "prediction"}`;
  const values = !learned ? null : unsure ? graph.doubts : graph.values;
  at("picture").replaceChildren(drawGraph(graph.drawing, values, null, words));
  if (!learned) return;
  const [low, , high] = at("scale").children;
  const what = several ? graph.prediction : "a larger value";
  low.textContent = unsure ? "common in training" : `against ${what} ${signed(-graph.largest)}`;
  high.textContent = unsure ? "new or rare in training" : `for ${what} ${signed(graph.largest)}`;
}

function reasons(graph) {
  const bold = (value) => html("b", {}, several ? value : round(value));
  const parts = ["Predicted ", bold(graph.prediction)];
  if (graph.interval) parts.push(` (90 % interval: ${graph.interval.map(round).join(" to ")})`);
  if (graph.probability !== null) parts.push(` (${(100 * graph.probability).toFixed(0)} %)`);
  if (graph.truth !== null) parts.push(several ? ", true class " : ", true value ", bold(graph.truth));
  if (graph.right !== null) parts.push(html("span", { class: graph.right ? "mark" : "mark wrong" }, graph.right ? "✓ right" : "✗ wrong"));
  at("verdict").replaceChildren(...parts);
  const unknown = graph.unknown ? ` ${(100 * graph.unknown).toFixed(0)} % of its patterns are unknown to the model.` : "";
  const decision = several ? "the decision" : "the prediction on the training scale";
  const fitted = graph.in_training ? " The model was trained on this graph: its decision is fitted, not predicted." : "";
  at("note").textContent = `The fragments sum to ${decision}: ${signed(graph.decision)}.${unknown}${fitted}`;
  const largest = Math.max(...graph.fragments.map(([, adds]) => Math.abs(adds)), 1e-12);
  at("fragments").tBodies[0].replaceChildren(...graph.fragments.map(([name, adds, vertices]) => {
    const width = (50 * Math.abs(adds)) / largest;
    const bar = html("i", { class: adds > 0 ? "positive" : "negative", style: `width: ${width.toFixed(1)}%; ${adds > 0 ? "left" : "right"}: 50%` });
    const row = html("tr", {}, html("td", { class: "text" }, name), html("td", { class: "share" }, bar), html("td", { class: adds > 0 ? "positive" : "negative" }, signed(adds)));
    return pointing(row, vertices);
  }));
  for (const [id, side] of [["patterns-for", 1], ["patterns-against", -1]]) {
    const own = graph.patterns.filter(([, adds]) => side * adds > 0);
    at(id).replaceChildren(...own.map(([name, adds, times, vertices]) =>
      pointing(html("li", {}, html("code", {}, name), html("span", { class: side > 0 ? "positive" : "negative" }, signed(adds)), html("small", {}, times > 1 ? `${times} times` : "once")), vertices)));
    if (!own.length) at(id).append(html("li", { class: "key" }, "none"));
  }
}

/** Highlight the vertices of a list item in the picture while it is hovered or focused. */
function pointing(line, vertices) {
  if (!vertices.length) return line;
  line.tabIndex = 0;
  const light = (on) => () => {
    at("picture").querySelector("svg")?.classList.toggle("pointing", on);
    for (const vertex of vertices) at("picture").querySelector(`[data-v="${vertex}"]`)?.classList.toggle("lit", on);
  };
  for (const event of ["mouseenter", "focus"]) line.addEventListener(event, light(true));
  for (const event of ["mouseleave", "blur"]) line.addEventListener(event, light(false));
  return line;
}

function neighbour(other) {
  const found = graphs[other.graph];
  const name = data.single ? html("strong", {}, found.name) : html("button", { type: "button" }, found.name);
  name.addEventListener("click", () => { if (!data.single) show(other.graph, { focus: true }); });
  const kind = found.truth === null ? "" : ` · ${several ? found.truth : round(found.truth)}`;
  const differs = found.drawing && found.drawing.points.map(() => 0);
  for (const vertex of other.differs) if (differs) differs[vertex] = 70;
  const changed = found.drawing && found.drawing.edges.map((_, row) => (other.changed.includes(row) ? 70 : 0));
  const shared = other.shared.length ? `Both have: ${other.shared.join(", ")}.` : "";
  const same = other.contained ? " It is entirely contained in this graph." : "";
  return html("article", { class: "neighbour" },
    html("h4", {}, name), html("p", {}, `similarity ${other.similarity.toFixed(2)}${kind}`),
    drawGraph(found.drawing, differs, changed, `${found.name}: parts that ${graphs[chosen].name} does not have`),
    html("p", {}, shared + same));
}

// ---- Map ----

const SIZE = { width: 640, height: 520, pad: 18 };
let places = [];
let marks = [];
let pointer;
let links;

function draw_map() {
  const { width, height, pad } = SIZE;
  const xs = data.points.map(([x]) => x);
  const ys = data.points.map(([, y]) => y);
  const scale = (values, length) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return (value) => (high - low < 1e-12 ? length / 2 : pad + ((value - low) / (high - low)) * (length - 2 * pad));
  };
  const [toX, toY] = [scale(xs, width), scale(ys, height)];
  places = data.points.map(([x, y]) => [toX(x), height - toY(y)]);
  const picture = drawing(width, height, "Map of the graphs", "Arrow keys select the next graph, Enter moves to it");
  picture.removeAttribute("width");
  picture.removeAttribute("height");
  const truths = graphs.map((graph) => Number(graph.truth));
  const [lowest, highest] = several || !learned ? [0, 0] : [Math.min(...truths), Math.max(...truths)];
  const size = graphs.length > 400 ? 3.2 : 5;
  marks = graphs.map((graph, number) => {
    const [x, y] = places[number];
    const group = svg("g", { "data-number": number });
    const dot = several
      ? mark(Math.max(0, classOf[number]), x, y, size, "dot", data.classes.length)
      : svg("circle", { cx: x, cy: y, r: size, class: "dot", style: !learned ? "--c: var(--accent)" : `--c: color-mix(in oklab, var(--positive) ${Math.round((100 * (graph.truth - lowest)) / (highest - lowest || 1))}%, var(--negative))` });
    dot.append(svg("title", {}, graph.name));
    if (!several && learned && !number) {
      const [low, , high] = at("ramp").children;
      low.textContent = round(lowest);
      high.textContent = round(highest);
      at("ramp").hidden = false;
    }
    group.append(dot);
    if (graph.right === false) group.append(svg("circle", { cx: x, cy: y, r: size + 2.4, class: "ring" }));
    return group;
  });
  links = svg("g", {});
  pointer = svg("circle", { r: 11, class: "chosen", cx: -99, cy: -99 });
  picture.append(links, ...marks, pointer);
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const [x, y] = [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
    let best = -1;
    let gap = 30; // large enough for touch
    for (const number of visible) {
      const distance = Math.hypot(places[number][0] - x, places[number][1] - y);
      if (distance < gap) [best, gap] = [number, distance];
    }
    if (best >= 0) show(best, { focus: window.innerWidth < 896 });
  });
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) move(step);
    else if (event.key === "Enter") at("graph").focus();
    else return;
    event.preventDefault();
  });
  at("plot").replaceChildren(picture);
}

function mark_chosen() {
  const [x, y] = places[chosen];
  pointer.setAttribute("cx", x);
  pointer.setAttribute("cy", y);
  links.replaceChildren(...graphs[chosen].neighbours.map((other) =>
    svg("line", { x1: x, y1: y, x2: places[other.graph][0], y2: places[other.graph][1], class: "near" })));
}

function move(step) {
  if (!visible.length) return;
  const now = visible.indexOf(chosen);
  show(visible[(now + step + visible.length) % visible.length]);
}

// ---- Filters ----

let ordered = "";

function filter() {
  const kind = at("class").value;
  const wrong = at("wrong").checked;
  const words = at("search").value.trim().toLowerCase();
  visible = [];
  graphs.forEach((graph, number) => {
    const fits = (kind === "" || classOf[number] === Number(kind)) && (!wrong || graph.right === false) && graph.name.toLowerCase().includes(words);
    if (fits) visible.push(number);
  });
  const order = at("sure").value;
  if (order === "most") visible.sort((one, other) => doubt[one] - doubt[other]);
  else if (order) visible.sort((one, other) => doubt[other] - doubt[one]);
  if (order === "quarter") visible = visible.slice(0, Math.ceil(visible.length / 4));
  const there = new Set(visible);
  marks.forEach((point, number) => point.classList.toggle("out", !there.has(number)));
  at("shown").textContent = visible.length === graphs.length ? `${graphs.length} graphs`
    : visible.length ? `${visible.length} of ${graphs.length} graphs`
    : "No graph matches these filters. Clear the name or choose another class.";
  at("plot").classList.toggle("nothing", !visible.length);
  if (visible.length && (order !== ordered || !there.has(chosen))) show(visible[0]);
  ordered = order;
}

function begin() {
  at("previous").addEventListener("click", () => move(-1));
  at("next").addEventListener("click", () => move(1));
  at("shows").addEventListener("change", () => paint(graphs[chosen]));
  if (!data.single) {
    draw_map();
    at("class").append(html("option", { value: "" }, "all"), ...data.classes.map((name, number) => html("option", { value: number }, name)));
    at("map-key").textContent = "Graphs that are close together are similar (kernel PCA of Tree++ similarities). Click one, or use the arrow keys"
      + (several ? "; a ring marks wrong predictions." : learned ? "; the colour is the measured value." : ".");
    at("class").parentElement.hidden = !several;
    at("wrong-label").hidden = !several;
    at("sure-label").hidden = !learned;
    at("filters").addEventListener("input", filter);
    at("filters").addEventListener("submit", (event) => event.preventDefault());
    data.classes.forEach((name, number) => {
      const sign = svg("svg", { viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true" }, mark(number, 0, 0, 5.5, "dot", data.classes.length));
      at("legend").append(html("li", {}, sign, name));
    });
  }
  const asked = Number(location.hash.slice(1)) - 1;
  const first = data.single ? 0 : Math.max(0, graphs.findIndex((graph) => graph.right === false));
  show(asked >= 0 && asked < (data.rows || graphs.length) ? asked : first);
  if (!data.single) filter();
}

begin();
}

unpack().then(main);
