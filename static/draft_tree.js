// The draft tree of one round: columns are positions, nodes are tokens, the accepted path is drawn strong.
(() => {
  const { h, s, roving, moreCue, visible, withheldGuesses, besideTree, ROOT } = window.sssdDemo;
  const CHARACTER = 7.3; // width of one letter of the monospace face at the size used here
  const ROW = 34;
  const BOX = 24;
  const MARK = 20; // room for the source's shape and letter
  const EDGE = 46; // room between columns for an edge and its probability
  const LONGEST = 16;
  const CUE = 64; // what the sign for "more" covers at the frame's right
  const BORDER = 10; // padding and lines of the frame, above and below together

  const short = (text) => ([...text].length > LONGEST ? [...text].slice(0, LONGEST - 1).join("") + "…" : text);
  const wide = (text) => [...text].reduce((width, c) => width + (c.codePointAt(0) > 0x2e7f ? 2 : 1), 0) * CHARACTER;

  // Source by shape as well as letter: circle P, square O, diamond D, triangle R, hexagon M, plain letter J.
  const SHAPES = {
    P: (x, y) => s("circle", { cx: x, cy: y, r: 7.5 }),
    O: (x, y) => s("rect", { x: x - 7, y: y - 7, width: 14, height: 14, rx: 2 }),
    D: (x, y) => s("polygon", { points: `${x},${y - 9} ${x + 9},${y} ${x},${y + 9} ${x - 9},${y}` }),
    R: (x, y) => s("polygon", { points: `${x},${y - 9.5} ${x + 9.5},${y + 7} ${x - 9.5},${y + 7}` }),
    M: (x, y) => s("polygon", { points: `${x - 4.5},${y - 8} ${x + 4.5},${y - 8} ${x + 9},${y} ${x + 4.5},${y + 8} ${x - 4.5},${y + 8} ${x - 9},${y}` }),
    J: () => s("g", {}),
  };

  function sourceMark(letter, x, y) {
    return s(
      "g",
      { class: "dt-source" },
      SHAPES[letter](x, y),
      s("text", { x, y: y + (letter === "R" ? 5 : 3.5), "text-anchor": "middle" }, letter),
    );
  }

  // Items with a row (by leaves, best child first) and the column of their depth.
  function layout(round, rootLabel) {
    const items = round.nodes.map((node) => ({ ...node, label: short(visible(node.piece)), children: [] }));
    const root = { kind: "root", depth: 0, label: short(rootLabel), children: [] };
    for (const item of items) (item.parent === ROOT ? root : items[item.parent]).children.push(item);
    if (round.hasBonus) {
      const end = round.path.length ? items[round.path.at(-1).node] : root;
      end.children.push({ ...round.bonus, label: short(visible(round.bonus.piece)), children: [] });
    }
    const rank = { accepted: 0, bonus: 1, plain: 1, rejected: 2, ignored: 3 };
    let row = 0;
    const all = [];
    (function place(item) {
      all.push(item);
      item.children.sort((a, b) => rank[a.fate] - rank[b.fate] || b.prob - a.prob);
      item.row = row;
      item.children.forEach((child, index) => {
        if (index) row += 1;
        place(child);
      });
    })(root);
    const widths = [];
    for (const item of all) {
      const width = wide(item.label) + 18 + (item.kind === "node" ? MARK : item.fate === "bonus" ? 12 : 0);
      widths[item.depth] = Math.max(widths[item.depth] ?? 0, width);
      item.width = width;
    }
    const columns = [];
    widths.reduce((x, width, depth) => ((columns[depth] = x), x + width + EDGE), 6);
    for (const item of all) {
      item.x = columns[item.depth];
      item.y = item.row * ROW + 20;
    }
    return { all, root, columns, width: columns.at(-1) + widths.at(-1) + 8, height: (row + 1) * ROW + 10 };
  }

  function edge(from, to) {
    const x0 = from.x + from.width;
    const middle = x0 + 12;
    const bend = to.y === from.y ? "" : `H${middle} V${to.y} `;
    const strong = ["accepted", "bonus", "plain"].includes(to.fate);
    return s(
      "g",
      { class: `dt-edge dt-${to.fate}` },
      s("path", { d: `M${x0},${from.y} ${bend}H${to.x}`, class: strong ? "is-strong" : "" }),
      s("text", { x: to.x - 6, y: to.y - 4, "text-anchor": "end" }, probability(to.prob)),
      to.letter === "M" ? s("text", { x: to.x - 6, y: to.y + 12, "text-anchor": "end" }, `q ${probability(to.score)}`.replace(" <", "<")) : null,
    );
  }

  const probability = (p) => (p >= 0.995 ? "1.0" : p < 0.005 ? "<.01" : p.toFixed(2).slice(1));

  const VERDICTS = { accepted: "✓", rejected: "×", bonus: "+", plain: "", ignored: "" };

  function box(item, describe) {
    const marked = item.kind === "node";
    const left = item.x + (marked ? MARK + 7 : 9);
    const plus = item.fate === "bonus" ? "+ " : "";
    const group = s(
      "g",
      {
        class: `dt-node dt-${item.kind === "root" ? "root" : item.fate}`, role: "option", tabindex: "-1",
        "aria-label": item.kind === "root" ? item.label : describe(item), "data-node": item.node ?? "root",
      },
      s("rect", { class: "dt-box", x: item.x, y: item.y - BOX / 2, width: item.width, height: BOX, rx: 5 }),
      item.fate === "bonus"
        ? s("rect", { class: "dt-inner", x: item.x + 2.5, y: item.y - BOX / 2 + 2.5, width: item.width - 5, height: BOX - 5, rx: 3 })
        : null,
      marked ? sourceMark(item.letter, item.x + 14, item.y) : null,
      s("text", { class: "dt-label", x: left, y: item.y + 4.5 }, plus + item.label),
    );
    if (VERDICTS[item.fate] && item.fate !== "bonus") {
      group.append(
        s("text", { class: "dt-verdict", x: item.x + item.width - 4, y: item.y - BOX / 2 + 4, "text-anchor": "middle" }, VERDICTS[item.fate]),
      );
    }
    return group;
  }

  // `on.point(node | null)` follows hover and focus, `on.pick(node)` a click.
  window.sssdDemo.draftTree = (words, describe, on) => {
    const svg = s("svg", { class: "dt-svg", role: "listbox", "aria-label": words["view.tree"] });
    const note = h("p", { class: "dt-note" });
    const scroll = h("div", { class: "dt-scroll" }, svg, note);
    const { frame: element, check: cut } = moreCue(words, scroll, "dt-frame");
    let items = new Map();
    let drawn = "";
    let answer = "";
    let tallest = 0;
    let checked = null; // the token whose test is being looked at

    // A large tree gets room; its frame never shrinks within an answer, so that stepping through it moves nothing.
    function makeRoom(key, height) {
      tallest = Math.max(height, key === answer ? tallest : 0);
      answer = key;
      element.style.setProperty("--tree-height", `${tallest + BORDER}px`);
    }

    function markChecked() {
      svg.querySelectorAll(".is-checked").forEach((item) => item.classList.remove("is-checked"));
      const item = checked && svg.querySelector(`[data-node="${checked.node}"]`);
      item?.classList.add("is-checked");
      return item;
    }

    // Moves the tree within its frame, and nothing else of the page.
    function bringIntoSight(item) {
      const [box, frame] = [item.getBoundingClientRect(), scroll.getBoundingClientRect()];
      if (box.left < frame.left || box.right > frame.right - CUE) scroll.scrollLeft += box.left - frame.left - frame.width / 2;
      if (box.top < frame.top || box.bottom > frame.bottom) scroll.scrollTop += box.top - frame.top - frame.height / 2;
    }

    const pointed = (event) => event.target.closest?.(".dt-node");
    svg.addEventListener("pointerover", (event) => pointed(event) && on.point(items.get(pointed(event)) ?? null));
    svg.addEventListener("pointerleave", () => on.point(null));
    svg.addEventListener("focusin", (event) => pointed(event) && on.point(items.get(pointed(event)) ?? null));
    svg.addEventListener("click", (event) => {
      const item = pointed(event) && items.get(pointed(event));
      on.point(item || null);
      if (item) on.pick(item);
    });
    roving(svg, () => [...svg.querySelectorAll(".dt-node")], () => {});

    return {
      element,
      draw(model, index) {
        const round = model?.rounds[index];
        svg.replaceChildren();
        items = new Map();
        note.textContent = "";
        const place = `${model?.key} ${index}`;
        if (place !== drawn) scroll.scrollTop = scroll.scrollLeft = 0; // what was looked at is in another tree
        drawn = place;
        if (!round) {
          note.textContent = words["view.no_round"];
          svg.setAttribute("height", 0);
          svg.setAttribute("width", 0);
          cut();
          return;
        }
        const before = round.start ? model.answer[round.start - 1] : model.prompt.at(-1);
        const tree = layout(round, before ? visible(before.piece) : words["view.root"]);
        svg.setAttribute("width", tree.width);
        svg.setAttribute("height", tree.height);
        makeRoom(model.key, tree.height);
        for (const item of tree.all) svg.append(...item.children.map((child) => edge(item, child)));
        for (const item of tree.all) {
          const element = box(item, describe);
          items.set(element, item.kind === "root" ? null : (round.nodes[item.node] ?? round.bonus));
          svg.append(element);
        }
        svg.querySelector(".dt-node")?.setAttribute("tabindex", "0");
        if (round.withheld) note.textContent = withheldGuesses(words, round);
        else if (round.beside) note.textContent = besideTree(words, round);
        else if (!round.nodes.length) note.textContent = words[index === 0 ? "view.prefill" : "view.no_drafts"];
        else if (!round.hasBonus) note.textContent = words["view.cut"];
        if (checked?.round === index) markChecked();
        cut();
      },
      mark(token) {
        svg.querySelectorAll(".is-pointed").forEach((item) => item.classList.remove("is-pointed"));
        if (!token || token.node === undefined || token.node === ROOT) return;
        svg.querySelector(`[data-node="${token.node}"]`)?.classList.add("is-pointed");
      },
      check(token) {
        checked = token;
        const item = markChecked();
        if (item) bringIntoSight(item);
      },
    };
  };
})();
