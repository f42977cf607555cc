// Drawing helpers: SVG elements, a shared tooltip, selection of marks by mouse, touch and keyboard.

const SHAPES = [
  (r) => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`,
  (r) => `M${-r * 0.87},${-r * 0.87}H${r * 0.87}V${r * 0.87}H${-r * 0.87}Z`,
  (r) => `M0,${-r * 1.2}L${r * 1.1},${r * 0.8}H${-r * 1.1}Z`,
  (r) => `M0,${-r * 1.3}L${r * 1.3},0L0,${r * 1.3}L${-r * 1.3},0Z`,
  (r) => `M0,${r * 1.2}L${r * 1.1},${-r * 0.8}H${-r * 1.1}Z`,
];
const COLOURS = 12;
const HOLLOW = 45; // a round grey mark, for legends

function node(space, name, attributes, children) {
  const element = space ? document.createElementNS(space, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
const svg = (name, attributes = {}, ...children) =>
  node("http://www.w3.org/2000/svg", name, attributes, children);
const html = (name, attributes = {}, ...children) => node(null, name, attributes, children);
const text = (x, y, anchor, words, kind = "label") =>
  svg("text", { x, y, "text-anchor": anchor, class: kind }, words);
/** Colour of series `number` of `count`: from the palette, or evenly spaced hues if it is too small. */
function colour(number, count = 0) {
  if (count <= COLOURS) return `--c: var(--c${number % COLOURS})`;
  const hue = Math.round((360 * number) / count);
  return `--c: light-dark(hsl(${hue} 75% 36%), hsl(${hue} 75% 68%))`;
}
const percent = (value) => value.toFixed(2);

/** Mark of series `number`, distinguished by both shape and colour. */
function mark(number, x, y, size, kind = "dot", count = 0) {
  const d = SHAPES[number % SHAPES.length](size);
  return svg("path", { d, transform: `translate(${x},${y})`, class: kind, style: colour(number, count) });
}

function drawing(width, height, title, description) {
  const labels = [svg("title", {}, title), svg("desc", {}, description)];
  const box = { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", tabindex: "0" };
  return svg("svg", { ...box, "aria-label": `${title}. ${description}` }, ...labels);
}

/** Return about `count` round numbers from low to high. */
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    found.push(Number((i * step).toPrecision(12)));
  }
  return found;
}

/** Return logarithms of round numbers: powers of ten, with factors 2 and 5 if there are few. */
function decades(low, high, count) {
  const all = [];
  for (let power = Math.floor(low); power <= Math.ceil(high); power++) {
    for (const factor of [1, 2, 5]) all.push([power + Math.log10(factor), factor]);
  }
  const inside = all.filter(([value]) => value >= low && value <= high);
  const tens = inside.filter(([, factor]) => factor === 1);
  if (tens.length >= 3 || inside.length > count) {
    const step = Math.ceil(tens.length / Math.max(count, 2)) || 1;
    const chosen = tens.filter((_, number) => number % step === 0);
    if (chosen.length > 1) return chosen.map(([value]) => value);
  }
  return inside.length > 1 ? inside.map(([value]) => value) : ticks(10 ** low, 10 ** high, 3).map(Math.log10);
}

function linear(low, high, from, to) {
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

// ---- Tooltip ----

const tip = document.getElementById("tip");

function showTip(words, x, y) {
  tip.textContent = words;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const above = y - box.height - 14;
  tip.style.left = `${Math.max(8, Math.min(x - box.width / 2, innerWidth - box.width - 8))}px`;
  tip.style.top = `${above > 4 ? above : Math.min(y + 18, innerHeight - box.height - 4)}px`;
}

function hideTip() {
  tip.hidden = true;
}
addEventListener("scroll", hideTip, { passive: true, capture: true });

/** Show the text of the mark nearest to the pointer; arrow keys move between marks. */
function explore(picture, marks, reach = 26) {
  const ring = svg("circle", { r: 7, class: "current", visibility: "hidden" });
  picture.append(ring);
  let current = -1;
  const open = marks.map(() => true);

  function choose(number) {
    current = number;
    if (number < 0) {
      ring.setAttribute("visibility", "hidden");
      hideTip();
      return;
    }
    const { x, y, words } = marks[number];
    ring.setAttribute("transform", `translate(${x},${y})`);
    ring.setAttribute("visibility", "visible");
    const place = new DOMPoint(x, y).matrixTransform(picture.getScreenCTM());
    showTip(words, place.x, place.y);
  }

  function nearest(event) {
    const at = new DOMPoint(event.clientX, event.clientY);
    const { x, y } = at.matrixTransform(picture.getScreenCTM().inverse());
    let best = -1;
    let least = reach * reach;
    marks.forEach((item, number) => {
      const distance = (item.x - x) ** 2 + (item.y - y) ** 2;
      if (open[number] && distance < least) [best, least] = [number, distance];
    });
    if (best !== current) choose(best);
  }

  picture.addEventListener("pointermove", nearest);
  picture.addEventListener("pointerdown", nearest);
  picture.addEventListener("pointerleave", () => choose(-1));
  picture.addEventListener("blur", () => choose(-1));
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") choose(-1);
    if (!step || !open.includes(true)) return;
    event.preventDefault();
    let next = current;
    do next = (next + step + marks.length + (next < 0 && step < 0 ? 1 : 0)) % marks.length;
    while (!open[next]);
    choose(next);
  });
  return (isOpen) => {
    marks.forEach((item, number) => (open[number] = isOpen(item)));
    choose(-1);
  };
}

/** Render into a container for its width, and again whenever the width changes. */
function responsive(container, render) {
  let width = 0;
  new ResizeObserver(() => {
    const now = Math.floor(container.clientWidth);
    if (!now || now === width) return;
    width = now;
    hideTip();
    container.replaceChildren(...render(width));
  }).observe(container);
}

function sample(number, kind = "dot", count = 0) {
  const icon = { width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" };
  return svg("svg", icon, mark(number, 0, 0, 4.5, kind, count));
}

function legend(names, numbers, hollow) {
  const items = names.map((name, i) => html("li", {}, sample(numbers[i]), name));
  if (hollow) items.push(html("li", {}, sample(HOLLOW, "hollow"), hollow));
  return html("ul", { class: "legend" }, ...items);
}

// ---- Dot plot: one block per data set, one line per kernel ----

function dotPlot(plot, width) {
  const wide = width > 560;
  const longest = Math.max(...plot.rows.map((row) => row.name.length));
  const left = wide ? Math.min(Math.max(128, 7.6 * longest + 16), width * 0.4) : 8;
  const right = 18;
  const head = wide ? 10 : 26;
  const line = 11;
  const values = plot.rows.flatMap((row) =>
    row.cells.filter(Boolean).flatMap(({ value, spread, published }) =>
      [value - spread, value + spread, ...(published === null ? [] : [published])]),
  );
  const shown = plot.log ? values.map(Math.log10) : values;
  const pad = (Math.max(...shown) - Math.min(...shown)) * 0.04 || 0.5;
  const [low, high] = [Math.min(...shown) - pad, Math.max(...shown) + pad];
  const scale = linear(low, high, left + 8, width - right);
  const x = (value) => scale(plot.log ? Math.log10(value) : value);
  const heights = plot.rows.map((row) => head + 8 + line * row.cells.filter(Boolean).length);
  const bottom = heights.reduce((sum, value) => sum + value, 0) + 4;
  const picture = drawing(width, bottom + 38, plot.title, "The values are listed in the table above.");
  const marks = [];
  let top = 4;
  plot.rows.forEach((row, number) => {
    if (number % 2 === 0) {
      const size = { x: 0, y: top, width, height: heights[number], rx: 4 };
      picture.append(svg("rect", { ...size, class: "stripe" }));
    }
    const middle = top + heights[number] / 2 + 4;
    picture.append(text(8, wide ? middle : top + 18, "start", row.name, "name"));
    top += heights[number];
  });
  const steps = plot.log ? decades(low, high, Math.max(3, width / 70)) : ticks(low, high, Math.max(3, width / 110));
  for (const step of steps) {
    const at = scale(step);
    picture.append(svg("line", { x1: at, x2: at, y1: 4, y2: bottom, class: "grid" }));
    const words = plot.log ? seconds(10 ** step) : String(step);
    picture.append(text(at, bottom + 16, "middle", words));
  }
  picture.append(text(width - right, bottom + 34, "end", plot.axis));
  top = 4;
  plot.rows.forEach((row, number) => {
    let y = top + head + 4 + line / 2 - (wide ? 5 : 2);
    row.cells.forEach((cell, kernel) => {
      if (!cell) return;
      const words = `${row.name} · ${plot.series[kernel]}\n${cell.words}`;
      if (cell.published !== null) {
        picture.append(mark(plot.numbers[kernel], x(cell.published), y, 4, "hollow"));
        marks.push({ x: x(cell.published), y, words });
      }
      if (cell.spread) {
        const ends = { x1: x(cell.value - cell.spread), x2: x(cell.value + cell.spread) };
        picture.append(svg("line", { ...ends, y1: y, y2: y, class: "bar-line", style: colour(plot.numbers[kernel]) }));
      }
      picture.append(mark(plot.numbers[kernel], x(cell.value), y, 4.5));
      marks.push({ x: x(cell.value), y, words });
      y += line;
    });
    top += heights[number];
  });
  explore(picture, marks);
  return [legend(plot.series, plot.numbers, plot.hollow), picture];
}

function seconds(value) {
  if (value >= 60) return `${Number((value / 60).toPrecision(2))} min`;
  if (value >= 1) return `${Number(value.toPrecision(3))} s`;
  return `${Number((value * 1000).toPrecision(3))} ms`;
}

// ---- Accuracy against a parameter ----

function curve(panel, plot, width) {
  const [left, right, top, bottom, height] = [38, 10, 8, 34, 176];
  const lows = panel.mean.map((value, i) => value - panel.sd[i]);
  const highs = panel.mean.map((value, i) => value + panel.sd[i]);
  const pad = (Math.max(...highs) - Math.min(...lows)) * 0.06 || 1;
  const [low, high] = [Math.min(...lows) - pad, Math.max(...highs) + pad];
  const x = linear(Math.min(...panel.x), Math.max(...panel.x), left + 8, width - right - 4);
  const y = linear(low, high, height - bottom, top);
  const description = panel.x.map((value, i) => `${value}: ${percent(panel.mean[i])}`).join(", ");
  const picture = drawing(width, height, `${panel.name}: ${plot.title}`, description);
  for (const step of ticks(low, high, 4)) {
    const at = y(step);
    picture.append(svg("line", { x1: left, x2: width - right, y1: at, y2: at, class: "grid" }));
    picture.append(text(left - 5, at + 4, "end", String(step)));
  }
  for (const value of panel.x) {
    picture.append(text(x(value), height - bottom + 16, "middle", String(value)));
  }
  picture.append(text((left + width - right) / 2, height - 3, "middle", plot.axis));
  const outward = panel.x.map((value, i) => `${x(value)},${y(highs[i])}`);
  const back = panel.x.map((value, i) => `${x(value)},${y(lows[i])}`).reverse();
  const style = colour(0);
  picture.append(svg("polygon", { points: [...outward, ...back].join(" "), class: "band", style }));
  const points = panel.x.map((value, i) => `${x(value)},${y(panel.mean[i])}`).join(" ");
  picture.append(svg("polyline", { points, class: "line", style }));
  const best = panel.mean.indexOf(Math.max(...panel.mean));
  const marks = panel.x.map((value, i) => {
    picture.append(mark(0, x(value), y(panel.mean[i]), i === best ? 5 : 3));
    const words = `${panel.name}, ${plot.axis} = ${value}\n${percent(panel.mean[i])}${panel.several ? ` ± ${percent(panel.sd[i])}` : ""} %`;
    return { x: x(value), y: y(panel.mean[i]), words };
  });
  explore(picture, marks, 60);
  return [picture];
}
