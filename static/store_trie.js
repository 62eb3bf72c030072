// The tree that the samples of a lookup make, in the look of a draft tree; a node's number counts its samples.
(() => {
  const { h, s, fill, roving, moreCue, visible, ROOT } = window.sssdDemo;
  const CHARACTER = 7.3;
  const ROW = 32;
  const BOX = 23;
  const EDGE = 44;
  const LONGEST = 16;
  const short = (text) => ([...text].length > LONGEST ? [...text].slice(0, LONGEST - 1).join("") + "…" : text);
  const wide = (text) => [...text].reduce((width, c) => width + (c.codePointAt(0) > 0x2e7f ? 2 : 1), 0) * CHARACTER + 16;

  function layout(tree) {
    const items = tree.tokens.map((piece, at) => ({ label: short(visible(piece)), count: tree.counts[at], depth: 0, children: [] }));
    const root = { label: short(tree.root.map(visible).join("")), depth: 0, children: [] };
    items.forEach((item, at) => {
      const parent = tree.parents[at] === ROOT ? root : items[tree.parents[at]];
      item.depth = parent.depth + 1;
      parent.children.push(item);
    });
    let row = 0;
    (function place(item) {
      item.row = row;
      item.children.forEach((child, at) => {
        if (at) row += 1;
        place(child);
      });
    })(root);
    const all = [root, ...items];
    const widths = [];
    for (const item of all) widths[item.depth] = Math.max(widths[item.depth] ?? 0, (item.width = wide(item.label)));
    const columns = [];
    widths.reduce((x, width, depth) => ((columns[depth] = x), x + width + EDGE), 4);
    for (const item of all) Object.assign(item, { x: columns[item.depth], y: item.row * ROW + 18 });
    return { all, width: columns.at(-1) + widths.at(-1) + 6, height: (row + 1) * ROW + 6 };
  }

  function edge(from, to) {
    const start = from.x + from.width;
    const bend = to.y === from.y ? "" : `H${start + 12} V${to.y} `;
    return s(
      "g",
      { class: "dt-edge" },
      s("path", { d: `M${start},${from.y} ${bend}H${to.x}`, style: `stroke-width: ${(1 + Math.log2(to.count + 1) / 2).toFixed(1)}` }),
      s("text", { x: to.x - 5, y: to.y - 4, "text-anchor": "end" }, to.count),
    );
  }

  const box = (item) =>
    s(
      "g",
      { class: `dt-node ${item.depth ? "dt-plain" : "dt-root"}`, role: "option", tabindex: "-1", "aria-label": item.depth ? `“${item.label}” ${item.count}` : item.label },
      s("rect", { class: "dt-box", x: item.x, y: item.y - BOX / 2, width: item.width, height: BOX, rx: 5 }),
      s("text", { class: "dt-label", x: item.x + 8, y: item.y + 4.5 }, item.label),
    );

  window.sssdDemo.storeTrie = (words) => {
    const svg = s("svg", { class: "dt-svg", role: "listbox", "aria-label": words["store.view.trie"] });
    const hint = h("p", { class: "sl-hint" });
    const shorter = h("p", { class: "sl-hint" });
    const scroll = h("div", { class: "sl-scroll" }, svg);
    const { frame, check } = moreCue(words, scroll, "sl-frame");
    const element = h("div", { class: "sl-trie" }, h("h4", {}, words["store.view.trie"]), shorter, hint, frame);
    roving(svg, () => [...svg.querySelectorAll(".dt-node")], () => {});
    return {
      element,
      draw(value) {
        svg.replaceChildren();
        const key = value.secret ? "store.view.trie_hidden" : value.tree ? "store.view.trie_hint" : "store.view.trie_none";
        hint.textContent = fill(words[key], { n: value.samples });
        const ending = (length) => value.query.pieces.slice(-length).map(visible).join("");
        shorter.textContent = value.shorter?.length ? fill(words["store.view.trie_shorter"], { list: value.shorter.map(ending).join(", ") }) : "";
        frame.hidden = !value.tree;
        if (!value.tree) return;
        const { all, width, height } = layout(value.tree);
        svg.setAttribute("width", width);
        svg.setAttribute("height", height);
        for (const item of all) svg.append(...item.children.map((child) => edge(item, child)));
        svg.append(...all.map(box));
        svg.querySelector(".dt-node").setAttribute("tabindex", "0");
        scroll.scrollTop = scroll.scrollLeft = 0;
        check();
      },
    };
  };
})();
