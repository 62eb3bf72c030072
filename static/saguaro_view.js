// A Saguaro run: what is happening, the verdict, both timelines on the clock that was chosen, and one round's cache.
(() => {
  const { h, factsOf } = window.sssdDemo;
  const CLOCKS = ["measured", "computed"];

  window.sssdDemo.saguaroView = (element, props, watch) => {
    const { words, saguaroTimeline, saguaroCache } = window.sssdDemo;
    const state = { clock: "measured", open: null, chosen: false, picked: false };
    const told = h("div", { class: "visually-hidden", role: "status" });
    const badge = h("span", { class: "av-badge" });
    const now = h("span", { class: "sv-now" });
    const bar = h("progress", { class: "rv-progress", max: 1 });
    const asked = h("p", { class: "sv-asked" });
    const facts = h("dl", { class: "facts sv-facts" });
    const verdict = h("p", { class: "sv-verdict" });
    const note = h("p", { class: "sv-note" });
    const group = `clock-${Math.random()}`; // there may be several such views in a page
    const radios = CLOCKS.map((name) => h("input", { type: "radio", name: group, value: name, onchange: () => pick(name) }));
    const choice = h(
      "fieldset",
      { class: "sv-clock" },
      h("legend", {}, words["view.sag.clock"]),
      ...radios.map((radio) => h("label", {}, radio, ` ${words[`view.sag.${radio.value}`]}`)),
    );
    const timeline = saguaroTimeline(words, { open: (round) => choose(round) });
    const cache = saguaroCache(words, { step: (by) => step(by) });
    element.classList.add("saguaro-view");
    element.replaceChildren(
      told,
      h("p", { class: "sv-head" }, badge, now, bar),
      asked, facts, choice, verdict, timeline.element, note, cache.element,
    );

    const rounds = () => props.value?.rounds ?? [];

    function pick(name) {
      state.clock = name;
      state.picked = true;
      drawClock();
    }

    function choose(round) {
      state.chosen = true;
      openRound(round);
      told.textContent = rounds().find((each) => each.n === round)?.said ?? "";
    }

    function step(by) {
      const all = rounds();
      const goal = all[all.findIndex((round) => round.n === state.open) + by];
      if (goal) choose(goal.n);
    }

    function openRound(number) {
      state.open = number;
      timeline.open(number);
      cache.draw(rounds().find((round) => round.n === number) ?? null);
    }

    function drawClock() {
      const clock = props.value?.clocks?.[state.clock] ?? null;
      radios.forEach((radio) => (radio.checked = radio.value === state.clock));
      verdict.textContent = clock?.verdict ?? "";
      verdict.hidden = !clock?.verdict;
      note.textContent = clock?.note ?? "";
      note.hidden = !clock?.note;
      timeline.draw(clock, rounds());
      timeline.open(state.open);
    }

    // With nothing chosen, the newest round while it runs; then the first miss, for there is most to see.
    function worthSeeing(value) {
      const all = value.rounds;
      if (!["ended", "stopped", "idle", "failed"].includes(value.phase)) return all.at(-1)?.n ?? null;
      const prepared = all.filter((round) => round.rows.length);
      return (prepared.find((round) => round.mark === "hit") ?? prepared[0] ?? all[0])?.n ?? null;
    }

    function render() {
      const value = props.value;
      if (!value) return;
      if (element.dataset.phase !== value.phase) {
        told.textContent = [value.now, value.clocks?.[state.clock]?.verdict].filter(Boolean).join(" ");
        if (value.phase === "queued") Object.assign(state, { chosen: false, open: null });
      }
      element.dataset.phase = value.phase;
      badge.textContent = value.recorded;
      badge.hidden = !value.recorded;
      now.textContent = value.now;
      bar.hidden = value.share === undefined;
      if (value.share !== undefined) bar.value = value.share;
      asked.textContent = value.asked ?? "";
      asked.hidden = !value.asked;
      facts.replaceChildren(...factsOf(value.facts));
      facts.hidden = !value.facts?.length;
      choice.hidden = !Object.keys(value.clocks).length;
      drawClock();
      if (!state.chosen || !value.rounds.some((round) => round.n === state.open)) openRound(worthSeeing(value));
      else openRound(state.open);
    }

    render();
    watch("value", render);
  };
})();
