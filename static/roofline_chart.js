// One picture with axes, straight or logarithmic; see `roofline_chart.py` for its value. Series are told apart by dash
// and shape as well as by colour, and by words in the legend.
(() => {
  const { h, s } = window.sssdDemo;
  const HEIGHT = 270;
  const LEFT = 50;
  const RIGHT = 14;
  const ENDS = 52; // room for names at the ends of lines
  const TOP = 18;
  const BOTTOM = 36;
  const FEW = 420; // pixels: a picture this narrow has fewer ticks

  const SHAPES = {
    circle: (x, y) => s("circle", { cx: x, cy: y, r: 4 }),
    square: (x, y) => s("rect", { x: x - 4, y: y - 4, width: 8, height: 8 }),
    diamond: (x, y) => s("path", { d: `M${x} ${y - 6}L${x + 6} ${y}L${x} ${y + 6}L${x - 6} ${y}Z` }),
    triangle: (x, y) => s("path", { d: `M${x} ${y - 5}L${x + 5} ${y + 4}L${x - 5} ${y + 4}Z` }),
    cross: (x, y) => s("path", { d: `M${x - 4} ${y - 4}L${x + 4} ${y + 4}M${x + 4} ${y - 4}L${x - 4} ${y + 4}` }),
  };

  // 1, 2 and 5 times powers of ten between `from` and `to`; the powers alone, or every other one, where those are many.
  function logTicks(from, to, most) {
    const powers = [];
    for (let at = Math.floor(Math.log10(from)); at <= Math.ceil(Math.log10(to)); at++) powers.push(10 ** at);
    const inside = (all) => all.filter((each) => each >= from * 0.999 && each <= to * 1.001);
    const fine = inside(powers.flatMap((each) => [each, 2 * each, 5 * each]));
    if (fine.length <= most) return fine;
    const coarse = inside(powers);
    return coarse.length <= most ? coarse : coarse.filter((_, at) => at % Math.ceil(coarse.length / most) === 0);
  }

  const short = (number) => (number >= 1e6 ? `${number / 1e6} M` : number >= 1e4 ? `${number / 1e3} k` : Number(number.toPrecision(3)).toLocaleString("en"));

  // From numbers to pixels along one axis whose ends are `from` and `to`.
  function scale(axis, from, to, start, end) {
    const log = axis.scale === "log";
    const place = (value) => (log ? Math.log(value) : value);
    const [a, b] = [place(from), place(to)];
    return (value) => start + ((place(value) - a) / (b - a || 1)) * (end - start);
  }

  function ticksOf(axis, from, to, most) {
    if (axis.ticks) return axis.ticks.filter((each) => each >= from && each <= to);
    return axis.scale === "log" ? logTicks(from, to, most) : window.sssdDemo.chartTicks(from, to, most);
  }

  const classes = (series) => `rc-series ${series.look.split(" ").map((each) => (each.startsWith("is-") ? each : `rc-${each}`)).join(" ")}`;

  function key(series) {
    const line = series.line ? s("path", { class: "rc-line", d: "M0 6H30" }) : "";
    const dot = series.shape ? SHAPES[series.shape](15, 6) : "";
    dot && dot.setAttribute("class", "rc-dot");
    return h("span", {}, s("svg", { class: classes(series), width: 30, height: 12, "aria-hidden": "true" }, line, dot), ` ${series.name}`);
  }

  function drawSeries(series, x, y) {
    const places = series.points.map(([at, value]) => [x(at), y(value)]);
    const group = s("g", { class: classes(series) });
    if (series.line) group.append(s("polyline", { class: "rc-line", points: places.map((place) => place.map((each) => each.toFixed(1)).join(",")).join(" ") }));
    (series.tops ?? []).forEach((top, at) => group.append(s("path", { class: "rc-bar", d: `M${places[at][0]} ${places[at][1]}V${y(top)}m-4 0h8` })));
    if (series.shape) {
      places.forEach(([px, py], at) => {
        const dot = SHAPES[series.shape](px, py);
        dot.setAttribute("class", "rc-dot");
        dot.append(s("title", {}, series.points[at].map(short).join(" → ")));
        group.append(dot);
      });
    }
    (series.labels ?? []).forEach((label, at) => group.append(s("text", { class: "rc-label", x: places[at][0], y: places[at][1] - 9, "text-anchor": "middle" }, label)));
    return group;
  }

  function drawLevels(levels, x, y, box) {
    return levels.map((level) => {
      const upright = level.x !== undefined;
      const at = upright ? x(level.x) : y(level.y);
      const leftward = upright && at > (box.left + box.right) / 2;
      const line = upright ? { x1: at, x2: at, y1: box.top, y2: box.bottom } : { x1: box.left, x2: box.right, y1: at, y2: at };
      const text = upright
        ? { x: at + (leftward ? -5 : 5), y: box.bottom - 6, "text-anchor": leftward ? "end" : "start" }
        : { x: box.right - 4, y: at - 4, "text-anchor": "end" };
      return s("g", {}, s("line", { class: "rc-level", ...line }), s("text", { class: "rc-level-name", ...text }, level.label));
    });
  }

  // A picture with `draw(chart)`.
  window.sssdDemo.rooflineChart = () => {
    const title = h("h4", {});
    const legend = h("p", { class: "rc-legend" });
    const svg = s("svg", { class: "rc-svg", role: "img", height: HEIGHT });
    const note = h("p", { class: "rc-note" });
    const frame = h("div", { class: "rc-frame" }, svg, note);
    const said = h("figcaption", {});
    const element = h("figure", { class: "rc-chart" }, title, legend, frame, said);
    let chart = null;

    function draw() {
      const width = Math.max(260, frame.clientWidth);
      const values = chart.series.flatMap((series) => [...series.points.map(([, value]) => value), ...(series.tops ?? [])]);
      const across = chart.series.flatMap((series) => series.points.map(([at]) => at));
      note.textContent = values.length ? "" : (chart.note ?? "");
      const ends = chart.series.some((series) => series.end);
      const box = { left: LEFT, right: width - RIGHT - (ends ? ENDS : 0), top: TOP, bottom: HEIGHT - BOTTOM };
      const span = (axis, found) => [axis.low ?? Math.min(0, ...found), axis.high ?? Math.max(1e-9, ...(found.length ? found : [1])) * 1.1];
      const [left, right] = span(chart.x, across);
      const [low, high] = span(chart.y, values);
      const x = scale(chart.x, left, right, box.left, box.right);
      const y = scale(chart.y, low, high, box.bottom, box.top);
      svg.setAttribute("width", width);
      svg.setAttribute("aria-label", [chart.title, said.textContent].filter(Boolean).join(". "));
      svg.replaceChildren(
        ...ticksOf(chart.y, low, high, 6).flatMap((tick) => [
          s("line", { class: "rc-grid", x1: box.left, x2: box.right, y1: y(tick), y2: y(tick) }),
          s("text", { class: "rc-tick", x: box.left - 6, y: y(tick) + 4, "text-anchor": "end" }, short(tick)),
        ]),
        ...ticksOf(chart.x, left, right, width < FEW ? 4 : 7).flatMap((tick) => [
          s("line", { class: "rc-grid", x1: x(tick), x2: x(tick), y1: box.top, y2: box.bottom }),
          s("text", { class: "rc-tick", x: x(tick), y: box.bottom + 15, "text-anchor": "middle" }, short(tick)),
        ]),
        s("text", { class: "rc-name", x: box.left, y: HEIGHT - 4 }, `${chart.x.label} →`),
        s("text", { class: "rc-name", x: 2, y: 11 }, `↑ ${chart.y.label}`),
        ...drawLevels(chart.levels ?? [], x, y, box),
        ...chart.series.map((series) => drawSeries(series, x, y)),
      );
      const ended = chart.series.filter((series) => series.end && series.points.length);
      const heights = window.sssdDemo.spreadNames(ended.map((series) => y(series.points.at(-1)[1])), box.bottom);
      ended.forEach((series, at) => svg.append(s("text", { class: `${classes(series)} rc-end`, x: box.right + 6, y: heights[at] + 4 }, series.end)));
    }

    new ResizeObserver(() => chart && frame.clientWidth && draw()).observe(frame);
    return {
      element,
      draw(value) {
        chart = { ...value, series: value.series ?? [] };
        title.textContent = value.title;
        legend.replaceChildren(...chart.series.filter((series) => series.name).map(key));
        said.textContent = value.said ?? "";
        draw();
      },
    };
  };

  window.sssdDemo.logTicks = logTicks;
})();
