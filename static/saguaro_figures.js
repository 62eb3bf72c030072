// Bars and curves about a speculation cache; see saguaro_figures.py for the value. All text goes in as text.
(() => {
  const { h, moreCue, rooflineChart } = window.sssdDemo;

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

  function table(value) {
    const cells = (row, tag) => row.map((text, at) => (at ? h(tag, {}, text) : h("th", { scope: "row" }, text)));
    const head = h("tr", {}, ...value.head.map((text) => h("th", { scope: "col" }, text)));
    const whole = h("table", {}, h("thead", {}, head), h("tbody", {}, ...value.rows.map((row) => h("tr", {}, ...cells(row, "td")))));
    const scroll = h("div", { class: "rv-scroll", tabindex: "0", role: "region", "aria-label": value.head[0] }, whole);
    return moreCue(window.sssdDemo.words, scroll, "sf-frame").frame;
  }

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
      times.replaceChildren(...value.tables.map(table));
      notes.replaceChildren(...value.notes.map((note) => h("p", {}, note)));
    }

    render();
    watch("value", render);
  };
})();
