// The page to explore: a map whose points can be chosen, and all that is known of the chosen graph.

const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const graphs = data.graphs;
const several = data.classes.length > 0;
const classOf = graphs.map((graph) => data.classes.indexOf(graph.truth));
let chosen = -1;
let visible = graphs.map((_, number) => number);

const signed = (value) => {
  const words = Math.abs(value) >= 1000 || (value && Math.abs(value) < 0.001) ? value.toExponential(1) : value.toPrecision(3);
  return value > 0 ? `+${words}` : words.replace("-", "−");
};

// ---- The chosen graph ----

function show(number, { focus = false } = {}) {
  if (number < 0 || number >= graphs.length) return;
  chosen = number;
  const graph = graphs[number];
  at("graph-title").textContent = graph.name;
  const parts = several
    ? ["Predicted ", html("b", {}, graph.prediction)]
    : ["Predicted ", html("b", {}, Number(graph.prediction).toPrecision(4))];
  if (graph.truth !== null) parts.push(", is ", html("b", {}, several ? graph.truth : Number(graph.truth).toPrecision(4)));
  if (graph.right !== null) parts.push(html("span", { class: graph.right ? "mark" : "mark wrong" }, graph.right ? "✓ right" : "✗ wrong"));
  at("verdict").replaceChildren(...parts);
  at("picture").replaceChildren(drawGraph(graph.drawing, graph.values, graph.bonds, `${graph.name}, coloured by what speaks for the prediction`));
  const [low, , high] = at("scale").children;
  const what = several ? graph.prediction : "a larger value";
  low.textContent = `against ${what} ${signed(-graph.largest)}`;
  high.textContent = `for ${what} ${signed(graph.largest)}`;
  const unknown = graph.unknown ? ` ${(100 * graph.unknown).toFixed(0)} % of its patterns are unknown to the model.` : "";
  at("note").textContent = `Decision ${signed(graph.decision)}, of which ${signed(graph.bias)} is bias. ${data.how}${unknown}`;
  at("patterns").tBodies[0].replaceChildren(...graph.patterns.map(([name, adds, times]) =>
    html("tr", {}, html("td", { class: "text" }, name),
      html("td", { class: adds > 0 ? "positive" : "negative" }, signed(adds)), html("td", {}, String(times)))));
  if (at("neighbours")) at("neighbours").replaceChildren(...graph.neighbours.map((other) => neighbour(graph, other)));
  if (at("plot")) mark_chosen();
  try {
    if (!data.single) history.replaceState(null, "", `#${number + 1}`);
  } catch {
    // Some browsers refuse it for files; nothing else depends on it.
  }
  if (focus) at("graph").focus({ preventScroll: false });
}

function neighbour(graph, other) {
  const found = graphs[other.graph];
  const button = html("button", { type: "button" }, found.name);
  button.addEventListener("click", () => show(other.graph, { focus: true }));
  const kind = several ? ` · ${found.truth}` : ` · ${Number(found.truth).toPrecision(3)}`;
  return html("article", { class: "neighbour" },
    html("h4", {}, button, html("span", {}, other.similarity.toFixed(2))),
    html("p", {}, `similarity ${other.similarity.toFixed(3)}${kind}`),
    html("div", { class: "pair" },
      drawGraph(graph.drawing, other.mine, null, `${graph.name}: what it shares with ${found.name}`),
      drawGraph(found.drawing, other.theirs, null, `${found.name}: what it shares with ${graph.name}`)),
    ...(other.shared.length ? [html("p", {}, "rarest shared: ", html("code", {}, other.shared.join("   ")))] : []));
}

// ---- The map ----

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
  const picture = drawing(width, height, "Map of the graphs", "Arrow keys choose the next graph, Enter goes to it");
  picture.removeAttribute("width");
  picture.removeAttribute("height");
  const [lowest, highest] = several ? [0, 0] : [Math.min(...graphs.map((g) => g.truth)), Math.max(...graphs.map((g) => g.truth))];
  marks = graphs.map((graph, number) => {
    const [x, y] = places[number];
    const group = svg("g", { "data-number": number });
    const dot = several
      ? mark(Math.max(0, classOf[number]), x, y, 5, "dot", data.classes.length)
      : svg("circle", { cx: x, cy: y, r: 5, class: "dot", style: `--c: color-mix(in oklab, var(--positive) ${Math.round((100 * (graph.truth - lowest)) / (highest - lowest || 1))}%, var(--negative))` });
    dot.append(svg("title", {}, graph.name));
    group.append(dot);
    if (graph.right === false) group.append(svg("circle", { cx: x, cy: y, r: 8.5, class: "ring" }));
    return group;
  });
  links = svg("g", {});
  pointer = svg("circle", { r: 11, class: "chosen", cx: -99, cy: -99 });
  picture.append(links, ...marks, pointer);
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const [x, y] = [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
    let best = -1;
    let gap = 30; // a finger is not a needle
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

function filter() {
  const kind = at("class").value;
  const wrong = at("wrong").checked;
  const words = at("search").value.trim().toLowerCase();
  visible = [];
  graphs.forEach((graph, number) => {
    const fits = (kind === "" || classOf[number] === Number(kind)) && (!wrong || graph.right === false) && graph.name.toLowerCase().includes(words);
    marks[number].classList.toggle("out", !fits);
    if (fits) visible.push(number);
  });
  at("shown").textContent = visible.length === graphs.length ? `${graphs.length} graphs` : `${visible.length} of ${graphs.length} graphs`;
  if (visible.length && !visible.includes(chosen)) show(visible[0]);
}

function begin() {
  if (!data.single) {
    draw_map();
    at("class").append(html("option", { value: "" }, "all"), ...data.classes.map((name, number) => html("option", { value: number }, name)));
    at("class").parentElement.hidden = !several;
    at("wrong-label").hidden = !several;
    at("filters").addEventListener("input", filter);
    at("filters").addEventListener("submit", (event) => event.preventDefault());
    at("previous").addEventListener("click", () => move(-1));
    at("next").addEventListener("click", () => move(1));
    data.classes.forEach((name, number) => {
      const sign = svg("svg", { viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true" }, mark(number, 0, 0, 5.5, "dot", data.classes.length));
      at("legend").append(html("li", {}, sign, name));
    });
  }
  const asked = Number(location.hash.slice(1)) - 1;
  show(asked >= 0 && asked < graphs.length ? asked : Math.max(0, graphs.findIndex((graph) => graph.right === false)));
  if (!data.single) filter();
}

begin();
