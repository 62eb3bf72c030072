// Bars and curves about a speculation cache; see saguaro_figures.py for the value. All text goes in as text.
(() => {
  const { h, dataTable, rooflineChart } = window.sssdDemo;

  const bar = (value) =>
    h(
      "div",
      { class: "sf-row" },
      h("span", { class: "sf-name" }, value.label),
      h("span", { class: "sf-track" }, h("i", { class: "sf-bar", style: `width: ${(100 * value.share).toFixed(1)}%` })),
      h("span", { class: "sf-value" }, value.value),
    );

  const panel = (value) =>
    h("section", { class: "sf-panel" }, h("h4", {}, value.title), h("div", { class: "sf-bars" }, ...value.bars.map(bar)), h("p", { class: "sf-said" }, value.said));

  window.sssdDemo.saguaroFigures = (element, props, watch) => {
    const panels = h("div", { class: "sf-panels" });
    const charts = h("div", { class: "rv-charts" });
    const times = h("div", { class: "sf-tables" });
    const lower = h("div", { class: "sf-lower" }, charts, times);
    const notes = h("div", { class: "rv-notes" });
    const drawn = [];
    element.classList.add("saguaro-figures", "roof-view");
    element.replaceChildren(panels, lower, notes);

    function render() {
      const value = props.value;
      element.hidden = !value?.panels?.length;
      if (element.hidden) return;
      panels.replaceChildren(...value.panels.map(panel));
      while (drawn.length < value.charts.length) drawn.push(rooflineChart());
      charts.replaceChildren(...value.charts.map((_, at) => drawn[at].element));
      value.charts.forEach((chart, at) => drawn[at].draw(chart));
      times.replaceChildren(...value.tables.map(dataTable));
      notes.replaceChildren(...value.notes.map((note) => h("p", {}, note)));
    }

    render();
    watch("value", render);
  };
})();
