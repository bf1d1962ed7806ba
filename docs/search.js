// Search of the site: a page may have any of the words. More words, rarer words, and words of headings and of its title place it
// higher.
var Scorer = {
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
const withAllWords = Search.performTermsSearch;
Search.performTermsSearch = (words, excluded) => {
  const pages = new Map();
  for (const word of words) {
    const results = withAllWords(new Set([word]), excluded);
    for (const result of results) {
      const page = pages.get(result[0]) ?? result.with(4, 0);
      const score = result[4] + (result[1].toLowerCase().includes(word) ? Scorer.title : 0);
      page[4] += score * Math.log(Search._index.docnames.length / results.length + 1);
      pages.set(result[0], page);
    }
  }
  return [...pages.values()];
};
