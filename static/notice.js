// One line that says what just happened, to eyes and to screen readers.
(() => {
  window.sssdDemo.notice = (element, props, watch) => {
    element.className = "notice";
    element.setAttribute("role", "status");
    const render = () => {
      if (props.value === null) return; // what was said stays
      element.textContent = props.value ?? "";
      element.hidden = !props.value;
    };
    render();
    watch("value", render);
  };
})();
