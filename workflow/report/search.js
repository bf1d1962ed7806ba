// Search of the report: ranks the entries of index.js, for the search box and for the ledger. All pages are complete without it.
"use strict";

// Groups of words that readers use as synonyms.
const SYNONYMS = [
  ["averaging", "avg"],
  ["truncation", "trunc"],
  ["contraction", "contract", "shrink", "rate"],
  ["lipschitz", "delta", "bound"],
  ["epsilon", "budget", "eps"],
  ["help", "improve", "better", "smaller", "useful"],
  ["utility", "ecdf", "useful", "accuracy"],
  ["coverage", "covers", "interval"],
  ["attack", "membership", "domias", "inference"],
  ["dp", "private", "privacy", "guarantee", "differential"],
  ["salary", "salaries", "income", "wage", "sdr"],
  ["quantile", "percentile"],
  ["histogram", "ph", "laplace"],
  ["zcdp", "rho"],
  ["weight", "alpha", "downweighting"],
  ["censoring", "censor", "clip"],
  ["misprint", "erratum", "error", "mistake", "wrong"],
  ["credit", "german"],
  ["cancer", "breast"],
  ["resample", "replicate", "repeated"],
  ["best", "closest", "closer", "smallest"],
  ["several", "multiple", "five", "m"],
  ["preserve", "keep", "retain"],
  ["convergence", "converge", "contract"],
  ["hurt", "cost", "lose", "degrade"],
  ["record", "person", "people", "somebody", "someone", "individual", "row"],
  ["detect", "find", "discover", "identify", "recognize"],
];

const Search = (() => {
  const GREEK = {
    α: "alpha", β: "beta", γ: "gamma", δ: "delta", ε: "epsilon", θ: "theta", λ: "lambda", μ: "mu", π: "pi", ρ: "rho", σ: "sigma", τ: "tau", φ: "phi",
  };
  const STOP = new Set("a an and are as at be by can could do does for from has have how i if in is it its many much of on or so than that the there they this to us was we were what when where which why will with you".split(" "));
  const SAME = SYNONYMS.map((group) => group.map((word) => stem(word)));

  // "95 percent" and "95th percentile" become "95%", and Greek letters their names. "Figure 2" and "ε = 3" become one word, in addition to their parts.
  function normal(text) {
    return text.normalize("NFKC").toLowerCase()
      .replace(/\p{Script=Greek}/gu, (letter) => GREEK[letter] || letter)
      .replace(/(\d)(?:st|nd|rd|th)\s+(?:percentile|centile|quantile)/g, "$1% quantile")
      .replace(/(\d)\s*(?:%|percent\b|per cent\b)/g, "$1%")
      .replace(/\bdata\s+set(s?)\b/g, "dataset$1")
      .replace(/\beqs?\b\.?/g, "equation")
      .replace(/\bfig\b\.?/g, "figure")
      .replace(/[−–]/g, "-");
  }

  function stem(word) {
    if (!/^[a-z]{5,}$/.test(word)) return word;
    const short = word.replace(/(ations?|ating|ated|ions?|ings?|ers?|ed|es|s|e)$/, "");
    return short.length > 2 ? short : word;
  }

  function words(text) {
    const joined = normal(text)
      .replace(/\b(figure|table|section|equation|theorem)\s*(\d+[a-z]?)\b/g, " $1$2 $1 ")
      .replace(/\b(epsilon|delta|rho|[kmn])\s*=?\s*(\d+(?:\.\d+)?)\b/g, " $1$2 $1 $2 ");
    return (joined.match(/[\p{L}\p{N}][\p{L}\p{N}_.^%-]*/gu) || []).flatMap((word) => {
      const bare = word.replace(/[.^-]+$/, "");
      const parts = bare.split(/[_-]/).filter((part) => part.length > 1);
      return [bare, ...(parts.length > 1 || /_/.test(bare) ? parts : [])].map(stem);
    });
  }

  // Words of a question, each with its synonyms, and quoted phrases.
  function question(text) {
    const phrases = [...text.matchAll(/["“]([^"”]+)["”]/g)].map((match) => normal(match[1]).trim());
    const terms = [...new Set(words(text.replace(/["“”]/g, " ")))].filter((word) => !STOP.has(word));
    return { terms: terms.map((word) => ({ word, same: SAME.filter((group) => group.includes(word)).flat().filter((other) => other !== word) })), phrases };
  }

  // Weight of a term in a document: full if the document has the word; less if a longer word begins with it or, failing that, for a synonym.
  function weight(term, counts, keys) {
    if (counts.has(term.word)) return counts.get(term.word);
    const longer = /^[a-z]{3,}$/.test(term.word) ? keys.filter((key) => key.startsWith(term.word)) : [];
    return 0.6 * Math.max(0, ...(longer.length ? longer : term.same).map((word) => counts.get(word) || 0));
  }

  let documents = null;
  function all() {
    documents ??= (window.INDEX || []).map((entry) => {
      const counts = new Map();
      [[entry.title, 3], [entry.tags || "", 2], [entry.text || "", 1]].forEach(([text, value]) => {
        words(text).forEach((word) => counts.set(word, Math.max(counts.get(word) || 0, value) + 0.2));
      });
      return { ...entry, counts, keys: [...counts.keys()], plain: normal([entry.title, entry.tags, entry.text].join(" ")) };
    });
    return documents;
  }

  // Smallest share of the question that a hit answers, relative to the share that the best hit answers.
  const NEARLY = 0.6;

  // Documents that contain all phrases and answer nearly as much of the question as the best one, best first.
  function rank(text, kind = "") {
    const { terms, phrases } = question(text);
    if (!terms.length && !phrases.length) return { hits: [], complete: true };
    const pool = all().filter((entry) => phrases.every((phrase) => entry.plain.includes(phrase)));
    const weights = pool.map((entry) => terms.map((term) => weight(term, entry.counts, entry.keys)));
    const rarity = terms.map((_, k) => Math.log(1 + pool.length / (0.5 + weights.filter((row) => row[k] > 0).length)));
    const sum = (values) => values.reduce((total, value) => total + value, 0);
    const scored = pool.map((entry, place) => {
      const row = weights[place];
      // Share of the question that the document answers: rare words count most, a word that is only in the text counts about half.
      const share = sum(row.map((value, k) => rarity[k] * Math.min(1, value / 2))) / (sum(rarity) || 1);
      const titled = terms.some((term) => normal(entry.title).startsWith(`${term.word}:`)) ? 2 : 1;
      const score = sum(row.map((value, k) => rarity[k] * value / (value + 3))) * share * titled * (entry.boost || 1) / (1 + entry.keys.length / 400);
      return { ...entry, complete: row.every(Boolean), share, score };
    }).filter((entry) => (entry.share || !terms.length) && (!kind || entry.kind === kind));
    const best = Math.max(0, ...scored.map((entry) => entry.share));
    const hits = scored.filter((entry) => entry.share >= NEARLY * best).sort((a, b) => b.score - a.score);
    return { hits, complete: !hits.length || hits.some((entry) => entry.complete) };
  }

  // Mark the words of a question.
  function highlight(node, text) {
    const { terms, phrases } = question(text);
    const wanted = new Set(terms.flatMap((term) => [term.word, ...term.same]));
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    texts.forEach((text) => {
      const parts = text.data.split(/([\p{L}\p{N}_%]+)/u);
      if (!parts.some((part) => hit(part))) return;
      text.replaceWith(...parts.map((part) => {
        if (!hit(part)) return part;
        const mark = document.createElement("mark");
        mark.textContent = part;
        return mark;
      }));
    });
    function hit(part) {
      return /[\p{L}\p{N}]/u.test(part) && (words(part).some((word) => wanted.has(word)) || phrases.includes(normal(part)));
    }
  }

  function unmark(node) {
    node.querySelectorAll("mark").forEach((mark) => mark.replaceWith(mark.textContent));
    node.normalize();
  }

  return { rank, highlight, unmark };
})();

// Search box at the top of every page: shows hits of every kind while the reader types; Enter leads to the ledger.
const box = document.getElementById("ask");
if (box) {
  const form = box.closest("form");
  const list = document.getElementById("hits");
  const count = document.getElementById("hits-count");
  const root = form.dataset.root;

  function show() {
    const { hits, complete } = Search.rank(box.value);
    list.replaceChildren(...hits.slice(0, 8).map((hit) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = root + hit.url;
      link.textContent = hit.title;
      const kind = document.createElement("span");
      kind.className = "minor";
      kind.textContent = ` ${hit.kind}${hit.note ? `: ${hit.note}` : ""}`;
      item.append(link, kind);
      return item;
    }));
    count.textContent = !box.value.trim() ? "" : hits.length
      ? `${hits.length} ${hits.length === 1 ? "hit" : "hits"}${complete ? "" : "; none contains all words"}${hits.length > 8 ? "; the best eight are shown" : ""}`
      : "Nothing found.";
  }

  form.hidden = false;
  box.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    location.href = `${root}claims.html#q=${encodeURIComponent(box.value)}`;
  });
}
