// Three lines over the tokens given to a store. Told apart by dash and by the names at their ends, not by colour alone.
(() => {
  const { h, s } = window.sssdDemo;
  const LINES = ["both", "prompt_only", "store_only"];
  const HEIGHT = 250;
  const LEFT = 34;
  const BOTTOM = 34;
  const TOP = 10;
  const NAMES = 172; // room for the names at the right
  const NUMBERS = 40; // …and for numbers alone, where a picture is too narrow for names
  const NARROW = 520;
  const APART = 15; // least distance of two names

  // Round numbers, at most `most` of them, that cover `from` to `to`.
  function ticks(from, to, most) {
    const rough = (to - from || 1) / most;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
    const found = [];
    for (let at = Math.ceil(from / step - 1e-9) * step; at <= to + step * 1e-6; at += step) found.push(Number(at.toPrecision(12)));
    return found;
  }

  // Moves `places` (heights, any order) apart without leaving 0 to `limit`; returns them in the order given.
  function spread(places, limit) {
    const order = places.map((y, index) => ({ y, index })).sort((a, b) => a.y - b.y);
    order.forEach((each, at) => at && (each.y = Math.max(each.y, order[at - 1].y + APART)));
    for (let at = order.length - 1, most = limit; at >= 0; most = order[at].y - APART, at--) order[at].y = Math.min(order[at].y, most);
    return order.sort((a, b) => a.index - b.index).map((each) => each.y);
  }

  window.sssdDemo.storeChart = (words) => {
    const svg = s("svg", { class: "sc-svg", role: "img", height: HEIGHT });
    const note = h("p", { class: "sc-empty" }, words["store.view.no_points"]);
    const key = (name) => h("span", {}, s("svg", { width: 30, height: 8, "aria-hidden": "true" }, s("line", { class: `sc-line sc-${name}`, x1: 0, x2: 30, y1: 4, y2: 4 })), ` ${words[`store.view.${name}`]}`);
    const legend = h("p", { class: "sc-legend" }, ...LINES.map(key));
    const element = h("div", { class: "sc-frame" }, svg, note, legend);
    let value = null;
    let told = "";

    const named = (name, narrow) => `${(value[name].at(-1) ?? 1).toFixed(2)}${narrow ? "" : ` ${words[`store.view.${name}`]}`}`;

    function draw() {
      const width = Math.max(280, element.clientWidth);
      const narrow = width < NARROW;
      const names = narrow ? NUMBERS : NAMES;
      legend.hidden = !narrow;
      const points = value.x.length;
      const all = LINES.flatMap((name) => value[name]).filter((y) => y !== null);
      const highest = Math.max(2, ...all) * 1.04;
      const right = Math.max(1, value.x.at(-1) ?? 1000);
      const x = (tokens) => LEFT + (tokens / right) * (width - LEFT - names);
      const y = (rate) => TOP + ((highest - rate) / (highest - 0.9)) * (HEIGHT - TOP - BOTTOM);
      svg.setAttribute("width", width);
      svg.setAttribute("aria-label", `${words["store.view.chart"]}. ${told}`);
      svg.replaceChildren(
        ...ticks(1, highest, 5).flatMap((rate) => [
          s("line", { class: rate === 1 ? "sc-one" : "sc-grid", x1: LEFT, x2: width - names, y1: y(rate), y2: y(rate) }),
          s("text", { class: "sc-tick", x: LEFT - 6, y: y(rate) + 4, "text-anchor": "end" }, rate),
        ]),
        ...ticks(0, right, narrow ? 3 : 5).map((tokens) =>
          s("text", { class: "sc-tick", x: x(tokens), y: HEIGHT - BOTTOM + 15, "text-anchor": "middle" }, tokens.toLocaleString("en")),
        ),
        s("text", { class: "sc-label", x: LEFT, y: HEIGHT - 4 }, `${words["store.view.x"]} →`),
        narrow ? "" : s("text", { class: "sc-tick", x: width - names + 7, y: y(1) + 4 }, words["store.view.plain"]),
        ...value.forgot.map((tokens) =>
          s("g", { class: "sc-forgot" }, s("title", {}, words["store.view.forgot"]), s("line", { x1: x(tokens), x2: x(tokens), y1: TOP, y2: HEIGHT - BOTTOM }), s("text", { x: x(tokens), y: TOP + 8, "text-anchor": "middle" }, "✂")),
        ),
      );
      note.hidden = points > 0;
      if (!points) return;
      const ends = spread(LINES.map((name) => y(value[name].at(-1) ?? 1)), y(1) - APART);
      // The dashed line last: where it lies on the thick one, both can be seen.
      ["store_only", "both", "prompt_only"].forEach((name) => {
        const path = value[name].map((rate, at) => (rate === null ? null : `${x(value.x[at]).toFixed(1)},${y(rate).toFixed(1)}`)).filter(Boolean);
        const last = path.at(-1)?.split(",");
        svg.append(
          s("polyline", { class: `sc-line sc-${name}`, points: path.join(" ") }),
          last ? s("circle", { class: `sc-dot sc-${name}`, cx: last[0], cy: last[1], r: 3.5 }) : "",
          s("text", { class: `sc-name sc-${name}`, x: width - names + 7, y: ends[LINES.indexOf(name)] + 4 }, named(name, narrow)),
        );
      });
    }

    new ResizeObserver(() => value && element.clientWidth && draw()).observe(element);
    return {
      element,
      draw(columns, sentence) {
        value = columns;
        told = sentence;
        draw();
      },
    };
  };

  Object.assign(window.sssdDemo, { chartTicks: ticks, spreadNames: spread });
})();
