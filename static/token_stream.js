// Every token of an answer with its fate; the tokens of one round stand together between thin bars.
(() => {
  const { h, roving, visible, signOf, hex, fill, roundName, ROOT } = window.sssdDemo;

  // White space keeps its character, so that copying gives the text; the sign over it comes from the style sheet.
  function written(text) {
    const parts = [];
    let run = "";
    for (const character of text) {
      const sign = signOf(character);
      if (sign === null) {
        run += character;
        continue;
      }
      if (run) parts.push(run);
      run = "";
      const kind = character === "\n" ? "newline" : character === " " ? "space" : "sign";
      parts.push(h("span", { class: `ts-${kind}`, "data-sign": sign }, character));
    }
    if (run) parts.push(run);
    return parts;
  }

  function committedToken(token, describe, words) {
    const element = h("span", {
      class: `ts-token fate-${token.fate}`, role: "option", tabindex: "-1", "data-round": token.round,
      "data-position": token.position, "data-node": token.node, "aria-label": describe(token),
    });
    if (token.text === "" && token.piece.length) {
      const ends = typeof token.piece === "string";
      element.classList.add(ends ? "ts-end" : "ts-bytes");
      element.dataset.label = ends ? words["view.end_token"] : hex(token.piece);
    } else {
      element.append(...written(token.text));
    }
    return element;
  }

  // Drafts that were not taken are drawn by the style sheet from an attribute: selecting the answer leaves them out.
  function draftToken(node, describe) {
    return h("span", {
      class: `ts-draft fate-${node.fate}`, role: "option", tabindex: "-1", "data-round": node.round,
      "data-node": node.node, "data-label": visible(node.piece), "aria-label": describe(node),
    });
  }

  // The guesses that lost against the token at `depth`, each with what was guessed to follow it.
  function lostAt(round, depth) {
    const branch = (node) => [node, ...round.nodes.filter((child) => child.parent === node.node).flatMap(branch)];
    const onPath = (parent) => parent === ROOT || round.nodes[parent].fate === "accepted";
    return round.nodes
      .filter((node) => node.depth === depth && node.fate !== "accepted" && onPath(node.parent))
      .flatMap(branch);
  }

  // They stand small behind the token that won, as "not this", so that nobody reads them as part of the text.
  function lostBox(nodes, describe, words) {
    const rejected = nodes.some((node) => node.fate === "rejected");
    const box = h("span", { class: "ts-lost", role: "presentation" }, nodes.map((node) => draftToken(node, describe)));
    if (rejected) {
      box.classList.add("has-rejected");
      box.dataset.label = words["view.lost"];
    }
    if (nodes.some((node) => node.fate === "ignored")) box.classList.add("has-ignored");
    return box;
  }

  function roundGroup(round, describe, words) {
    const group = h("span", {
      class: "ts-round", role: "group", "data-round": round.index, "aria-label": roundName(words, round.index),
    });
    for (let depth = 1; depth <= round.path.length + 1; depth++) {
      const token = round.committed[depth - 1];
      if (token) group.append(committedToken(token, describe, words));
      const lost = lostAt(round, depth);
      if (!lost.length) continue;
      const box = lostBox(lost, describe, words);
      if (token?.text.endsWith("\n")) group.lastChild.before(box); // behind it would be on the next line
      else group.append(box);
    }
    return group;
  }

  // `on.point(token | node | null)` follows hover and focus, `on.open(round, token)` a click or Enter.
  window.sssdDemo.tokenStream = (words, describe, on) => {
    const promptBox = h("div", { class: "ts-prompt-tokens", role: "listbox", "aria-label": words["view.prompt"] });
    const promptCount = h("summary", {});
    const prompt = h("details", { class: "ts-prompt" }, promptCount, promptBox);
    const answer = h("div", { class: "ts-answer", role: "listbox", "aria-label": words["view.tokens"] });
    const empty = h("p", { class: "ts-empty" });
    const element = h("div", { class: "ts-scroll", tabindex: "-1" }, prompt, answer, empty);
    let drawn = null;
    let model = null;

    const tokens = () => [...answer.querySelectorAll(".ts-token, .ts-draft")].filter((item) => item.offsetParent);
    const dataOf = (item) => {
      const round = model.rounds[Number(item.dataset.round)];
      if (item.classList.contains("ts-draft")) return round.nodes[Number(item.dataset.node)];
      return round.committed.find((token) => token.position === Number(item.dataset.position));
    };
    const pointed = (event) => event.target.closest?.(".ts-token, .ts-draft");
    answer.addEventListener("pointerover", (event) => pointed(event) && on.point(dataOf(pointed(event))));
    answer.addEventListener("pointerleave", () => on.point(null));
    answer.addEventListener("focusin", (event) => pointed(event) && on.point(dataOf(pointed(event))));
    answer.addEventListener("click", (event) => {
      if (pointed(event) && getSelection().isCollapsed) on.open(dataOf(pointed(event)).round, dataOf(pointed(event)));
    });
    answer.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && pointed(event)) on.open(dataOf(pointed(event)).round, dataOf(pointed(event)));
    });
    roving(answer, tokens, () => {});

    function drawPrompt() {
      promptCount.textContent = fill(words["view.prompt_count"], { n: model.prompt.length });
      promptBox.replaceChildren(
        ...model.prompt.map((token) => {
          const item = h("span", { class: "ts-token fate-prompt", "data-position": token.position - model.prompt.length });
          if (typeof token.piece === "string") item.append(...written(token.piece));
          else Object.assign(item.dataset, { label: hex(token.piece) }) && item.classList.add("ts-bytes");
          return item;
        }),
      );
      prompt.hidden = !model.prompt.length;
    }

    return {
      element,
      // Draw the first `shown` rounds; those already there stay.
      draw(newModel, shown) {
        const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
        model = newModel;
        empty.textContent = model ? "" : words["view.nothing"];
        prompt.hidden = !model;
        if (!model) {
          answer.replaceChildren();
          drawn = null;
          return;
        }
        if (drawn !== model.key) {
          answer.replaceChildren();
          drawPrompt();
          drawn = model.key;
        }
        while (answer.children.length > shown) answer.lastChild.remove();
        // The last round is drawn anew when the answer ends: only then is its end token known as such.
        if (model.end && answer.children.length === model.rounds.length) answer.lastChild?.remove();
        for (let index = answer.children.length; index < shown; index++) {
          answer.append(roundGroup(model.rounds[index], describe, words));
        }
        if (!answer.querySelector('[tabindex="0"]')) tokens()[0]?.setAttribute("tabindex", "0");
        if (atEnd) element.scrollTop = element.scrollHeight;
      },
      open(index) {
        for (const group of answer.children) group.classList.toggle("is-open", Number(group.dataset.round) === index);
        const open = answer.children[index];
        if (!open) return;
        const group = open.getBoundingClientRect();
        const frame = element.getBoundingClientRect();
        if (group.top < frame.top || group.bottom > frame.bottom) {
          element.scrollTop += group.top - frame.top - frame.height / 3;
        }
      },
      // Light up the words a draft was copied from: positions over prompt + answer.
      light(copy) {
        element.querySelectorAll(".is-matched, .is-copied").forEach((item) => {
          item.classList.remove("is-matched", "is-copied");
        });
        if (!copy) return;
        for (let offset = 0; offset < copy.length; offset++) {
          const position = copy.start + offset - model.prompt.length;
          const item = element.querySelector(`.ts-token[data-position="${position}"]`);
          item?.classList.add(offset < copy.match ? "is-matched" : "is-copied");
        }
      },
      mark(token) {
        element.querySelectorAll(".is-pointed").forEach((item) => item.classList.remove("is-pointed"));
        if (!token || token.round === undefined) return;
        const group = answer.children[token.round];
        group?.querySelector(`[data-node="${token.node}"]`)?.classList.add("is-pointed");
      },
    };
  };
})();
