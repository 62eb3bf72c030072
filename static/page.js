// What the page does by itself: keep the conversation over a reload, hand a text over as a file.
(() => {
  const KEY = "sssd_demo.conversation";

  Object.assign((window.sssdDemo ??= {}), {
    // Kept for this tab only; a duplicated tab starts with a copy.
    keep(history) {
      sessionStorage.setItem(KEY, JSON.stringify(history ?? []));
      return [];
    },
    kept() {
      try {
        return JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
      } catch {
        return [];
      }
    },
    save(name, text) {
      if (!text) return [];
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
      return [];
    },
  });
})();
