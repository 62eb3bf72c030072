// One method's answer on the clock of the race: a bar for each forward, as wide as it took, as high as what it added.
(() => {
  const { h, s } = window.sssdDemo;
  const HEIGHT = 30;
  const MARK = 5; // height of the row of marks for drafts prepared ahead
  const READING = 3; // height of the bar for reading the prompt, which adds one token

  // [{start, end, accepted, own, plain}] of a lane's rounds, in milliseconds from the start of its first one.
  function momentsOf(model) {
    const zero = model.rounds[0]?.startMs ?? 0;
    return model.rounds.map((round) => {
      const start = round.startMs - zero;
      const accepted = round.committed.filter((token) => token.fate === "accepted").length;
      return {
        start, end: start + round.draftMs + round.verifyMs, accepted,
        own: round.committed.length - accepted, plain: round.bonus.fate === "plain",
        ahead: round.cache && round.cache.state !== "first" ? round.cache.state === "hit" : null,
      };
    });
  }

  // How many rounds were over at `clock` milliseconds. Rounds come in order of time.
  function overAt(moments, clock) {
    let low = 0;
    let high = moments.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (moments[middle].end <= clock) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  const dot = (x, y, r) => `M${(x - r).toFixed(2)} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  const box = (x, y, width, height) => `M${x.toFixed(2)} ${y.toFixed(2)}h${width.toFixed(2)}v${height.toFixed(2)}h${(-width).toFixed(2)}z`;

  window.sssdDemo.compareTrack = () => {
    const paths = Object.fromEntries(["reading", "plain", "own", "accepted", "hit", "miss"].map((name) => [name, s("path", { class: `ct-${name}` })]));
    const later = s("rect", { class: "ct-later", y: 0, height: HEIGHT + 1 });
    const now = s("line", { class: "ct-now", y1: 0, y2: HEIGHT + 1 });
    const svg = s("svg", { class: "ct-svg", height: HEIGHT + 1, "aria-hidden": "true" },
      s("line", { class: "ct-line", x1: 0, x2: "100%", y1: HEIGHT + 0.5, y2: HEIGHT + 0.5 }), ...Object.values(paths), later, now);
    const element = h("div", { class: "ct-track" }, svg);
    let scale = 0;

    return {
      element,
      // `longest` milliseconds fill the width, `most` tokens the height.
      draw(moments, longest, most) {
        const width = element.clientWidth;
        scale = longest ? width / longest : 0;
        const drawn = { reading: "", plain: "", own: "", accepted: "", hit: "", miss: "" };
        svg.setAttribute("height", HEIGHT + 1 + (moments.some((moment) => moment.ahead !== null) ? 2 * MARK : 0));
        const unit = HEIGHT / Math.max(1, most);
        moments.forEach((moment, index) => {
          const x = moment.start * scale;
          const wide = (moment.end - moment.start) * scale;
          const bar = wide > 3 ? wide - 0.8 : wide * 0.85; // a little air between two bars
          if (!index) {
            drawn.reading += box(x, HEIGHT - READING, bar, READING);
            return;
          }
          const low = moment.own * unit;
          drawn[moment.plain ? "plain" : "own"] += box(x, HEIGHT - low, bar, low);
          if (moment.ahead !== null) drawn[moment.ahead ? "hit" : "miss"] += dot(x, HEIGHT + MARK + 1, Math.min(3, Math.max(1, wide / 2)));
          if (moment.accepted) drawn.accepted += box(x, HEIGHT - low - moment.accepted * unit, bar, moment.accepted * unit);
        });
        for (const [name, path] of Object.entries(paths)) path.setAttribute("d", drawn[name]);
      },
      // Everything after `clock` is still to come.
      at(clock) {
        const x = Math.max(0, clock * scale);
        const seen = Number.isFinite(x) && x < element.clientWidth - 0.5;
        later.setAttribute("x", seen ? x : 0);
        later.setAttribute("width", seen ? element.clientWidth - x + 1 : 0);
        now.setAttribute("visibility", seen ? "visible" : "hidden");
        now.setAttribute("x1", seen ? x : 0);
        now.setAttribute("x2", seen ? x : 0);
      },
    };
  };

  Object.assign(window.sssdDemo, { momentsOf, overAt });
})();
