// Drafter and target as bars on one clock: drafting in turn above preparing ahead. See saguaro_picture.py for a lane.
// Kinds of work are told apart by place, height and pattern as well as by colour.
(() => {
  const { h, s, fill, moreCue } = window.sssdDemo;
  const LABEL = 26; // room for D and T
  const ROW = 20;
  const HEAD = 20; // room for a lane's name
  const GAP = 12;
  const AXIS = 18;
  const LEAST_ROUND = 34; // pixels for a round before the picture scrolls
  const ZOOM = 1.6;

  const kinds = ["v", "d", "p", "l", "w", "n"];

  function legend(words) {
    const sample = (kind) => s("svg", { width: 22, height: 12, "aria-hidden": "true" }, s("rect", { class: `st-bar st-${kind}`, x: 1, y: 1, width: 20, height: 10, rx: 2 }));
    const mark = (hit) => s("svg", { width: 14, height: 12, "aria-hidden": "true" }, s("circle", { class: `st-hand is-${hit ? "hit" : "miss"}`, cx: 7, cy: 6, r: 4.5 }));
    return h(
      "p",
      { class: "st-legend" },
      h("span", {}, words["view.sag.who"]),
      ...kinds.map((kind) => h("span", {}, sample(kind), ` ${words[`view.sag.${kind}`]}`)),
      h("span", {}, mark(true), ` ${words["view.sag.hit"]}`),
      h("span", {}, mark(false), ` ${words["view.sag.miss"]}`),
    );
  }

  // `on.open(round)` is called for a click or an arrow key. `draw(clock, rounds)` takes {lanes} and the rounds' summaries.
  window.sssdDemo.saguaroTimeline = (words, on) => {
    const svg = s("svg", { class: "st-svg", "aria-hidden": "true" });
    const scroll = h(
      "div",
      { class: "st-scroll", role: "slider", tabindex: "0", "aria-label": words["view.sag.timeline"], "aria-valuemin": 1, "aria-orientation": "horizontal" },
      svg,
    );
    const more = moreCue(words, scroll, "st-frame");
    const button = (name, sign, by) =>
      h("button", { type: "button", class: "av-button", title: words[name], "aria-label": words[name], onclick: () => zoom(by) }, sign);
    const tools = h("div", { class: "st-tools" }, button("view.sag.narrower", "−", 1 / ZOOM), button("view.sag.wider", "+", ZOOM));
    const empty = h("p", { class: "st-empty" }, words["view.sag.empty"]);
    const element = h("div", { class: "st-timeline" }, h("div", { class: "st-top" }, legend(words), tools), empty, more.frame);
    let clock = null;
    let rounds = [];
    let open = null;
    let scale = 1;
    let wide = 0;

    function zoom(by) {
      const middle = (scroll.scrollLeft + scroll.clientWidth / 2) / Math.max(1, svg.clientWidth);
      scale = Math.min(24, Math.max(1, scale * by));
      redraw();
      scroll.scrollLeft = middle * svg.clientWidth - scroll.clientWidth / 2;
    }

    function bar(item, x, y) {
      const [who, kind, start, end, round] = item;
      const thin = kind === "l" || kind === "n";
      const top = y + (who === "t" ? ROW : 0) + (thin ? 5 : 2);
      const told = fill(words["view.sag.bar"], { what: words[`view.sag.${kind}`], ms: (end - start).toFixed(1), n: round });
      return s(
        "rect",
        { class: `st-bar st-${kind}`, x: x(start), y: top, width: Math.max(0.8, x(end) - x(start) - 0.4), height: ROW - (thin ? 10 : 4), rx: 1.5 },
        s("title", {}, told),
      );
    }

    // What a click on the lane opens: a round's draft, from when it began to be prepared to when it was handed over.
    function stretches(lane, x, y) {
      return lane.hands.map(([round, ms], at) => {
        const since = lane.hands[at - 1]?.[1] ?? 0;
        return s("rect", { class: `st-round${round === open ? " is-open" : ""}`, "data-round": round, x: x(since), y: y - 2, width: Math.max(1, x(ms) - x(since)), height: 2 * ROW + 4 });
      });
    }

    function lane(value, y, x, width) {
      const top = y + HEAD;
      const ahead = value.key === "ahead";
      return s(
        "g",
        { class: `st-lane is-${value.key}` },
        s("text", { class: "st-name", x: 2, y: y + 13 }, value.name, s("tspan", { class: "st-told", dx: 10 }, value.told)),
        s("line", { class: "st-line", x1: LABEL, x2: width, y1: top + ROW, y2: top + ROW }),
        ...(ahead ? stretches(value, x, top) : []),
        ...["drafter", "target"].map((who, at) => s("text", { class: "st-who", x: 6, y: top + at * ROW + 14 }, words[`view.sag.${who}`])),
        ...value.bars.map((item) => bar(item, x, top)),
        ...value.hands
          .filter(([, , hit]) => hit !== null)
          .map(([, ms, hit]) => s("circle", { class: `st-hand is-${hit ? "hit" : "miss"}`, cx: x(ms), cy: top + ROW, r: 4.5 })),
        s("line", { class: "st-end", x1: x(value.total), x2: x(value.total), y1: top - 2, y2: top + 2 * ROW + 2 }),
      );
    }

    function redraw() {
      const lanes = clock?.lanes ?? [];
      empty.hidden = lanes.length > 0;
      more.frame.hidden = !lanes.length;
      tools.hidden = !lanes.length;
      if (!lanes.length) return;
      const last = Math.max(1, ...lanes.map((each) => each.total));
      const most = Math.max(1, ...lanes.map((each) => each.hands.length));
      wide = scroll.clientWidth || wide || 600;
      const width = Math.max(wide, LABEL + most * LEAST_ROUND + 8) * scale;
      const x = (ms) => LABEL + (ms / last) * (width - LABEL - 8);
      const height = lanes.length * (HEAD + 2 * ROW + GAP) + AXIS;
      svg.setAttribute("width", width);
      svg.setAttribute("height", height);
      svg.replaceChildren(
        ...window.sssdDemo.chartTicks(0, last, Math.max(3, Math.round(width / 160))).map((tick) =>
          s("g", {}, s("line", { class: "st-tick", x1: x(tick), x2: x(tick), y1: HEAD, y2: height - AXIS }), s("text", { class: "st-time", x: x(tick), y: height - 5, "text-anchor": tick ? "middle" : "start" }, last > 3000 ? `${tick / 1000} s` : `${tick} ms`)),
        ),
        ...lanes.map((each, at) => lane(each, at * (HEAD + 2 * ROW + GAP), x, width)),
      );
      more.check();
      mark();
    }

    function mark() {
      for (const each of svg.querySelectorAll(".st-round")) each.classList.toggle("is-open", Number(each.dataset.round) === open);
      const all = rounds.map((round) => round.n);
      scroll.setAttribute("aria-valuemax", Math.max(1, ...all));
      scroll.setAttribute("aria-valuenow", open ?? 1);
      const round = rounds.find((each) => each.n === open);
      scroll.setAttribute("aria-valuetext", round ? round.said : words["view.sag.cache_none"]);
    }

    scroll.addEventListener("click", (event) => {
      const found = event.target.closest?.(".st-round");
      if (found) return on.open(Number(found.dataset.round));
      const under = document.elementsFromPoint(event.clientX, event.clientY).find((each) => each.classList.contains("st-round"));
      if (under) on.open(Number(under.dataset.round));
    });
    scroll.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      const at = rounds.findIndex((round) => round.n === open);
      const goal = event.key === "Home" ? 0 : event.key === "End" ? rounds.length - 1 : step ? at + step : null;
      if (goal === null || !rounds[goal]) return;
      event.preventDefault();
      on.open(rounds[goal].n);
    });
    new ResizeObserver(() => scroll.clientWidth && scroll.clientWidth !== wide && redraw()).observe(scroll);

    return {
      element,
      draw(newClock, newRounds) {
        const atEnd = scroll.scrollWidth - scroll.scrollLeft - scroll.clientWidth < 40;
        clock = newClock;
        rounds = newRounds;
        redraw();
        if (atEnd && scale === 1) scroll.scrollLeft = scroll.scrollWidth;
      },
      open(round) {
        open = round;
        mark();
        const found = svg.querySelector(".st-round.is-open")?.getBoundingClientRect();
        const frame = scroll.getBoundingClientRect();
        if (found && (found.left < frame.left || found.right > frame.right)) scroll.scrollLeft += found.left - frame.left - frame.width / 3;
      },
    };
  };
})();
