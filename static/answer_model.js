// The payload of one answer, unpacked: rounds with their tokens and draft nodes. No drawing here.
(() => {
  const { fill } = window.sssdDemo;
  const SOURCES = { P: "prompt", O: "output", D: "datastore", R: "recycled", M: "model", J: "jacobi" };
  const FATES = { a: "accepted", r: "rejected", i: "ignored" };
  const ROOT = -1;
  const numberAt = (letters, place) => letters.charCodeAt(place) - "0".charCodeAt(0);
  const encoder = new TextEncoder();

  const bytesOf = (piece) => (typeof piece === "string" ? [...encoder.encode(piece)] : piece);
  const hex = (bytes) => bytes.map((byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" ");

  // White space and characters without a picture, in signs that can be seen.
  const SIGNS = { " ": "·", "\n": "⏎", "\t": "→", "\r": "␍" };
  const INVISIBLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]/;
  const codeOf = (character) => "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");

  function signOf(character) {
    if (character in SIGNS) return SIGNS[character];
    return INVISIBLE.test(character) ? codeOf(character) : null;
  }

  function visible(piece) {
    if (typeof piece !== "string") return hex(piece);
    return [...piece].map((character) => signOf(character) ?? character).join("");
  }

  // How a round is called on screen. The first one reads the prompt and is not counted with the others.
  const roundName = (words, index) => (index ? fill(words["view.round"], { n: index }) : words["view.reading"]);

  const withheldGuesses = (words, round) =>
    round.withheld === 1 ? words["view.withheld_one"] : fill(words["view.withheld"], { n: round.withheld });

  const besideTree = (words, round) =>
    fill(words[round.nodes.length ? "view.beside" : "view.beside_only"], { n: round.beside });

  // Whether a round's draft had been prepared ahead, in words; empty for methods that prepare nothing.
  function cacheNote(words, cache) {
    if (!cache) return "";
    const served = words[`view.cache.served.${cache.served}`];
    return fill(words[`view.cache.${cache.state.replace(" ", "_")}`], { n: cache.prepared, served });
  }

  // The tests of a round whose drafts were sampled, in order: see answer_payload.py.
  function testsOf(round, vocabulary) {
    return round.v?.map(([node, passed, coin, threshold, p, q, weight, mass, ...shares]) => {
      const left = [];
      for (let at = 0; at < shares.length; at += 4) {
        const [place, p, q, residual] = shares.slice(at, at + 4);
        left.push({ id: vocabulary[place][0], piece: vocabulary[place][1], p, q, residual });
      }
      return { node, passed: Boolean(passed), coin, threshold, p, q, weight, mass, left };
    });
  }

  const drawOf = (round) => round.g && { coin: round.g[0], start: round.g[1], prob: round.g[2], residual: Boolean(round.g[3]) };

  const problemsOf = (round) =>
    (round.z ?? []).map(([what, node, recorded, found]) => ({ what, node, recorded, found }));

  function nodesOf(round, vocabulary, index, tests) {
    const depths = [];
    const coins = tests ? new Map(tests.map((test) => [test.node, test.coin])) : null;
    return (round.t ?? []).map((place, node) => {
      const [id, piece] = vocabulary[place];
      const parent = numberAt(round.p, node) - 1;
      depths.push(parent === ROOT ? 1 : depths[parent] + 1);
      return {
        kind: "node", id, piece, round: index, node, parent, depth: depths[node],
        fate: FATES[round.f[node]], source: SOURCES[round.s[node]], letter: round.s[node],
        prob: round.q[node] / 1000, score: round.d[node] / 1000, match: numberAt(round.m, node),
        coin: coins?.get(node) ?? (typeof round.u?.[node] === "number" ? round.u[node] / 1000 : null),
      };
    });
  }

  function roundOf(round, index, start, vocabulary) {
    const tests = testsOf(round, vocabulary);
    const cache = round.a ? { state: round.a[0], prepared: round.a[1], served: round.a[2] } : null;
    const nodes = nodesOf(round, vocabulary, index, tests);
    const [id, piece] = vocabulary[round.b];
    const path = nodes.filter((node) => node.fate === "accepted");
    const bonus = {
      kind: "bonus", id, piece, round: index, node: ROOT, depth: path.length + 1,
      fate: nodes.length || round.h ? "bonus" : "plain", prob: round.bp / 1000, source: null, match: 0,
    };
    const committed = [...path, bonus].slice(0, round.k).map((token, position) => {
      const shown = round.x ? round.x[position] : token.piece;
      return { ...token, kind: "committed", text: shown, cache, position: start + position };
    });
    const hasBonus = committed.length > path.length;
    return {
      index, nodes, path, committed, start, hasBonus, bonus,
      rule: round.r, tests, draw: drawOf(round), problems: problemsOf(round), tossed: Boolean(round.u || tests),
      withheld: round.h ?? 0, beside: round.c ?? 0, cache, startMs: round.ms[0], draftMs: round.ms[1], verifyMs: round.ms[2],
      count: (fate) => nodes.filter((node) => node.fate === fate).length,
    };
  }

  // {prompt: [tokens], rounds, context(round): ids before it, …} from a payload; null where there is no answer yet.
  function unpack(value) {
    if (!value || !value.rounds) return null;
    const vocabulary = [...value.vocabulary];
    let start = 0;
    const rounds = value.rounds.map((round, index) => {
      vocabulary.push(...(round.w ?? []));
      const made = roundOf(round, index, start, vocabulary);
      start += made.committed.length;
      return made;
    });
    const answer = rounds.flatMap((round) => round.committed);
    const prompt = value.prompt.map((place, position) => {
      const [id, piece] = vocabulary[place];
      return { kind: "prompt", id, piece, position };
    });
    return {
      // Two answers never agree in all of these; the same answer does, however far it has come.
      key: [value.created, rounds[0]?.startMs, value.recorded?.date, value.method, ...prompt.map((token) => token.id)].join(),
      recorded: value.recorded, method: value.method, question: value.question, end: value.end,
      prompt, rounds, answer,
      idsBefore: (round) => [...prompt, ...answer.slice(0, round.start)].map((token) => token.id),
    };
  }

  Object.assign((window.sssdDemo ??= {}), { unpack, roundName, withheldGuesses, besideTree, cacheNote, visible, signOf, bytesOf, hex, ROOT });
})();
