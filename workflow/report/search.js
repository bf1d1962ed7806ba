// Search of the report: ranks what index.js lists, and tells which rows of the ledger fit. Without it every page is there in full.
"use strict";

const Search = (() => {
  const GREEK = {
    α: "alpha", β: "beta", γ: "gamma", δ: "delta", ε: "epsilon", θ: "theta", λ: "lambda", μ: "mu", π: "pi", ρ: "rho", σ: "sigma", τ: "tau", φ: "phi",
  };
  const STOP = new Set("a an and are as at be by can could do does for from has have how i if in is it its many much of on or so than that the there they this to us was we were what when where which why will with you".split(" "));
  const SAME = (window.SYNONYMS || []).map((group) => group.map((word) => stem(word)));

  // "95 %", "95 percent" and "95th percentile" as "95%", Greek letters by name, "Figure 2" and "ε = 3" as one word beside their parts.
  function normal(text) {
    return text.normalize("NFKC").toLowerCase()
      .replace(/\p{Script=Greek}/gu, (letter) => GREEK[letter] || letter)
      .replace(/(\d)(?:st|nd|rd|th)\s+(?:percentile|centile|quantile)/g, "$1% quantile")
      .replace(/(\d)\s*(?:%|percent\b|per cent\b)/g, "$1%")
      .replace(/\bdata\s+set(s?)\b/g, "dataset$1")
      .replace(/\beqs?\b\.?/g, "equation")
      .replace(/[−–]/g, "-");
  }

  function stem(word) {
    if (!/^[a-z]{5,}$/.test(word)) return word;
    const short = word.replace(/(ations?|ating|ated|ions?|ings?|ers?|ed|es|s|e)$/, "");
    return short.length > 2 ? short : word;
  }

  function words(text) {
    const joined = normal(text).replace(/\b(?:fig(?:ure|\.)?|figures)\s*(\d+[a-z]?)\b/g, " figure$1 figure ")
      .replace(/\b(table|section|equation|theorem)\s*(\d+)\b/g, " $1$2 $1 ")
      .replace(/\b(epsilon|delta|rho|[kmn])\s*=?\s*(\d+(?:\.\d+)?)\b/g, " $1$2 $1 $2 ");
    const found = joined.match(/[\p{L}\p{N}][\p{L}\p{N}_.^%-]*/gu) || [];
    return found.flatMap((word) => {
      const bare = word.replace(/[.^-]+$/, "");
      const parts = bare.split(/[_-]/).filter((part) => part.length > 1);
      return [bare, ...(parts.length > 1 || /_/.test(bare) ? parts : [])].map(stem);
    });
  }

  // What is asked for: words, each with those that mean the same, and quoted phrases.
  function question(text) {
    const phrases = [...text.matchAll(/["“]([^"”]+)["”]/g)].map((one) => normal(one[1]).trim());
    const joined = normal(text).replace(/["“”]/g, " ");
    const numbered = new Set((joined.match(/\b(?:fig(?:ure|\.)?|table|section|equation|theorem)\s*\d+/g) || []).map((one) => stem(one.match(/^[a-z]+/)[0].replace(/^fig$/, "figure"))));
    const asked = words(joined).filter((word) => !STOP.has(word) && !numbered.has(word));
    const named = joined.match(/[\p{L}\p{N}]+_[\p{L}\p{N}]+/gu) || [];
    const parts = new Set(named.flatMap((word) => word.split("_")).map(stem));
    const terms = [...new Set(asked.filter((word) => !parts.has(word)))];
    return { terms: terms.map((word) => ({ word, same: SAME.filter((group) => group.includes(word)).flat().filter((one) => one !== word) })), phrases };
  }

  // How often a word is in counts: in full, then at the beginning of another, then by what means the same.
  function weight(term, counts, keys) {
    if (counts.has(term.word)) return counts.get(term.word);
    const begun = /^[a-z]{3,}$/.test(term.word) ? keys.filter((key) => key.startsWith(term.word)) : [];
    if (begun.length) return 0.6 * Math.max(...begun.map((key) => counts.get(key)));
    return 0.6 * Math.max(0, ...term.same.map((word) => counts.get(word) || 0));
  }

  let documents = null;
  function all() {
    documents ??= (window.INDEX || []).map((one) => {
      const counts = new Map();
      [[one.title, 3], [one.tags || "", 2], [one.text || "", 1]].forEach(([text, value]) => {
        words(text).forEach((word) => counts.set(word, Math.max(counts.get(word) || 0, value) + 0.2));
      });
      return { ...one, counts, keys: [...counts.keys()], plain: normal([one.title, one.tags, one.text].join(" ")) };
    });
    return documents;
  }

  // The documents that have all words and phrases, or where there are none some of them, best first.
  function rank(text, kind = "") {
    const { terms, phrases } = question(text);
    if (!terms.length && !phrases.length) return { hits: [], complete: true };
    const pool = all().filter((one) => phrases.every((phrase) => one.plain.includes(phrase)));
    const weights = pool.map((one) => terms.map((term) => weight(term, one.counts, one.keys)));
    const rarity = terms.map((_, k) => Math.log(1 + pool.length / (0.5 + weights.filter((each) => each[k] > 0).length)));
    const total = rarity.reduce((sum, value) => sum + value, 0) || 1;
    const scored = pool.map((one, place) => {
      const found = weights[place].filter(Boolean).length;
      const sum = weights[place].reduce((sum, value, k) => sum + rarity[k] * value / (value + 3), 0);
      // Share of the question that the document answers: rare words count most, a word only in the text counts about half.
      const share = weights[place].reduce((sum, value, k) => sum + rarity[k] * Math.min(1, value / 2), 0) / total;
      return { ...one, found, score: sum * share * (one.boost || 1) * (terms.some((term) => normal(one.title).startsWith(`${term.word}:`)) ? 2 : 1) / (1 + one.keys.length / 400) };
    }).filter((one) => one.found || !terms.length);
    scored.sort((a, b) => b.score - a.score);
    const whole = scored.filter((one) => one.found === terms.length);
    const hits = (whole.length && kind ? whole : scored).filter((one) => !kind || one.kind === kind);
    return { hits, complete: whole.length > 0 || !scored.length };
  }

  // Mark the words that were asked for.
  function highlight(node, text) {
    const { terms, phrases } = question(text);
    const wanted = new Set(terms.flatMap((term) => [term.word, ...term.same]));
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    texts.forEach((one) => {
      const parts = one.data.split(/([\p{L}\p{N}_%]+)/u);
      if (!parts.some((part) => hit(part))) return;
      one.replaceWith(...parts.map((part) => {
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

// The box of the first screen: hits of every kind while one types, the question in the address.
const box = document.getElementById("ask");
if (box) {
  const form = box.closest("form");
  const list = document.getElementById("hits");
  const count = document.getElementById("hits-count");
  const root = form.dataset.root;

  function show() {
    const { hits, complete } = Search.rank(box.value);
    list.replaceChildren(...hits.slice(0, 8).map((one) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = root + one.url;
      link.textContent = one.title;
      const kind = document.createElement("span");
      kind.className = "minor";
      kind.textContent = ` ${one.kind}${one.note ? `: ${one.note}` : ""}`;
      item.append(link, kind);
      return item;
    }));
    count.textContent = !box.value.trim() ? "" : hits.length
      ? `${hits.length} ${hits.length === 1 ? "hit" : "hits"}${complete ? "" : "; none has all the words"}${hits.length > 8 ? ", the best eight" : ""}`
      : "Nothing found.";
    const query = box.value.trim();
    history.replaceState(null, "", query ? `#q=${encodeURIComponent(query)}` : location.pathname);
  }

  form.hidden = false;
  box.value = new URLSearchParams(location.hash.slice(1)).get("q") || "";
  if (box.value) show();
  box.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    location.href = `${root}claims.html#q=${encodeURIComponent(box.value)}`;
  });
}
