// Methods side by side: each with its token view, and all of them on one clock that can be played and dragged.
(() => {
  const { h, fill, unpack, visible, roundName, cacheNote, tokenStream, compareTrack, momentsOf, overAt } = window.sssdDemo;
  const SPEEDS = [1, 2, 4]; // times slower than real
  const MOST_COLUMNS = 4; // lanes beside each other
  const LEAST_STEP = 10; // milliseconds by which a key moves the clock
  const TELL_LIVE = new Set(["queued", "waiting", "warming", "running"]);

  const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  const seconds = (ms) => (ms / 1000).toFixed(ms < 9950 ? 2 : 1);

  function describer(words) {
    return (token) => {
      const source = token.source ? words[`source.${token.source}`] : "";
      return [
        `“${visible(token.piece)}”`,
        words[`fate.${token.fate}.name`],
        token.match ? fill(words["view.from_match"], { source, n: token.match }) : source,
        fill(words["view.probability"], { p: token.prob.toFixed(3) }),
        roundName(words, token.round),
        cacheNote(words, token.cache),
      ].filter(Boolean).join(", ");
    };
  }

  function laneCard(words, describe, on) {
    const name = h("h4", {});
    const told = h("span", { class: "cl-told" });
    const shared = h("span", { class: "cl-shared" }, words["view.compare.shared"]);
    const figures = h("p", { class: "cl-figures" });
    const stream = tokenStream(words, describe, { point: on.point, open: (index) => on.open(index) });
    const verdict = h("p", { class: "cl-verdict" });
    const element = h("section", { class: "cl-lane" }, h("header", {}, name, told, shared), figures, stream.element, verdict);
    let lane = null;
    let model = null;
    let drawn = "";
    let moments = [];
    let shown = -1;

    function write(clock) {
      const over = moments.slice(0, shown);
      const tokens = over.reduce((sum, moment) => sum + moment.accepted + moment.own, 0);
      const done = model?.end && shown === moments.length;
      const last = over.at(-1)?.end ?? 0;
      const decoding = last - (over[0]?.end ?? 0);
      const rates = shown > 1 ? [
        fill(words["view.compare.per_second"], { x: ((tokens - 1) / (decoding / 1000)).toFixed(1) }),
        fill(words["view.compare.per_forward"], { x: ((tokens - 1) / (shown - 1)).toFixed(2) }),
      ] : [];
      const count = done ? `✓ ${fill(words["view.compare.done"], { n: tokens, s: seconds(last) })}` : fill(words["view.compare.tokens"], { n: tokens });
      figures.textContent = model ? [count, ...rates].join(" · ") : "";
      element.classList.toggle("is-done", Boolean(done));
      return tokens;
    }

    return {
      element,
      get moments() { return moments; },
      get length() { return moments.at(-1)?.end ?? 0; },
      get most() { return Math.max(1, ...moments.slice(1).map((moment) => moment.accepted + moment.own)); },
      // Take what came from the server; true where the answer has grown or is another one.
      take(next) {
        lane = next;
        name.textContent = lane.name;
        told.textContent = lane.told;
        verdict.textContent = lane.verdict;
        shared.hidden = !lane.shared;
        element.dataset.state = lane.state;
        const key = lane.answer ? [lane.answer.created, lane.answer.rounds.length, lane.answer.end, lane.answer.rounds[0]?.ms[0]].join() : "";
        if (key === drawn) return false;
        drawn = key;
        model = unpack(lane.answer);
        moments = model ? momentsOf(model) : [];
        shown = -1;
        return true;
      },
      // Show what was there at `clock` milliseconds; returns the number of tokens.
      at(clock) {
        const count = overAt(moments, clock);
        if (count !== shown) {
          shown = count;
          stream.draw(model, count);
          if (lane.differs !== null) {
            const token = element.querySelector(`.ts-answer .ts-token[data-position="${lane.differs}"]`);
            token?.classList.add("is-other");
            token?.setAttribute("title", words["view.compare.differs"]);
          }
        }
        return write(clock);
      },
    };
  }

  window.sssdDemo.compareLanes = (element, props, watch) => {
    const { words } = window.sssdDemo;
    const describe = describer(words);
    const state = { clock: Infinity, longest: 0, timer: null, playing: false, slower: 1, names: "", phase: "" };
    let cards = [];
    let tracks = [];

    const now = h("p", { class: "cl-now", role: "status" });
    const badge = h("span", { class: "av-badge" }, words["view.compare.recorded"]);
    const asked = h("p", { class: "cl-asked" });
    const play = h("button", { type: "button", class: "av-button cl-play", onclick: () => (state.playing ? pause() : start()) });
    const slider = h("input", { type: "range", class: "cl-slider", min: 0, "aria-label": words["view.compare.clock"], oninput: () => { pause(); moveTo(Number(slider.value)); } });
    const clock = h("output", { class: "cl-clock" });
    const speed = h("select", { class: "cl-speed", "aria-label": words["view.compare.speed"], onchange: () => { state.slower = Number(speed.value); if (state.playing) start(); } },
      SPEEDS.map((times) => h("option", { value: times }, words[`view.compare.speed_${times}`])));
    const rows = h("div", { class: "cl-rows" });
    const verdict = h("p", { class: "cl-verdict" });
    const race = h("section", { class: "cl-race" },
      h("div", { class: "cl-controls" }, h("h3", {}, words["view.compare.race"]), play, slider, clock, speed),
      rows, verdict, h("p", { class: "av-hint" }, words["view.compare.race_hint"]));
    const toggle = (name) => {
      const shown = h("input", { type: "checkbox", onchange: () => element.classList.toggle(`hide-${name}`, !shown.checked) });
      element.classList.add(`hide-${name}`);
      return h("label", { class: "av-toggle" }, shown, words[`view.show_${name}`]);
    };
    const grid = h("div", { class: "cl-grid" });
    const detail = h("p", { class: "cl-detail" }, words["view.compare.hover"]);
    const body = h("div", { class: "cl-body" }, asked, race, h("div", { class: "cl-toggles" }, toggle("rejected"), toggle("ignored")), grid, detail);
    element.classList.add("compare-lanes");
    element.replaceChildren(h("div", { class: "cl-head" }, badge, now), body);

    function point(token) {
      detail.textContent = token ? describe(token) : words["view.compare.hover"];
    }

    function build(lanes) {
      cards = lanes.map((_, number) => laneCard(words, describe, {
        point,
        open: (index) => { pause(); moveTo(cards[number].moments[index].end); },
      }));
      tracks = lanes.map((lane) => {
        const track = compareTrack();
        const count = h("span", { class: "cl-count" });
        const row = h("div", { class: "cl-row" }, h("span", { class: "cl-name" }, lane.name), track.element, count);
        return { track, count, row };
      });
      grid.style.setProperty("--columns", lanes.length > MOST_COLUMNS ? Math.ceil(lanes.length / 2) : lanes.length);
      grid.replaceChildren(...cards.map((card) => card.element));
      rows.replaceChildren(...tracks.map(({ row }) => row));
    }

    // Everything that depends on the clock.
    function moveTo(ms) {
      state.clock = ms;
      const shown = Math.min(ms, state.longest);
      slider.value = shown;
      clock.textContent = fill(words["view.compare.seconds"], { s: seconds(shown) });
      slider.setAttribute("aria-valuetext", clock.textContent);
      cards.forEach((card, number) => {
        const tokens = card.at(ms);
        tracks[number].track.at(ms);
        tracks[number].count.textContent = card.moments.length ? fill(words["view.compare.tokens"], { n: tokens }) : "";
      });
      element.dataset.atEnd = String(ms >= state.longest);
    }

    // What was asked for is below a screen full of settings; Stop stays in sight.
    function bringIntoView() {
      document.getElementById("compare-buttons")?.scrollIntoView({ block: "start", behavior: calm() ? "auto" : "smooth" });
    }

    function drawTracks() {
      const most = Math.max(1, ...cards.map((card) => card.most));
      cards.forEach((card, number) => tracks[number].track.draw(card.moments, state.longest, most));
    }

    function pause() {
      cancelAnimationFrame(state.timer);
      state.playing = false;
      play.textContent = `▶ ${words["view.play"]}`;
    }

    // From where the clock stands; at the end, from the start.
    function start() {
      pause();
      if (!state.longest) return;
      state.playing = true;
      play.textContent = `❚❚ ${words["view.pause"]}`;
      const from = state.clock >= state.longest ? 0 : state.clock;
      const begun = performance.now();
      const step = (time) => {
        const ms = from + Math.max(0, time - begun) / state.slower;
        moveTo(Math.min(ms, state.longest));
        if (ms >= state.longest) return pause();
        state.timer = requestAnimationFrame(step);
      };
      state.timer = requestAnimationFrame(step);
    }

    function render() {
      const value = props.value;
      if (!value) return;
      now.textContent = value.now;
      badge.hidden = value.phase !== "recorded";
      body.hidden = !value.lanes.length;
      asked.textContent = value.asked;
      verdict.textContent = value.verdict;
      const names = value.lanes.map((lane) => lane.name).join("\n");
      if (names !== state.names) build(value.lanes);
      state.names = names;
      const changed = value.lanes.map((lane, number) => cards[number].take(lane)).some(Boolean);
      const live = TELL_LIVE.has(value.phase);
      const fresh = state.phase !== value.phase;
      if (live && !TELL_LIVE.has(state.phase)) bringIntoView();
      state.phase = element.dataset.phase = value.phase;
      for (const control of [play, slider, speed]) control.disabled = live || !value.lanes.length;
      state.longest = Math.max(0, ...cards.map((card) => card.length));
      const step = Math.max(LEAST_STEP, Math.round(state.longest / 200));
      slider.step = step;
      slider.max = Math.ceil(state.longest / step) * step; // whole steps, so that its end can be reached
      if (changed || fresh) {
        pause();
        drawTracks();
        moveTo(live ? Infinity : state.longest);
        if (value.phase === "recorded" && !calm()) start();
      }
    }

    new ResizeObserver(() => {
      if (!cards.length || !rows.clientWidth) return;
      drawTracks();
      tracks.forEach(({ track }) => track.at(state.clock));
    }).observe(rows);
    pause();
    render();
    watch("value", render);
  };
})();
