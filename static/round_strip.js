// One bar a round. Above the line: the tokens it appended. Below: the drafts that were for nothing, drawn smaller where
// they are many, since what was won must stay visible.
(() => {
  const { h, s } = window.sssdDemo;
  const HEIGHT = 56;
  const GAP = 2;
  const APART = 6; // between the bar of the prompt and the others
  const MARKS = 11; // room below the bars for whether a draft had been prepared ahead
  const MOST_BELOW = 0.4; // share of the height for drafts that were for nothing

  function layout(rounds, width) {
    const up = Math.max(1, ...rounds.map((round) => round.committed.length));
    const down = Math.max(0, ...rounds.map((round) => round.count("rejected") + round.count("ignored") + round.withheld));
    const below = Math.min(12, (HEIGHT * MOST_BELOW) / Math.max(1, down));
    const unit = Math.min(12, (HEIGHT - 4 - down * below) / up);
    const step = Math.max(6, Math.min(20, (width - APART) / Math.max(1, rounds.length)));
    const marks = rounds.some((round) => round.cache) ? MARKS : 0;
    return { unit, below: Math.min(unit, below), step, line: up * unit + 2, height: up * unit + down * below + 4 + marks };
  }

  const left = (index, place) => index * place.step + (index ? APART : 0);

  function bar(round, place, summary) {
    const x = left(round.index, place);
    const width = place.step - GAP;
    const group = s("g", { class: "rs-bar", "data-round": round.index }, s("title", {}, summary(round)));
    let y = place.line;
    const part = (count, name, upwards) => {
      if (!count) return;
      const height = count * (upwards ? place.unit : place.below);
      if (upwards) y -= height;
      group.append(s("rect", { class: `rs-${name}`, x: x + 0.5, y, width, height: Math.max(1, height - 1), rx: 1 }));
      if (!upwards) y += height;
    };
    const kept = round.committed.filter((token) => token.fate === "accepted").length;
    part(kept, "accepted", true);
    part(round.committed.length - kept, round.bonus.fate, true);
    y = place.line + 1;
    part(round.count("rejected"), "rejected", false);
    part(round.count("ignored"), "ignored", false);
    part(round.withheld, "withheld", false);
    if (round.cache && round.cache.state !== "first") {
      const hit = round.cache.state === "hit";
      group.append(s("circle", { class: `rs-cache is-${hit ? "hit" : "miss"}`, cx: x + place.step / 2, cy: place.height - MARKS / 2, r: Math.min(3.2, width / 2) }));
    }
    group.append(s("rect", { class: "rs-hit", x, y: 0, width: place.step, height: place.height }));
    return group;
  }

  // The one the bars stand on, and one between the prompt's bar and the others.
  const lines = (width, place) => [
    s("line", { class: "rs-line", x1: 0, x2: width, y1: place.line + 0.5, y2: place.line + 0.5 }),
    s("line", { class: "rs-apart", x1: place.step + 2.5, x2: place.step + 2.5, y1: 0, y2: place.height }),
  ];

  // `on.open(index)` is called for a click or an arrow key.
  window.sssdDemo.roundStrip = (words, summary, on) => {
    const svg = s("svg", { class: "rs-svg", "aria-hidden": "true" });
    const element = h(
      "div",
      { class: "rs-scroll", role: "slider", tabindex: "0", "aria-label": words["view.rounds"], "aria-valuemin": 0 },
      svg,
    );
    let model = null;
    let shown = 0;
    let open = null;

    element.addEventListener("click", (event) => {
      const found = event.target.closest?.(".rs-bar");
      if (found) on.open(Number(found.dataset.round));
    });
    element.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      const goal = event.key === "Home" ? 0 : event.key === "End" ? shown - 1 : step ? (open ?? 0) + step : null;
      if (goal === null || goal < 0 || goal >= shown) return;
      event.preventDefault();
      on.open(goal);
    });

    function mark() {
      for (const group of svg.querySelectorAll(".rs-bar")) {
        group.classList.toggle("is-open", Number(group.dataset.round) === open);
      }
      const round = model?.rounds[open];
      element.setAttribute("aria-valuenow", open ?? 0);
      element.setAttribute("aria-valuetext", round ? summary(round) : words["view.no_round"]);
    }

    return {
      element,
      draw(newModel, count) {
        model = newModel;
        shown = model ? count : 0;
        const rounds = model ? model.rounds.slice(0, shown) : [];
        const atEnd = element.scrollWidth - element.scrollLeft - element.clientWidth < 40;
        const place = layout(rounds, element.clientWidth || 600);
        const width = Math.max(1, left(rounds.length, place));
        svg.setAttribute("width", width);
        svg.setAttribute("height", Math.max(24, place.height));
        svg.replaceChildren(
          ...rounds.map((round) => bar(round, place, summary)),
          ...(shown ? lines(width, place) : []),
        );
        element.setAttribute("aria-valuemax", Math.max(0, shown - 1));
        if (atEnd) element.scrollLeft = element.scrollWidth;
        mark();
      },
      open(index) {
        open = index;
        mark();
        const bar = svg.querySelector(".is-open")?.getBoundingClientRect();
        const frame = element.getBoundingClientRect();
        if (bar && (bar.left < frame.left || bar.right > frame.right)) {
          element.scrollLeft += bar.left - frame.left - frame.width / 2;
        }
      },
    };
  };
})();
