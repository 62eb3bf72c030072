// A part of the Roofline tab: what is happening, figures, one sentence, a table, pictures, notes. All text comes with
// the value and goes in as text; two stars around words make them bold.
(() => {
  const { h, factsOf, dataTable, rooflineChart } = window.sssdDemo;

  const rich = (text) => text.split("**").map((part, at) => (at % 2 ? h("b", {}, part) : part));

  window.sssdDemo.rooflineView = (element, props, watch) => {
    element.classList.add("roof-view");
    const told = h("div", { class: "visually-hidden", role: "status" });
    const now = h("p", { class: "rv-now" });
    const bar = h("progress", { class: "rv-progress", max: 1 });
    const facts = h("dl", { class: "facts" });
    const said = h("p", { class: "rv-said" });
    const choices = h("div", { class: "rv-table" });
    const grid = h("div", { class: "rv-charts" });
    const title = h("summary", {});
    const figures = h("div", { class: "rv-table" });
    const details = h("details", { class: "rv-figures", open: "" }, title, figures);
    const notes = h("div", { class: "rv-notes" });
    const charts = [];
    element.replaceChildren(told, now, bar, facts, said, choices, grid, details, notes);

    function drawCharts(values) {
      while (charts.length < values.length) charts.push(rooflineChart());
      grid.replaceChildren(...values.map((_, at) => charts[at].element));
      values.forEach((value, at) => charts[at].draw(value));
    }

    function render() {
      const value = props.value;
      if (!value) return;
      const sentence = [value.now, value.said].filter(Boolean).join(" ");
      if (element.dataset.phase !== value.phase) told.textContent = sentence;
      element.dataset.phase = value.phase;
      now.textContent = value.now ?? "";
      now.hidden = !value.now;
      bar.hidden = value.share === undefined;
      if (value.share !== undefined) bar.value = value.share;
      facts.replaceChildren(...factsOf(value.facts));
      facts.hidden = !value.facts?.length;
      said.textContent = value.said ?? "";
      said.hidden = !value.said;
      const titled = value.table?.title;
      choices.replaceChildren(...(value.table && !titled ? [dataTable(value.table)] : []));
      details.hidden = !titled;
      if (titled) {
        title.textContent = titled;
        figures.replaceChildren(dataTable(value.table));
      }
      notes.replaceChildren(...(value.notes ?? []).map((note) => h("p", {}, ...rich(note))));
      grid.hidden = !value.charts?.length;
      drawCharts(value.charts ?? []);
    }

    render();
    watch("value", render);
  };
})();
