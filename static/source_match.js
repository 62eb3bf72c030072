// Where a draft was copied from: found again in the text itself, so that a visitor can check the claim.
(() => {
  // The latest place in `ids` (prompt and answer before the round) where the last `match` tokens and then `path`
  // occur. `from` and `to` bound the whole occurrence. Returns {start, match, length} or null.
  function findCopy(ids, path, match, from, to) {
    const wanted = [...ids.slice(ids.length - match), ...path];
    for (let start = Math.min(to, ids.length) - wanted.length; start >= from; start--) {
      if (wanted.every((id, offset) => ids[start + offset] === id)) return { start, match, length: wanted.length };
    }
    return null;
  }

  // The copy behind one draft node, {start, match, length} over prompt + answer; null where none can be shown.
  function copyOf(model, round, node) {
    if (!["prompt", "output"].includes(node.source) || node.match < 1) return null;
    const path = [];
    for (let at = node; at; at = round.nodes[at.parent]) path.unshift(at.id);
    const ids = model.idsBefore(round);
    const end = model.prompt.length;
    // A match in the answer may begin in the prompt, and a long one may run past the prompt's end.
    const first = node.source === "prompt" ? [0, end] : [Math.max(0, end - node.match), ids.length];
    return findCopy(ids, path, node.match, ...first) ?? findCopy(ids, path, node.match, 0, ids.length);
  }

  Object.assign((window.sssdDemo ??= {}), { findCopy, copyOf });
})();
