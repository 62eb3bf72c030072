// What the page does by itself: keep the conversation over a reload, hand a text over as a file.
(() => {
  const CONVERSATION = "sssd_demo.conversation";
  const DRAFT = "sssd_demo.draft";

  function download(name, blob) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  Object.assign((window.sssdDemo ??= {}), {
    // Kept for this tab only; a duplicated tab starts with a copy.
    keep(history) {
      sessionStorage.setItem(CONVERSATION, JSON.stringify(history ?? []));
      return [];
    },
    keepDraft(text) {
      sessionStorage.setItem(DRAFT, text ?? "");
      return [];
    },
    // The conversation and the unsent message that this tab held before it was loaded anew.
    kept() {
      const draft = sessionStorage.getItem(DRAFT) ?? "";
      try {
        return [JSON.parse(sessionStorage.getItem(CONVERSATION) ?? "[]"), draft];
      } catch {
        return [[], draft];
      }
    },
    // On a narrow screen the settings stand folded below the message.
    unfoldSettings() {
      const open = document.getElementById("chat-left").classList.toggle("is-unfolded");
      document.getElementById("unfold-settings").setAttribute("aria-expanded", String(open));
      return [];
    },
    // Both save a file if there is one, which came as text or in base64.
    save(name, text) {
      if (text) download(name, new Blob([text], { type: "application/json" }));
      return [];
    },
    saveBytes(name, data) {
      if (data) download(name, new Blob([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))]));
      return [];
    },
  });
})();
