// Figures with what they are, and tables. All text goes in as text.
(() => {
  const { h, moreCue } = window.sssdDemo;

  // [[number, what it is]] as the parts of a <dl class="facts">.
  const factsOf = (values) => (values ?? []).map(([number, label]) => h("div", {}, h("dd", {}, number), h("dt", {}, label)));

  // A cell that begins with an address becomes a link and what is said of it.
  function cell(text, first) {
    if (first) return h("th", { scope: "row" }, text);
    if (!text.startsWith("https://")) return h("td", {}, text);
    const [address, ...said] = text.split(" ");
    return h("td", { class: "rv-source" }, h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, new URL(address).host), ` ${said.join(" ")}`);
  }

  // {head, rows, title?} as a table that can be scrolled sideways.
  function dataTable(value) {
    const head = h("tr", {}, ...value.head.map((text) => h("th", { scope: "col" }, text)));
    const rows = value.rows.map((row) => h("tr", {}, ...row.map((text, at) => cell(text, at === 0))));
    const whole = h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows));
    const scroll = h("div", { class: "rv-scroll", tabindex: "0", role: "region", "aria-label": value.title ?? value.head[0] }, whole);
    return moreCue(window.sssdDemo.words, scroll, "rv-frame").frame;
  }

  Object.assign(window.sssdDemo, { factsOf, dataTable });
})();
