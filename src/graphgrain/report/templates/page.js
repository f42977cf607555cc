// Behaviour of the report page: sortable tables and figures.

const data = JSON.parse(document.getElementById("data").textContent);

// ---- Sorting: numbers by value, text alphabetically, missing entries last ----

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const original = [...body.rows];
  heads.forEach((head, column) => {
    const button = html("button", { type: "button" });
    button.append(...head.childNodes);
    head.append(button);
    const isText = head.classList.contains("text");
    // Better numbers come first; a third click restores the original order.
    const order = isText || head.dataset.first === "ascending" ? ["ascending", "descending"] : ["descending", "ascending"];
    button.addEventListener("click", () => {
      const now = order.indexOf(head.getAttribute("aria-sort"));
      const direction = order[now + 1];
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (direction) head.setAttribute("aria-sort", direction);
      const sign = direction === "descending" ? -1 : 1;
      const key = (row) => row.cells[column].dataset.value;
      const compare = (a, b) => {
        const [left, right] = [key(a), key(b)];
        if (left === undefined || right === undefined) return (left === undefined) - (right === undefined);
        return sign * (isText ? left.localeCompare(right, "en", { numeric: true }) : left - right);
      };
      body.append(...(direction ? [...original].sort(compare) : original));
    });
  });
}

// ---- Mark tables that are wider than their box ----

const wide = new ResizeObserver((entries) => {
  for (const { target } of entries) target.toggleAttribute("data-more", target.scrollWidth > target.clientWidth + 2);
});
for (const box of document.querySelectorAll(".scroll")) wide.observe(box);

// ---- Figures ----

/** Add selection lists of data sets and kernels, and render the selected item. */
function chooser(container, name, items, setOf, render) {
  container.classList.remove("plot");
  const place = html("div", { class: "pair" });
  const groups = new Map();
  for (const item of items) groups.set(setOf(item), [...(groups.get(setOf(item)) || []), item]);
  const list = (what, options) => {
    const select = html("select", { id: `${name}-${what}` }, ...options.map((option) => html("option", {}, option)));
    return select;
  };
  const sets = list("set", [...groups.keys()]);
  const kernels = list("kernel", []);
  const labelled = (words, select) => [html("label", { for: select.id }, words), select];
  function show() {
    place.replaceChildren(...render(groups.get(sets.value)[kernels.selectedIndex]));
    for (const box of place.querySelectorAll(".scroll")) wide.observe(box);
  }
  function changeSet() {
    const wanted = kernels.value;
    const names = groups.get(sets.value).map((item) => item.kernel);
    kernels.replaceChildren(...names.map((item) => html("option", {}, item)));
    kernels.selectedIndex = Math.max(0, names.indexOf(wanted));
    show();
  }
  sets.addEventListener("change", changeSet);
  kernels.addEventListener("change", show);
  const parts = [];
  if (groups.size > 1) parts.push(...labelled("Data set", sets));
  if (items.length > groups.size) parts.push(...labelled("Kernel", kernels));
  if (parts.length) container.append(html("div", { class: "choose" }, ...parts));
  container.append(place);
  changeSet();
}

for (const place of document.querySelectorAll("[data-figure]")) {
  const [kind, number] = place.dataset.figure.split(":");
  const plot = data[kind][Number(number)];
  if (kind === "dots") responsive(place, (width) => dotPlot(plot, width));
  if (kind === "maps") {
    const { sets, items } = plot;
    chooser(place, "map", items, (item) => sets[item.set].name, (item) => seen(item, sets[item.set]));
  }
  if (kind === "errors") chooser(place, "errors", data.errors, (item) => item.set, (item) => [confusion(item), oftenWrong(item)]);
  if (kind === "curves") {
    for (const panel of plot.panels) {
      const inside = html("div");
      place.append(html("div", {}, html("h3", {}, panel.name), inside));
      responsive(inside, (width) => curve(panel, plot, width));
    }
  }
}
