// A part of the Roofline tab: what is happening, figures, one sentence, a table, pictures, notes. All text comes with
// the value and goes in as text; two stars around words make them bold.
(() => {
  const { h, moreCue, rooflineChart } = window.sssdDemo;

  const rich = (text) => text.split("**").map((part, at) => (at % 2 ? h("b", {}, part) : part));

  // A cell that begins with an address becomes a link and what is said of it.
  function cell(text, first) {
    const tag = first ? "th" : "td";
    if (!text.startsWith("https://")) return h(tag, first ? { scope: "row" } : {}, text);
    const [address, ...said] = text.split(" ");
    return h(tag, { class: "rv-source" }, h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, new URL(address).host), ` ${said.join(" ")}`);
  }

  function table(value) {
    const head = h("tr", {}, ...value.head.map((text) => h("th", { scope: "col" }, text)));
    const rows = value.rows.map((row) => h("tr", {}, ...row.map((text, at) => cell(text, at === 0))));
    const whole = h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows));
    const scroll = h("div", { class: "rv-scroll", tabindex: "0", role: "region", "aria-label": value.title ?? value.head[0] }, whole);
    return moreCue(window.sssdDemo.words, scroll, "rv-frame").frame;
  }

  window.sssdDemo.rooflineView = (element, props, watch) => {
    element.classList.add("roof-view");
    const told = h("div", { class: "visually-hidden", role: "status" });
    const now = h("p", { class: "rv-now" });
    const bar = h("progress", { class: "rv-progress", max: 1 });
    const facts = h("dl", { class: "sg-counts" });
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
      facts.replaceChildren(...(value.facts ?? []).map(([number, label]) => h("div", {}, h("dd", {}, number), h("dt", {}, label))));
      facts.hidden = !value.facts?.length;
      said.textContent = value.said ?? "";
      said.hidden = !value.said;
      const titled = value.table?.title;
      choices.replaceChildren(...(value.table && !titled ? [table(value.table)] : []));
      details.hidden = !titled;
      if (titled) {
        title.textContent = titled;
        figures.replaceChildren(table(value.table));
      }
      notes.replaceChildren(...(value.notes ?? []).map((note) => h("p", {}, ...rich(note))));
      grid.hidden = !value.charts?.length;
      drawCharts(value.charts ?? []);
    }

    render();
    watch("value", render);
  };
})();
