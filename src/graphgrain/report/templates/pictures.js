// One data set seen through a kernel: the matrix sorted by class, and the map of its graphs.

const RAMP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function rampColour(share) {
  const at = Math.max(0, Math.min(1, share)) * (RAMP.length - 1);
  const low = Math.min(Math.floor(at), RAMP.length - 2);
  return RAMP[low].map((value, i) => Math.round(value + (at - low) * (RAMP[low + 1][i] - value)));
}

function strip(picture, direction) {
  const parts = picture.blocks.map((blocks, number) =>
    html("i", { style: `flex: ${blocks}; background: var(--c${number % COLOURS})` }),
  );
  return html("div", { class: "strip", style: `flex-direction: ${direction}` }, ...parts);
}

/** The kernel matrix; the pointer or the arrow keys tell what a cell is. */
function matrix(picture) {
  const side = picture.blocks.reduce((sum, value) => sum + value, 0);
  const bytes = Uint8Array.from(atob(picture.matrix), (letter) => letter.charCodeAt(0));
  const label = `Kernel matrix of ${picture.name}, sorted by class; arrow keys read single cells`;
  const canvas = html("canvas", { width: side, height: side, tabindex: "0", role: "img", "aria-label": label });
  const context = canvas.getContext("2d");
  const image = context.createImageData(side, side);
  bytes.forEach((value, i) => image.data.set([...rampColour(value / 255), 255], 4 * i));
  context.putImageData(image, 0, 0);
  const classOf = picture.blocks.flatMap((blocks, number) => Array(blocks).fill(number));
  let [row, column] = [-1, 0];

  function tell() {
    const value = picture.low + (bytes[row * side + column] / 255) * (picture.high - picture.low);
    const names = [classOf[row], classOf[column]].map((number) => picture.classes[number]);
    const box = canvas.getBoundingClientRect();
    const edge = bytes[row * side + column] % 255 ? "" : value > picture.low ? "at least " : "at most ";
    const what = picture.averaged ? "mean similarity" : "similarity";
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
  const ends = html("div", { class: "ends" }, html("span", {}, `≤ ${picture.low.toFixed(2)}`),
    html("span", {}, "similarity"), html("span", {}, `≥ ${picture.high.toFixed(2)}`));
  const frame = html("div", { class: "matrix" }, html("span"), strip(picture, "row"), strip(picture, "column"), canvas);
  return html("figure", {}, html("h3", {}, `${picture.name}: kernel matrix, sorted by class`), frame,
    html("div", { class: "ramp" }), ends, html("figcaption", {}, picture.matrixNote));
}

/** Kernel PCA: a mark per graph; the buttons of the legend single out a class. */
function map(picture) {
  const place = html("div", { class: "map" });
  let only = -1;
  let apply = () => {};
  const buttons = picture.classes.map((name, number) => {
    const button = html("button", { type: "button", "aria-pressed": "false" }, sample(number), `${name} (${picture.counts[number]})`);
    button.addEventListener("click", () => {
      only = only === number ? -1 : number;
      buttons.forEach((other, i) => other.setAttribute("aria-pressed", String(i === only)));
      apply();
    });
    return button;
  });
  responsive(place, (width) => {
    const height = Math.min(Math.round(width * 0.82), 470);
    const title = `Map of the graphs of ${picture.name}`;
    const drawn = drawing(width, height, title, `${picture.mapNote} Arrow keys go from graph to graph.`);
    const xs = picture.points.map((point) => point[0]);
    const ys = picture.points.map((point) => point[1]);
    const x = linear(Math.min(...xs), Math.max(...xs), 12, width - 12);
    const y = linear(Math.min(...ys), Math.max(...ys), height - 12, 12);
    drawn.append(svg("rect", { x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 6, fill: "none", class: "grid" }));
    const marks = picture.points.map(([px, py, family, vertices, edges], i) => {
      const shape = mark(family, x(px), y(py), picture.points.length > 400 ? 3 : 4);
      drawn.append(shape);
      const words = `${picture.names[i]}\n${picture.classes[family]}\n${vertices} vertices, ${edges} edges`;
      return { x: x(px), y: y(py), words, family, shape };
    });
    const filter = explore(drawn, marks, 18);
    apply = () => {
      for (const item of marks) item.shape.classList.toggle("faded", only >= 0 && item.family !== only);
      filter((item) => only < 0 || item.family === only);
    };
    apply();
    return [drawn];
  });
  const list = html("ul", { class: "legend" }, ...buttons.map((button) => html("li", {}, button)));
  return html("figure", {}, html("h3", {}, `${picture.name}: map of the graphs (kernel PCA)`), place, list,
    html("figcaption", {}, picture.mapNote));
}

function pictures(container, list) {
  const place = html("div", { class: "pair" });
  const show = (number) => place.replaceChildren(map(list[number]), matrix(list[number]));
  if (list.length > 1) {
    const options = list.map((item, number) => html("option", { value: number }, item.name));
    const select = html("select", { id: "dataset" }, ...options);
    select.addEventListener("change", () => show(Number(select.value)));
    container.append(html("div", { class: "choose" }, html("label", { for: "dataset" }, "Data set"), select));
  }
  container.append(place);
  show(0);
}
