// What a store knows about a few words: how often each ending of them occurs, what follows, where, and the tree of guesses.
(() => {
  const { h, fill, visible, storeTrie } = window.sssdDemo;
  const number = (n) => n.toLocaleString("en");

  const token = (piece, name = "sl-token") => h("span", { class: name }, visible(piece));

  function query(words, { pieces, used, most }) {
    const unused = pieces.length - used;
    return [
      h("b", {}, words["store.view.query"]),
      " ",
      ...pieces.map((piece, at) => token(piece, at < unused ? "sl-token is-unused" : "sl-token is-used")),
      unused ? h("span", { class: "sl-hint" }, ` ${fill(words["store.view.not_used"], { n: most })}`) : null,
    ];
  }

  function bar(label, count, most) {
    const share = (100 * count) / most;
    return h("li", {}, label, h("span", { class: "sl-bar" }, h("i", { style: `width: ${share.toFixed(1)}%` })), h("b", {}, number(count)));
  }

  function followers(words, match) {
    const [otherTokens, otherCount] = match.others;
    const most = Math.max(match.ended, otherCount, ...match.followers.map(([, count]) => count), 1);
    const said = (text) => h("span", { class: "sl-said" }, text);
    return h(
      "ul",
      { class: "sl-bars" },
      ...match.followers.map(([piece, count]) => bar(token(piece), count, most)),
      otherTokens ? bar(said(fill(words["store.view.others"], { n: number(otherTokens) })), otherCount, most) : null,
      match.ended ? bar(said(words["store.view.ended"]), match.ended, most) : null,
    );
  }

  function place(words, found) {
    const [i, d, t] = found.at;
    const [before, matched, after] = found.text.map(visible);
    return h(
      "li",
      {},
      h("span", { class: "sl-at" }, fill(words["store.view.place"], { i: number(i), d: number(d), t: number(t) })),
      h("code", {}, before, h("mark", { class: "is-matched" }, matched), after),
    );
  }

  function places(words, match) {
    return h("ul", { class: "sl-places", "aria-label": words["store.view.places"] }, ...match.places.map((found) => place(words, found)));
  }

  function level(words, match, pieces, open) {
    const length = fill(words[match.length === 1 ? "store.view.length_one" : "store.view.length"], { n: match.length });
    const matched = pieces.slice(pieces.length - match.length).map(visible).join("");
    const often = match.told ?? (match.count ? fill(words["store.view.occurs"], { n: number(match.count) }) : words["store.view.absent"]);
    const head = [h("b", {}, length), " ", h("code", {}, matched), " ", h("span", { class: "sl-often" }, often)];
    if (!match.count) return h("p", { class: "sl-level is-absent" }, ...head);
    return h(
      "details",
      { class: "sl-level", open: open ? "" : null },
      h("summary", {}, ...head),
      match.looked_at < match.count ? h("p", { class: "sl-hint" }, fill(words["store.view.looked_at"], { n: number(match.looked_at) })) : null,
      followers(words, match),
      places(words, match),
    );
  }

  window.sssdDemo.storeLookup = (element, props, watch) => {
    const { words } = window.sssdDemo;
    element.classList.add("store-lookup");
    const asked = h("p", { class: "sl-query" });
    const said = h("p", { class: "sl-verdict", role: "status" });
    const levels = h("div", { class: "sl-levels" });
    const trie = storeTrie(words);
    const columns = h("div", { class: "sl-columns" }, levels, trie.element);
    element.replaceChildren(asked, said, columns);

    function render() {
      const value = props.value;
      said.textContent = value?.said || (value?.query ? "" : words["store.view.look_nothing"]);
      asked.hidden = columns.hidden = !value?.query;
      if (!value?.query) return;
      asked.replaceChildren(...query(words, value.query).filter(Boolean));
      const longest = value.matches.find((match) => match.count);
      levels.replaceChildren(
        h("h4", {}, value.secret ? words["store.view.lengths_shared"] : words["store.view.lengths"]),
        ...value.matches.map((match) => level(words, match, value.query.pieces, match === longest)),
      );
      trie.draw(value);
    }

    render();
    watch("value", render);
  };
})();
