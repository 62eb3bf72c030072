// What was tested in a round, in order, told in plain words. Nothing is decided here: that the recorded numbers agree
// was found out in rechecked.py, and they are only read out.
(() => {
  const { fill, visible, ROOT } = window.sssdDemo;

  const exact = (number) => String(Number(number.toPrecision(4)));

  // A probability as people write it. What travelled in thousandths is not known any better.
  function share(p, thousandths) {
    if (thousandths && p === 0) return "<0.001";
    if (thousandths && p === 1) return ">0.999";
    if (p === 0 || p === 1) return String(p);
    if (p < 0.01) return thousandths ? p.toFixed(3) : String(Number(p.toPrecision(2)));
    return p.toFixed(p > 0.995 ? (thousandths ? 3 : 4) : p < 0.1 ? 3 : 2);
  }

  // Two numbers, written so that it can be seen which is less.
  function apart(coin, threshold, thousandths) {
    const pair = [share(coin, thousandths), share(threshold, thousandths)];
    return pair[0] === pair[1] ? [exact(coin), exact(threshold)] : pair;
  }

  // Guesses that were looked up, and all greedy ones: what the target chose at each place stays.
  function lookedUp(words, round) {
    return [ROOT, ...round.path.map((node) => node.node)].flatMap((parent, depth) => {
      const chosen = round.path[depth] ?? round.bonus;
      const tested = round.nodes.filter((node) => node.parent === parent && node.fate !== "ignored");
      return tested.map((node) => {
        const [coin, p] = node.coin === null ? ["", share(node.prob, true)] : apart(node.coin, node.prob, true);
        const name = `${round.tossed ? "point" : "greedy"}.${node.fate}`;
        const values = { p, coin, chosen: visible(chosen.piece), best: share(chosen.prob, true) };
        const bar = round.tossed ? { from: 0, to: node.prob, coin: node.coin } : null;
        return { token: node, text: fill(words[`view.check.${name}`], values), facts: [], bar, left: [] };
      });
    });
  }

  // Guesses that were drawn: p and q decide, by the round's rule.
  function drawn(words, round) {
    const refused = new Set(); // parents, below which a guess was refused
    return round.tests.map((test) => {
      const token = round.nodes[test.node];
      const again = refused.has(token.parent);
      if (!test.passed) refused.add(token.parent);
      const point = test.q === 1 && token.letter !== "M";
      const rule = round.rule === "chain" ? "tree" : round.rule;
      const sure = rule === "tree" && test.threshold === 1;
      const [coin, threshold] = apart(test.coin, test.threshold);
      const values = { coin, threshold, p: share(test.p), q: share(test.q) };
      const name = point ? `point.${token.fate}` : sure ? "sure" : `${rule}.${test.passed ? "passed" : "refused"}`;
      const gives = fill(words[again ? "view.check.gives_left" : "view.check.gives"], values);
      const facts = [
        ...(rule === "tree" ? [] : [["weight", exact(test.weight)]]),
        ["p", exact(test.p)],
        ...(point ? [] : [["q", exact(test.q)]]),
        ["threshold", exact(test.threshold)],
        ["coin", exact(test.coin)],
        ["mass", exact(test.mass)],
      ];
      const text = fill(words[`view.check.${name}`], { ...values, gives });
      return { token, text, facts, bar: { from: 0, to: test.threshold, coin: test.coin }, left: test.left };
    });
  }

  // The last line: where the model's own token comes from.
  function bonus(words, round) {
    const { draw } = round;
    if (!round.hasBonus) return [];
    const name = draw ? (draw.residual ? "residual" : "law") : round.tossed ? "unknown" : "best";
    const values = { p: share(round.bonus.prob, true) };
    if (draw) Object.assign(values, { coin: share(draw.coin), from: share(draw.start), to: share(draw.start + draw.prob) });
    const bar = draw ? { from: draw.start, to: draw.start + draw.prob, coin: draw.coin } : null;
    return [{ token: round.bonus, text: fill(words[`view.check.bonus.${name}`], values), facts: [], bar, left: [] }];
  }

  // {lead, formula, steps: [{token, text, facts, bar, left}], problems: [text]}; null where nothing was tested or drawn.
  window.sssdDemo.verificationSteps = (words, round) => {
    if (!round || (!round.nodes.length && !round.draw)) return null;
    const steps = [...(round.tests ? drawn(words, round) : lookedUp(words, round)), ...bonus(words, round)];
    const kind = round.tests ? round.rule : round.tossed || round.draw ? "point" : "greedy";
    const problems = round.problems.map(({ what, node, recorded, found }) =>
      fill(words[`view.recheck.${what}`], {
        token: visible(node === null ? round.bonus.piece : round.nodes[node].piece),
        recorded: recorded === null ? "–" : exact(recorded), found: found === null ? "–" : exact(found),
      }),
    );
    return { steps, problems, lead: words[`view.check.lead.${kind}`], formula: words[`view.check.formula.${kind}`] ?? "" };
  };
})();
