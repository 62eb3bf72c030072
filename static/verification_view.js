// "Verification, step by step": one line for each test of the open round; the chosen one shows its numbers.
(() => {
  const { h, s, fill, roving, visible, verificationSteps } = window.sssdDemo;
  const MARKS = { accepted: "✓", rejected: "×", ignored: "", bonus: "+", plain: "" };
  const BAR = 240; // width of the line from 0 to 1

  // The line from 0 to 1: the stretch that means yes, and where the coin fell.
  function coinBar({ from, to, coin }) {
    const x = coin * BAR;
    return s(
      "svg",
      { class: "vs-bar", viewBox: `-14 0 ${BAR + 28} 22`, "aria-hidden": "true" },
      s("text", { x: -5, y: 16, "text-anchor": "end" }, "0"),
      s("text", { x: BAR + 5, y: 16 }, "1"),
      s("rect", { class: "vs-track", x: 0, y: 8, width: BAR, height: 8, rx: 2 }),
      s("rect", { class: "vs-yes", x: from * BAR, y: 8, width: Math.max(1, (to - from) * BAR), height: 8, rx: 2 }),
      s("line", { class: "vs-coin", x1: x, x2: x, y1: 5, y2: 19 }),
      s("circle", { class: "vs-coin", cx: x, cy: 5, r: 4 }),
    );
  }

  // What a refusal leaves of the model's law: for a few tokens p, q and their rest, as bars of one scale.
  function leftTable(words, left) {
    const most = Math.max(...left.flatMap(({ p, q, residual }) => [p, q, residual]));
    const cell = (name, number) =>
      h(
        "td",
        {},
        h("span", { class: `vs-share is-${name}`, style: `--share: ${most ? number / most : 0}` }),
        number >= 0.0005 ? number.toFixed(3) : number ? "<.001" : "0",
      );
    const head = ["token", "p", "q", "left"].map((name) => h("th", { scope: "col" }, words[`view.check.column.${name}`]));
    const rows = left.map((each) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, h("code", {}, visible(each.piece))),
        cell("p", each.p), cell("q", each.q), cell("left", each.residual),
      ),
    );
    return h(
      "table",
      { class: "vs-left" },
      h("caption", {}, words["view.check.left"]),
      h("thead", {}, h("tr", {}, head)),
      h("tbody", {}, rows),
    );
  }

  function card(words, step) {
    const facts = step.facts.map(([name, value]) =>
      h("span", { class: "vs-fact" }, h("i", {}, words[`view.check.fact.${name}`]), " ", value),
    );
    return h(
      "div",
      { class: "vs-card" },
      step.bar ? coinBar(step.bar) : null,
      facts.length ? h("p", { class: "vs-facts" }, facts) : null,
      step.left.length ? leftTable(words, step.left) : null,
    );
  }

  // `on.check(token | null)` is told which token's test is being looked at, `on.tell(text)` what to read out.
  window.sssdDemo.verificationView = (words, on) => {
    let told = null;
    let drawn = "";
    let at = 0;
    const toggle = h(
      "button",
      { type: "button", class: "vs-toggle", "aria-expanded": "false", onclick: () => unfold(body.hidden) },
      words["view.check.title"],
    );
    const redone = h("span", { class: "vs-redone" });
    const count = h("span", { class: "av-hint" });
    const go = (by, label, sign) =>
      h("button", { type: "button", class: "av-button", "aria-label": label, title: label, onclick: () => step(by) }, sign);
    const previous = go(-1, words["view.check.previous"], "◀");
    const next = go(1, words["view.check.next"], "▶");
    const lead = h("p", { class: "vs-lead" });
    const list = h("ol", { class: "vs-steps" });
    const formula = h("p", { class: "vs-formula" });
    const body = h("div", { class: "vs-body" }, lead, h("div", { class: "vs-go" }, previous, next, count), list, formula);
    const element = h("section", { class: "vs", "aria-label": words["view.check.title"] }, h("div", { class: "vs-top" }, toggle, redone), body);
    body.hidden = true;
    const lines = () => [...list.querySelectorAll(".vs-line")];
    roving(list, lines, (line) => choose(lines().indexOf(line)));

    function unfold(open) {
      body.hidden = !open;
      toggle.setAttribute("aria-expanded", open);
      choose(at);
      if (open) body.scrollIntoView({ block: "nearest" });
    }

    function step(by) {
      if (!told?.steps[at + by]) return;
      choose(at + by);
      const { token, text } = told.steps[at];
      on.tell(`“${visible(token.piece)}” ${text}`);
      lines()[at].parentElement.scrollIntoView({ block: "nearest" });
    }

    function choose(index) {
      at = index;
      const chosen = told?.steps[at];
      lines().forEach((line, place) => {
        const here = place === at;
        line.setAttribute("tabindex", here ? "0" : "-1");
        if (here) line.setAttribute("aria-current", "step");
        else line.removeAttribute("aria-current");
        line.parentElement.querySelector(".vs-card")?.remove();
        if (here) line.after(card(words, chosen));
      });
      // Not disabled: a button with the focus would lose it.
      previous.setAttribute("aria-disabled", at === 0);
      next.setAttribute("aria-disabled", !told || at >= told.steps.length - 1);
      count.textContent = told ? fill(words["view.check.count"], { n: at + 1, all: told.steps.length }) : "";
      on.check(body.hidden || !chosen ? null : chosen.token);
    }

    function line({ token, text }, index) {
      return h(
        "li",
        {},
        h(
          "button",
          { type: "button", class: `vs-line is-${token.fate}`, onclick: () => choose(index) },
          h("span", { class: "vs-mark", "aria-hidden": "true" }, MARKS[token.fate]),
          h("span", {}, h("code", {}, visible(token.piece) || words["view.no_bytes"]), " ", text),
        ),
      );
    }

    return {
      element,
      draw(model, index) {
        const place = model ? `${model.key} ${index}` : "";
        if (place === drawn) return; // a round never changes, and the test that is looked at stays
        drawn = place;
        told = verificationSteps(words, model?.rounds[index]);
        element.hidden = !told;
        list.replaceChildren(...(told?.steps ?? []).map(line));
        lead.textContent = told?.lead ?? "";
        formula.textContent = told?.formula ?? "";
        const wrong = told?.problems ?? [];
        redone.textContent = wrong.length ? `${words["view.recheck.disagrees"]} ${wrong.join(" ")}` : words["view.recheck.agrees"];
        redone.classList.toggle("is-wrong", wrong.length > 0);
        choose(0);
      },
      // The test of a token that was pointed at in the tree.
      choose(token) {
        const index = body.hidden ? -1 : (told?.steps ?? []).findIndex((each) => each.token.node === token.node);
        if (index >= 0) choose(index);
      },
    };
  };
})();
