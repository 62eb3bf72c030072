// The speculation cache of one round: a row for each number kept, in it the tokens prepared as the target's next. What
// came true is framed, and where it had not been prepared it stands behind the others with its rank.
(() => {
  const { h, fill, moreCue } = window.sssdDemo;

  // A cell's text and what is said of it; all of it goes in as text.
  function cell(words, text, state) {
    const said = { came: words["view.sag.came"], missed: words["view.sag.not_prepared"] }[state];
    return h(
      "td",
      { class: `sk-cell${state ? ` is-${state}` : ""}` },
      h("span", { class: "sk-token" }, text),
      said ? h("span", { class: "sk-mark" }, state === "came" ? `● ${said}` : `○ ${said}`) : null,
    );
  }

  function row(words, value) {
    const came = value.came !== undefined || value.missed !== undefined;
    return h(
      "tr",
      { class: came ? "is-actual" : "" },
      h("th", { scope: "row" }, h("b", {}, `${value.k} ${words["view.sag.kept"]}`), value.path ? h("span", { class: "sk-path" }, value.path) : null),
      ...value.guesses.map((text, at) => cell(words, text, at === value.came ? "came" : "")),
      value.missed === undefined ? null : cell(words, value.missed, "missed"),
    );
  }

  // `on.step(by)` is called by the buttons.
  window.sssdDemo.saguaroCache = (words, on) => {
    const title = h("h3", {});
    const badge = h("span", { class: "sk-badge" });
    const button = (name, sign, by) =>
      h("button", { type: "button", class: "av-button", title: words[name], "aria-label": words[name], onclick: () => on.step(by) }, sign);
    const body = h("tbody", {});
    const caption = h("caption", {}, words["view.sag.added"]);
    const table = h("table", { class: "sk-grid" }, caption, body);
    const scroll = h("div", { class: "sk-scroll", tabindex: "0", role: "region" }, table);
    const more = moreCue(words, scroll, "sk-frame");
    const said = h("p", { class: "sk-said" });
    const none = h("p", { class: "sk-none" });
    const head = h("div", { class: "sk-head" }, title, button("view.sag.previous", "◀", -1), button("view.sag.next", "▶", 1), badge);
    const element = h("section", { class: "sk-cache" }, head, said, none, more.frame);

    return {
      element,
      draw(round) {
        element.hidden = !round;
        if (!round) return;
        title.textContent = fill(words["view.sag.cache"], { n: round.n });
        scroll.setAttribute("aria-label", title.textContent);
        badge.textContent = `${round.mark === "hit" ? "●" : "○"} ${round.title}`;
        badge.dataset.mark = round.mark;
        said.textContent = round.said;
        more.frame.hidden = !round.rows.length;
        none.hidden = round.rows.length > 0;
        none.textContent = words["view.sag.nothing_prepared"];
        body.replaceChildren(...round.rows.map((each) => row(words, each)));
        more.check();
      },
    };
  };
})();
