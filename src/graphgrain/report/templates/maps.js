// Kernel matrix of a data set, sorted by class, and map of its graphs.

const RAMP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function rampColour(share) {
  const at = Math.max(0, Math.min(1, share)) * (RAMP.length - 1);
  const low = Math.min(Math.floor(at), RAMP.length - 2);
  return RAMP[low].map((value, i) => Math.round(value + (at - low) * (RAMP[low + 1][i] - value)));
}

/** Bars or names of the classes along the matrix. */
function strip(item, set, direction, named) {
  const parts = item.blocks.map((blocks, number) =>
    html("i", { style: `flex: ${blocks} 1 0; ${named ? "" : `background: var(--c); ${colour(number, set.classes.length)}`}`, title: set.classes[number] },
      named ? html("span", {}, set.classes[number]) : ""));
  return html("div", { class: named ? "strip names" : "strip", style: `flex-direction: ${direction}`, "aria-hidden": "true" }, ...parts);
}

/** Hide names that do not fit their block. */
function fitNames(names) {
  new ResizeObserver(() => {
    for (const part of names.children) part.classList.toggle("tooSmall", part.clientHeight < 9);
  }).observe(names);
  return names;
}

/** Kernel matrix; a tooltip shows the cell under the pointer or selected by arrow keys. */
function matrix(item, set) {
  const side = item.blocks.reduce((sum, value) => sum + value, 0);
  const bytes = Uint8Array.from(atob(item.matrix), (letter) => letter.charCodeAt(0));
  const label = `Kernel matrix of ${set.name}, sorted by class; arrow keys read single cells`;
  const canvas = html("canvas", { width: side, height: side, tabindex: "0", role: "img", "aria-label": label });
  const context = canvas.getContext("2d");
  const image = context.createImageData(side, side);
  bytes.forEach((value, i) => image.data.set([...rampColour(value / 255), 255], 4 * i));
  context.putImageData(image, 0, 0);
  const classOf = item.blocks.flatMap((blocks, number) => Array(blocks).fill(number));
  let [row, column] = [-1, 0];

  function tell() {
    const value = item.low + (bytes[row * side + column] / 255) * (item.high - item.low);
    const names = [classOf[row], classOf[column]].map((number) => set.classes[number]);
    const box = canvas.getBoundingClientRect();
    const edge = bytes[row * side + column] % 255 ? "" : value > item.low ? "at least " : "at most ";
    const what = item.averaged ? "mean similarity" : "similarity";
    const words = `${names[0]} × ${names[1]}\n${what} ${edge}${value.toFixed(3)}`;
    const cell = box.width / side;
    showTip(words, box.left + (column + 0.5) * cell, box.top + (row + 0.5) * cell);
  }
  function point(event) {
    const box = canvas.getBoundingClientRect();
    const place = (at, start, length) =>
      Math.max(0, Math.min(side - 1, Math.floor(((at - start) / length) * side)));
    row = place(event.clientY, box.top, box.height);
    column = place(event.clientX, box.left, box.width);
    tell();
  }
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("blur", hideTip);
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    if (row >= 0) {
      row = Math.max(0, Math.min(side - 1, row + step[0]));
      column = Math.max(0, Math.min(side - 1, column + step[1]));
    } else row = 0;
    tell();
  });
  const ends = html("div", { class: "ends" }, html("span", {}, `≤ ${item.low.toFixed(2)}`),
    html("span", {}, "similarity"), html("span", {}, `≥ ${item.high.toFixed(2)}`));
  const frame = html("div", { class: "matrix" }, html("span"), html("span"), strip(item, set, "row"),
    fitNames(strip(item, set, "column", true)), strip(item, set, "column"), canvas);
  return html("figure", {}, html("h3", {}, `${set.name}, ${item.kernel}: kernel matrix, sorted by class`), frame,
    html("div", { class: "ramp" }), ends, html("figcaption", {}, item.matrixNote));
}

/** Kernel PCA with one mark per graph; buttons in the legend highlight a class. */
function map(item, set) {
  const place = html("div", { class: "map" });
  const many = set.classes.length;
  let only = -1;
  let apply = () => {};
  const buttons = set.classes.map((name, number) => {
    const button = html("button", { type: "button", "aria-pressed": "false" }, sample(number, "dot", many), `${name} (${set.counts[number]})`);
    button.addEventListener("click", () => {
      only = only === number ? -1 : number;
      buttons.forEach((other, i) => other.setAttribute("aria-pressed", String(i === only)));
      apply();
    });
    return button;
  });
  responsive(place, (width) => {
    const height = Math.min(Math.round(width * 0.82), 470);
    const [left, bottom] = [46, 40];
    const title = `Map of the graphs of ${set.name}`;
    const drawn = drawing(width, height, title, `${item.mapNote} Arrow keys move between graphs.`);
    const range = (values) => {
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const pad = (high - low) * 0.03 || 1e-3;
      return [low - pad, high + pad];
    };
    const [xs, ys] = [0, 1].map((axis) => range(item.points.map((point) => point[axis])));
    const x = linear(...xs, left, width - 6);
    const y = linear(...ys, height - bottom, 6);
    for (const step of ticks(...xs, width / 90)) {
      drawn.append(svg("line", { x1: x(step), x2: x(step), y1: 6, y2: height - bottom, class: "grid" }));
      drawn.append(text(x(step), height - bottom + 15, "middle", String(step)));
    }
    for (const step of ticks(...ys, height / 70)) {
      drawn.append(svg("line", { x1: left, x2: width - 6, y1: y(step), y2: y(step), class: "grid" }));
      drawn.append(text(left - 6, y(step) + 4, "end", String(step)));
    }
    drawn.append(text((left + width) / 2, height - 6, "middle", item.axes[0]));
    const side = text(0, 0, "middle", item.axes[1]);
    side.setAttribute("transform", `translate(11,${(height - bottom) / 2}) rotate(-90)`);
    drawn.append(side);
    const marks = item.points.map(([px, py], i) => {
      const family = set.codes[i];
      const shape = mark(family, x(px), y(py), item.points.length > 400 ? 3 : 4, "dot", many);
      drawn.append(shape);
      const words = `${set.names[i]}\n${set.classes[family]}\n${set.vertices[i]} vertices, ${set.edges[i]} edges`;
      return { x: x(px), y: y(py), words, family, shape };
    });
    const filter = explore(drawn, marks, 18);
    apply = () => {
      for (const point of marks) point.shape.classList.toggle("faded", only >= 0 && point.family !== only);
      filter((point) => only < 0 || point.family === only);
    };
    apply();
    return [drawn];
  });
  const list = html("ul", { class: many > 24 ? "legend long" : "legend" }, ...buttons.map((button) => html("li", {}, button)));
  return html("figure", {}, html("h3", {}, `${set.name}, ${item.kernel}: map of the graphs (kernel PCA)`), place, list,
    html("figcaption", {}, item.mapNote));
}

/** Map and matrix, or an explanation if the kernel does not distinguish the graphs. */
function seen(item, set) {
  if (!item.alike) return [map(item, set), matrix(item, set)];
  const words = `${item.kernel} does not distinguish any two of these graphs, so there is nothing to draw. ` +
    "Kernels on vertex labels ignore attributes.";
  return [html("figure", {}, html("h3", {}, `${set.name}, ${item.kernel}`), html("p", { class: "empty" }, words))];
}
