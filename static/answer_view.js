// One answer from three sides: its tokens, its rounds as bars, and the draft tree of the round that is open.
(() => {
  const { h, fill, unpack, roundName, withheldGuesses, cacheNote, visible, bytesOf, hex, copyOf, tokenStream, roundStrip, draftTree, verificationView } = window.sssdDemo;
  const STEP_MS = 1100; // one round while stepping by itself
  const FOLLOW_MS = 400; // how often the tree follows a running answer
  const ANNOUNCE_MS = 4000; // how often a running answer is told to screen readers

  const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

  function describer(words) {
    const source = (token) => {
      if (!token.source) return "";
      const name = words[`source.${token.source}`];
      return token.match ? fill(words["view.from_match"], { source: name, n: token.match }) : name;
    };
    return (token) =>
      [
        `“${visible(token.piece)}”`,
        words[`fate.${token.fate}.name`],
        source(token),
        fill(words["view.probability"], { p: token.prob.toFixed(3) }),
        token.letter === "M" ? fill(words["view.draft_probability"], { q: token.score.toFixed(3) }) : "",
        roundName(words, token.round),
      ]
        .filter(Boolean)
        .join(", ");
  }

  function legend(words) {
    const item = (fate, sample) =>
      h(
        "li",
        {},
        h("span", { class: `legend-sample fate-${fate}`, "data-label": sample }, ["rejected", "ignored"].includes(fate) ? "" : sample),
        h("b", {}, words[`fate.${fate}.name`]),
        `: ${words[`fate.${fate}.rule`]}`,
      );
    return h(
      "div",
      { class: "av-legend" },
      h("p", { class: "av-rule" }, words["view.rule"]),
      h("ul", {}, ["accepted", "bonus", "rejected", "ignored", "plain"].map((fate) => item(fate, words["legend.sample"]))),
    );
  }

  // The label, figures and provenance of one token, in a place of its own so that nothing jumps about.
  function detailLine(words) {
    const element = h("div", { class: "av-detail" });
    const fact = (name, value) => h("span", { class: "av-fact" }, h("i", {}, name), " ", value);
    const small = (name, value) => h("span", { class: "av-fact is-small" }, h("i", {}, name), " ", value);
    return {
      element,
      show(model, token) {
        element.replaceChildren();
        if (!token) {
          element.append(h("span", { class: "av-hint" }, words["view.hover"]));
          return;
        }
        const facts = [
          h("code", { class: `av-token fate-${token.fate}` }, visible(token.piece) || words["view.no_bytes"]),
          h("b", {}, words[`fate.${token.fate}.name`]),
          token.letter ? h("b", {}, `${token.letter} · ${words[`source.${token.source}`]}`) : null,
          token.match ? fact(words["fact.match"], token.match) : null,
          fact(words["fact.probability"], token.prob.toFixed(3)),
          token.letter === "M" ? fact(words["fact.draft_probability"], token.score.toFixed(3)) : null,
          token.coin !== null && token.coin !== undefined ? small(words["fact.coin"], token.coin.toFixed(3)) : null,
          token.score !== undefined && token.letter !== "M" ? small(words["fact.score"], token.score.toFixed(3)) : null,
          small(words["fact.id"], token.id),
          small(words["fact.bytes"], hex(bytesOf(token.piece)) || "–"),
          token.round ? small(words["fact.round"], token.round) : h("span", { class: "av-fact is-small" }, h("i", {}, words["view.reading"])),
        ];
        element.append(...facts.filter(Boolean), ...origin(model, token));
      },
    };

    // "copied from: … the cat sat on …", with the matched and the copied words marked.
    function origin(model, token) {
      if (token.source === "datastore") return [h("p", { class: "av-origin" }, words["view.from_store"])];
      const round = model.rounds[token.round];
      const copy = token.letter ? copyOf(model, round, round.nodes[token.node]) : null;
      if (!copy) return [];
      const all = [...model.prompt, ...model.answer];
      const text = (from, to) => all.slice(Math.max(0, from), to).map((each) => visible(each.piece)).join("");
      const matched = copy.start + copy.match;
      const end = copy.start + copy.length;
      return [
        h(
          "p",
          { class: "av-origin" },
          `${words["view.copied_from"]} …${text(copy.start - 5, copy.start)}`,
          h("mark", { class: "is-matched" }, text(copy.start, matched)),
          h("mark", { class: "is-copied" }, text(matched, end)),
          `${text(end, end + 4)}…`,
        ),
      ];
    }
  }

  window.sssdDemo.answerView = (element, props, watch) => {
    const { words } = window.sssdDemo;
    const describe = describer(words);
    const state = { model: null, shown: 0, open: null, chosen: false, timer: null, playing: false, followed: 0, told: 0 };

    const roundSummary = (round) => {
      const counts = fill(words["view.round_summary"], {
        kept: round.committed.length, accepted: round.count("accepted"),
        rejected: round.count("rejected"), ignored: round.count("ignored"),
      });
      const withheld = round.withheld ? withheldGuesses(words, round) : "";
      return [counts, withheld, cacheNote(words, round.cache)].filter(Boolean).join(" · ");
    };

    const on = {
      open: (index, token) => choose(index, token),
      point: (token) => point(token),
      pick: (token) => checks.choose(token),
      check: (token) => tree.check(token),
      tell: (text) => { live.textContent = text; },
    };
    const stream = tokenStream(words, describe, on);
    const strip = roundStrip(words, roundSummary, on);
    const tree = draftTree(words, describe, on);
    const checks = verificationView(words, on);
    const detail = detailLine(words);
    const live = h("div", { class: "av-live", role: "status", "aria-live": "polite" });
    const badge = h("span", { class: "av-badge" });
    const caption = h("span", { class: "av-caption" });
    const roundTitle = h("span", { class: "av-round-title" });
    const play = h("button", { type: "button", class: "av-button av-play", onclick: () => (state.playing ? pause() : start()) });
    const step = (by, label, sign) =>
      h("button", { type: "button", class: "av-button", "aria-label": label, title: label, onclick: () => choose((state.open ?? 0) + by) }, sign);
    const toggle = (name, checked) => {
      const box = h("input", { type: "checkbox", onchange: () => element.classList.toggle(`hide-${name}`, !box.checked) });
      box.checked = checked;
      element.classList.toggle(`hide-${name}`, !checked);
      return h("label", { class: "av-toggle" }, box, words[`view.show_${name}`]);
    };

    element.classList.add("answer-view");
    element.replaceChildren(
      h("header", { class: "av-head" }, badge, caption, toggle("rejected", true), toggle("ignored", false)),
      legend(words),
      stream.element,
      h("div", { class: "av-strip-head" }, h("h3", {}, words["view.rounds"]), h("span", { class: "av-hint" }, words["view.rounds_hint"])),
      strip.element,
      h(
        "div",
        { class: "av-tree-head" },
        h("h3", {}, words["view.tree"]),
        step(-1, words["view.previous"], "◀"), step(1, words["view.next"], "▶"), play, roundTitle,
      ),
      tree.element,
      checks.element,
      h("p", { class: "av-sources" }, words["view.sources"]),
      detail.element,
      live,
    );

    function point(token) {
      detail.show(state.model, token);
      stream.mark(token);
      tree.mark(token && token.round === state.open ? token : null);
      const round = token && state.model.rounds[token.round];
      stream.light(token?.letter ? copyOf(state.model, round, round.nodes[token.node]) : null);
    }

    function openRound(index) {
      state.open = index;
      const round = state.model?.rounds[index];
      stream.open(index);
      strip.open(index);
      tree.draw(state.model, index);
      checks.draw(state.model, index);
      const name = index ? fill(words["view.round_of"], { n: index, all: state.model?.rounds.length - 1 }) : words["view.reading"];
      roundTitle.textContent = round ? `${name} · ${roundSummary(round)}` : "";
      element.dataset.open = round ? index : "";
    }

    function choose(index, token = null) {
      if (!state.model || index < 0 || index >= state.model.rounds.length) return;
      pause();
      state.chosen = true;
      reveal(Math.max(state.shown, index + 1));
      openRound(index);
      point(token);
      live.textContent = roundSummary(state.model.rounds[index]);
    }

    function reveal(count) {
      state.shown = count;
      stream.draw(state.model, count);
      strip.draw(state.model, count);
    }

    function pause() {
      clearTimeout(state.timer);
      state.playing = false;
      play.textContent = `▶ ${words["view.play"]}`;
    }

    // Step through the rounds from the one that is open; at the end, from the start.
    function start() {
      if (!state.model?.rounds.length) return;
      pause();
      state.playing = true;
      state.chosen = true;
      play.textContent = `❚❚ ${words["view.pause"]}`;
      const last = state.model.rounds.length - 1;
      let index = state.open === null || state.open >= last ? 0 : state.open + 1;
      (function next() {
        reveal(index + 1);
        openRound(index);
        index += 1;
        if (index > last) return pause();
        state.timer = setTimeout(next, STEP_MS);
      })();
    }

    // A recorded answer appears at the pace at which it was recorded.
    function playRecorded() {
      const { rounds } = state.model;
      const begun = performance.now();
      const zero = rounds[0].startMs;
      (function next() {
        const now = performance.now() - begun;
        const count = rounds.filter((round) => round.startMs + round.draftMs + round.verifyMs - zero <= now).length;
        if (count > state.shown) reveal(count);
        if (count >= rounds.length) return finish();
        state.timer = setTimeout(next, 30);
      })();
    }

    // With nothing chosen, open the round that appended the most: the one worth seeing first.
    function finish() {
      if (!state.chosen && state.model.rounds.length) {
        const best = state.model.rounds.reduce((a, b) => (b.committed.length > a.committed.length ? b : a));
        openRound(best.index);
      } else {
        openRound(state.open);
      }
      live.textContent = fill(words["view.finished"], {
        tokens: state.model.answer.length - 1, forwards: state.model.rounds.length - 1,
      });
    }

    function follow() {
      const now = performance.now();
      const last = state.model.rounds.at(-1);
      if (!last) return;
      if (!state.chosen && now - state.followed > FOLLOW_MS) {
        state.followed = now;
        openRound(last.index);
      } else {
        openRound(state.open);
      }
      if (now - state.told > ANNOUNCE_MS) {
        state.told = now;
        live.textContent = roundSummary(last);
      }
    }

    function drawCaption() {
      const { model } = state;
      badge.textContent = model?.recorded ? words["view.recorded"] : "";
      badge.hidden = !model?.recorded;
      if (!model) caption.textContent = words["view.title"];
      else if (model.recorded) {
        caption.textContent = fill(words["view.recorded_on"], {
          device: model.recorded.device, date: model.recorded.date, method: model.method, question: model.question,
        });
      } else caption.textContent = fill(words["view.title_live"], { method: model.method });
      element.dataset.state = !model ? "empty" : model.recorded ? "recorded" : model.end ? "ended" : "running";
    }

    function render() {
      const before = state.model;
      state.model = unpack(props.value);
      drawCaption();
      const fresh = before?.key !== state.model?.key;
      if (fresh) {
        pause();
        Object.assign(state, { shown: 0, open: null, chosen: false, followed: 0 });
        point(null);
      }
      if (!state.model) {
        reveal(0);
        openRound(null);
      } else if (state.model.recorded && fresh && !calm()) {
        reveal(0);
        openRound(null);
        playRecorded();
      } else if (fresh || !state.model.recorded) {
        if (!state.playing) reveal(state.model.rounds.length);
        if (state.model.end) finish();
        else follow();
      }
    }

    pause();
    render();
    watch("value", render);
  };
})();
