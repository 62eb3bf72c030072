// Name, state of the model, and the switch between light and dark.
(() => {
  const { h } = window.sssdDemo;

  window.sssdDemo.header = (element, props, watch) => {
    const { words } = window.sssdDemo;
    element.classList.add("frame-head");
    const dot = h("span", { class: "fh-dot", "aria-hidden": "true" });
    const text = h("span", { class: "fh-text" });
    const bar = h("progress", { class: "fh-progress", max: 1, "aria-label": words["head.progress"] });
    const status = h("div", { class: "fh-status", role: "status" }, dot, text, bar);
    const theme = h("button", {
      type: "button", class: "av-button fh-theme", "aria-label": words["head.theme"], title: words["head.theme"],
      onclick: () => document.body.classList.toggle("dark"),
    }, "◐");
    const model = h("p", {});
    const about = h("div", { class: "fh-about", id: "about" }, h("p", {}, words["head.about"]), model);
    const help = h("button", {
      type: "button", class: "av-button fh-help", "aria-label": words["head.help"], title: words["head.help"],
      "aria-controls": "about", "aria-expanded": "false",
      onclick: () => open(about.hidden),
    }, "?");
    const open = (wanted) => {
      about.hidden = !wanted;
      help.setAttribute("aria-expanded", String(wanted));
    };
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || about.hidden) return;
      open(false);
      help.focus();
    });
    about.hidden = true;
    element.replaceChildren(
      h("div", { class: "fh-name" }, h("strong", {}, words["head.name"]), h("span", {}, words["head.tagline"])),
      status, theme, help, about,
    );

    function render() {
      const value = props.value ?? { state: "loading", text: "", about: "", fraction: null };
      element.dataset.state = value.state;
      text.textContent = value.text;
      model.textContent = value.about;
      bar.hidden = value.state !== "loading";
      if (value.fraction === null) bar.removeAttribute("value");
      else bar.value = value.fraction;
    }

    render();
    watch("value", render);
  };
})();
