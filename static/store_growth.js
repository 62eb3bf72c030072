// A store that fills while the model answers: what is happening, figures, curve, map and events, one sentence.
(() => {
  const { h, factsOf, storeChart, mapPicture } = window.sssdDemo;

  window.sssdDemo.storeGrowth = (element, props, watch) => {
    const { words } = window.sssdDemo;
    element.classList.add("store-growth");
    const now = h("p", { class: "sg-now" });
    const counts = h("dl", { class: "facts" });
    const chart = storeChart(words);
    const picture = mapPicture(words);
    const verdict = h("p", { class: "sg-verdict" });
    // Told to screen readers when something begins or ends, not at every conversation.
    const told = h("div", { class: "visually-hidden", role: "status" });
    element.replaceChildren(
      told,
      now,
      counts,
      h("div", { class: "sg-columns" }, h("div", { class: "sg-curve" }, h("h4", {}, words["store.view.chart"]), chart.element, verdict), picture.element),
    );

    function render() {
      const value = props.value;
      if (!value) return;
      if (element.dataset.phase !== value.phase) told.textContent = `${value.now} ${value.verdict}`;
      element.dataset.phase = value.phase;
      now.textContent = value.now;
      counts.replaceChildren(...factsOf(value.counts));
      verdict.textContent = value.verdict;
      chart.draw(value.curve, value.verdict);
      picture.draw(value.map);
    }

    render();
    watch("value", render);
  };
})();
