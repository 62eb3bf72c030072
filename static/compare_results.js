// What a comparison came to: whether texts are the same, a table, three pictures with a sentence under each.
(() => {
  const { h, s, fill, moreCue } = window.sssdDemo;
  const PLACES = 8;
  const SPARK = { width: 8, gap: 2, height: 18 };
  const MARKS = { same: "✓", tie: "≈", differs: "≠", law: "~" };

  const percent = (share) => `${Math.round(100 * share)} %`;

  const placeText = (words, place, [drafted, accepted]) =>
    `${fill(words["view.compare.place"], { n: place + 1, accepted, drafted })} (${percent(accepted / drafted)})`;

  // Small bars for a table's cell: the share of right guesses 1, 2, … tokens ahead.
  function spark(words, places) {
    if (!places.length) return h("span", { class: "cr-quiet" }, "–");
    const step = SPARK.width + SPARK.gap;
    const label = places.map((each, place) => placeText(words, place, each)).join("; ");
    return s("svg", { class: "cr-spark", role: "img", "aria-label": label, width: PLACES * step, height: SPARK.height + 1 },
      s("title", {}, label),
      s("line", { class: "cr-base", x1: 0, x2: PLACES * step, y1: SPARK.height + 0.5, y2: SPARK.height + 0.5 }),
      ...places.map(([drafted, accepted], place) => {
        const height = Math.max(1, (accepted / drafted) * SPARK.height);
        return s("rect", { class: "cr-share", x: place * step, y: SPARK.height - height, width: SPARK.width, height });
      }));
  }

  function table(words, value) {
    const cell = (row, parts, column) => {
      if (column === 0) return h("th", { scope: "row" }, parts[0]);
      if (!parts.length) return h("td", {}, spark(words, row.places));
      return h("td", {}, h("span", {}, parts[0]), parts[1] ? h("small", {}, parts[1]) : null);
    };
    return h("table", { class: "cr-table" },
      h("thead", {}, h("tr", {}, value.columns.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, value.rows.map((row) => h("tr", { class: row.plain ? "is-plain" : null }, row.cells.map((parts, column) => cell(row, parts, column))))));
  }

  // One bar a method; whiskers are quartiles. The yardstick's bar is hollow, and a line from its end crosses the others.
  function bars(picture) {
    const most = Math.max(1e-9, ...picture.bars.map((bar) => bar.high ?? bar.value ?? 0));
    const plain = picture.bars.find((bar) => bar.plain)?.value ?? null;
    const part = (value) => `${((100 * value) / most).toFixed(2)}%`;
    return h("div", { class: "cr-bars" }, picture.bars.map((bar) => {
      const track = h("div", { class: "cr-track" });
      if (bar.value !== null) track.append(h("i", { class: bar.plain ? "cr-bar is-plain" : "cr-bar", style: `width:${part(bar.value)}` }));
      if (bar.low !== null) track.append(h("i", { class: "cr-whisker", style: `left:${part(bar.low)};width:${part(bar.high - bar.low)}` }));
      if (plain !== null && !bar.plain) track.append(h("i", { class: "cr-yardstick", style: `left:${part(plain)}` }));
      return h("div", { class: "cr-row" }, h("span", { class: "cr-name" }, bar.name), track, h("b", { class: "cr-value" }, bar.text));
    }));
  }

  // A small picture for each method, all to one scale.
  function multiples(words, picture) {
    return h("div", { class: "cr-multiples" }, picture.lanes.map((lane) => {
      const columns = lane.places.map(([drafted, accepted], place) => h("div", { class: "cr-column", title: placeText(words, place, [drafted, accepted]) },
        h("span", { class: "cr-percent" }, Math.round((100 * accepted) / drafted)),
        h("div", { class: "cr-well" }, h("i", { style: `height:${((100 * accepted) / drafted).toFixed(1)}%` })),
        h("span", { class: "cr-place" }, place + 1)));
      const label = lane.places.map((each, place) => placeText(words, place, each)).join("; ");
      return h("figure", { class: "cr-multiple" }, h("figcaption", {}, lane.name),
        columns.length ? h("div", { class: "cr-columns", role: "img", "aria-label": label }, columns) : h("p", { class: "cr-quiet" }, words["view.compare.no_guesses"]));
    }));
  }

  window.sssdDemo.compareResults = (element, props, watch) => {
    const { words } = window.sssdDemo;
    element.classList.add("compare-results");
    const notes = h("ul", { class: "cr-notes" });
    const same = h("p", { class: "cr-same", role: "status" });
    const scroll = h("div", { class: "cr-scroll", tabindex: "0", role: "region", "aria-label": words["view.compare.scroll"] });
    const cue = moreCue(words, scroll, "cr-frame");
    const about = h("p", { class: "cr-about" });
    const rule = h("p", { class: "cr-about" });
    const panel = (title) => {
      const picture = h("div", {});
      const verdict = h("p", { class: "cr-verdict" });
      return { picture, verdict, element: h("section", { class: "cr-panel" }, h("h3", {}, title), picture, verdict) };
    };
    const speed = panel(words["view.compare.speed_title"]);
    const forward = panel(words["view.compare.forward_title"]);
    const places = panel(words["view.compare.places_title"]);
    const panels = h("div", { class: "cr-panels" }, speed.element, forward.element, places.element);
    element.replaceChildren(same, notes,
      h("section", { class: "cr-figures" }, h("h3", {}, words["view.compare.table"]), cue.frame, about, rule),
      panels);

    function render() {
      const value = props.value;
      element.hidden = !value;
      if (!value) return;
      same.dataset.mark = MARKS[value.same.state];
      same.dataset.state = value.same.state;
      same.textContent = value.same.text;
      notes.replaceChildren(...value.notes.map((note) => h("li", {}, note)));
      notes.hidden = !value.notes.length;
      scroll.replaceChildren(table(words, value));
      about.textContent = value.about;
      rule.textContent = value.rule;
      speed.picture.replaceChildren(bars(value.speed));
      speed.verdict.textContent = value.speed.verdict;
      forward.picture.replaceChildren(bars(value.forward));
      forward.verdict.textContent = value.forward.verdict;
      places.picture.replaceChildren(multiples(words, value.places));
      places.verdict.textContent = value.places.verdict;
      panels.classList.toggle("is-many", value.places.lanes.length > 2); // a row of their own for the small pictures
      cue.check();
    }

    render();
    watch("value", render);
  };
})();
