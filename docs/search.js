// Search of the site: a page may have any of the words. More words, rarer words, and words of headings, of its title and of
// _keywords.yml place it higher.
var Scorer = {
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
const withAllWords = Search.performTermsSearch;
Search.performTermsSearch = (words, excluded) => {
  const pages = new Map();
  for (const word of words) {
    const results = new Map();
    for (const [term, factor] of [[word, 1], [`#${word}`, Scorer.title / Scorer.term]]) {
      for (const result of withAllWords(new Set([term]), excluded)) {
        const score = factor * result[4] + (factor == 1 && result[1].toLowerCase().includes(word) ? Scorer.title : 0);
        results.set(result[0], result.with(4, score + (results.get(result[0])?.[4] ?? 0)));
      }
    }
    for (const [page, result] of results) {
      const score = result[4] * Math.log(Search._index.docnames.length / results.size + 1);
      pages.set(page, result.with(4, score + (pages.get(page)?.[4] ?? 0)));
    }
  }
  return [...pages.values()];
};
