// What a store is made of: one block a sub-index, wide by its tokens; kinds differ by letter and pattern.
(() => {
  const { h, fill } = window.sssdDemo;
  const KINDS = ["full", "growing", "tail"];
  const LETTERS = { full: "F", growing: "G", tail: "N" };
  const number = (n) => n.toLocaleString("en");

  function block(words, [kind, letter, tokens, documents]) {
    const title = fill(words["store.view.segment"], { kind: words[`store.view.${kind}`], tokens: number(tokens), documents: number(documents) });
    // Widths grow with the square root: a newest one of a few tokens must still be seen beside full ones.
    return h(
      "li",
      { class: `sm-block sm-${kind}`, style: `flex-grow: ${Math.sqrt(tokens + 1).toFixed(1)}`, title, "aria-label": title },
      h("b", {}, letter),
      h("span", {}, number(tokens)),
    );
  }

  const legend = (words) =>
    h(
      "p",
      { class: "sm-legend" },
      ...KINDS.map((kind) => h("span", {}, h("i", { class: `sm-key sm-${kind}`, "aria-hidden": "true" }, LETTERS[kind]), ` ${words[`store.view.${kind}`]}`)),
    );

  // A picture with `draw(value)`; see `datastore_map.py`.
  function mapPicture(words) {
    const blocks = h("ul", { class: "sm-blocks", "aria-label": words["store.view.map"] });
    const empty = h("p", { class: "sm-empty" }, words["store.view.map_empty"]);
    const notes = h("p", { class: "sm-notes" });
    const events = h("ol", { class: "sm-events", tabindex: "0", "aria-label": words["store.view.events"] });
    const element = h(
      "div",
      { class: "store-map" },
      h("h4", {}, words["store.view.map"]),
      blocks,
      empty,
      legend(words),
      notes,
      h("details", { class: "sm-why" }, h("summary", {}, words["store.view.map_why"]), words["store.view.map_hint"]),
      h("h4", {}, words["store.view.events"]),
      events,
    );
    return {
      element,
      draw(value) {
        blocks.replaceChildren(...value.segments.map((segment) => block(words, segment)));
        blocks.hidden = !value.segments.length;
        empty.hidden = !blocks.hidden;
        notes.textContent = value.notes.join(" · ");
        const lines = value.events.length ? value.events : [words["store.view.no_events"]];
        events.replaceChildren(...lines.map((line) => h("li", {}, line)));
      },
    };
  }

  window.sssdDemo.mapPicture = mapPicture;
  window.sssdDemo.storeMap = (element, props, watch) => {
    const picture = mapPicture(window.sssdDemo.words);
    element.replaceChildren(picture.element);
    const render = () => picture.draw(props.value);
    render();
    watch("value", render);
  };
})();
