// Errors of a kernel: confusion matrix and misclassified graphs.

/** Confusion matrix: rows are true classes, shades the fraction of the row. */
function confusion(item) {
  const names = item.classes;
  const heads = names.map((name) => html("th", { scope: "col" }, html("span", {}, name)));
  const rows = item.confusion.map((counts, truth) => {
    const total = counts.reduce((sum, value) => sum + value, 0) || 1;
    const cells = counts.map((value, said) => {
      const share = value / total;
      const shown = Number.isInteger(value) ? String(value) : value.toFixed(1);
      const words = `${names[truth]} predicted as ${names[said]}: ${shown} (${(100 * share).toFixed(1)} %)`;
      const kind = truth === said ? "right" : "wrong";
      return html("td", { class: value ? kind : "zero", style: `--share: ${(100 * share).toFixed(0)}%`, title: words },
        value ? shown : "·");
    });
    return html("tr", {}, html("th", { scope: "row" }, names[truth]), ...cells);
  });
  const corner = html("th", { scope: "col", class: "corner" }, "true \\ predicted");
  const label = `Confusion matrix of ${item.kernel} on ${item.set}`;
  const table = html("table", { class: "confusion" }, html("caption", { class: "hidden" }, label),
    html("thead", {}, html("tr", {}, corner, ...heads)), html("tbody", {}, ...rows));
  const note = `Graphs of each class (rows) by predicted class (columns)${item.repetitions > 1 ? `, averaged over ${item.repetitions} repetitions` : ""}.`;
  return html("figure", {}, html("h3", {}, `${item.set}, ${item.kernel}: confusion matrix`),
    html("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": label }, table), html("figcaption", {}, note));
}

/** List of the most often misclassified graphs. */
function oftenWrong(item) {
  const heads = ["Graph", "Class", "Predicted", "Wrong"].map((name, i) =>
    html("th", { scope: "col", class: i < 3 ? "text" : "" }, name));
  const rows = item.wrong.map(([name, truth, said, times]) =>
    html("tr", {}, html("th", { scope: "row" }, name), html("td", { class: "text" }, item.classes[truth]),
      html("td", { class: "text" }, item.classes[said]), html("td", {}, `${times} of ${item.repetitions}`)));
  const label = `Graphs of ${item.set} misclassified by ${item.kernel}`;
  const table = html("table", { class: "listing" }, html("caption", { class: "hidden" }, label),
    html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...rows));
  const all = item.count === 1 ? "1 graph was" : `${item.count} graphs were`;
  const shown = item.wrong.length < item.count ? (item.repetitions > 1 ? `; these ${item.wrong.length} most often` : `; these are the first ${item.wrong.length}`) : "";
  const times = item.repetitions > 1 ? " in at least one repetition" : "";
  const note = item.count ? `${all} misclassified${times}${shown}.` : "No graph was misclassified.";
  const drawn = item.wrong.slice(0, item.drawn.length).flatMap(([name, truth, said], number) => item.drawn[number]
    ? [html("div", {}, drawGraph(item.drawn[number], null, null, name), html("p", { class: "key" }, html("b", {}, name), ` ${item.classes[truth]}, predicted as ${item.classes[said]}`))] : []);
  return html("figure", {}, html("h3", {}, `${item.set}, ${item.kernel}: misclassified graphs`),
    item.count ? html("div", { class: "scroll tall", role: "region", tabindex: "0", "aria-label": label }, table) : "",
    html("figcaption", {}, note), ...(drawn.length ? [html("div", { class: "mistaken" }, ...drawn)] : []));
}
