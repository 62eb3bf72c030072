// The strip under an answer: three big figures, the counts behind them, one sentence.
(() => {
  const { h } = window.sssdDemo;

  window.sssdDemo.figures = (element, props, watch) => {
    element.classList.add("figures");
    const main = h("dl", { class: "fg-main" });
    const verdict = h("p", { class: "fg-verdict" });
    const counts = h("p", { class: "fg-counts" });
    const badge = h("span", { class: "av-badge" }, window.sssdDemo.words["view.recorded"]);
    element.replaceChildren(badge, main, h("div", { class: "fg-words" }, verdict, counts));

    function render() {
      const value = props.value;
      element.hidden = !value;
      if (!value) return;
      badge.hidden = !value.recorded;
      main.replaceChildren(...value.main.map(([number, label]) => h("div", {}, h("dd", {}, number), h("dt", {}, label))));
      verdict.textContent = value.verdict;
      counts.textContent = value.counts;
    }

    render();
    watch("value", render);
  };
})();
