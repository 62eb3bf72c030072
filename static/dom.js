// Small helpers to build elements. Text goes in as text only: nothing a model writes is ever parsed as markup.
(() => {
  const SVG = "http://www.w3.org/2000/svg";

  function make(namespace, tag, attributes, children) {
    const made = namespace ? document.createElementNS(namespace, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
    }
    made.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return made;
  }

  const h = (tag, attributes, ...children) => make(null, tag, attributes, children);
  const s = (tag, attributes, ...children) => make(SVG, tag, attributes, children);

  // "{n} rounds" with {n: 3} → "3 rounds"
  const fill = (template, values) => template.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

  // Arrow keys move the one tab stop among `items()`; `enter` is told which item has the focus.
  function roving(container, items, enter) {
    container.addEventListener("keydown", (event) => {
      const all = items();
      const at = all.indexOf(document.activeElement);
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const goal = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : step && at >= 0 ? at + step : null;
      if (goal === null || goal === undefined || !all[goal]) return;
      event.preventDefault();
      all.forEach((item) => item.setAttribute("tabindex", "-1"));
      all[goal].setAttribute("tabindex", "0");
      all[goal].focus();
      enter(all[goal]);
    });
  }

  // A frame around `scroll` that says where more of its content is than can be seen. `check` looks anew.
  function moreCue(words, scroll, name) {
    const frame = h("div", { class: `more-frame ${name}` }, scroll);
    frame.dataset.right = words["view.more_right"];
    frame.dataset.below = words["view.more_below"];
    const check = () => {
      frame.classList.toggle("is-cut", scroll.scrollWidth - scroll.scrollLeft - scroll.clientWidth > 8);
      frame.classList.toggle("is-cut-below", scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight > 8);
    };
    scroll.addEventListener("scroll", check);
    new ResizeObserver(check).observe(scroll);
    return { frame, check };
  }

  Object.assign((window.sssdDemo ??= {}), { h, s, fill, roving, moreCue });
})();
