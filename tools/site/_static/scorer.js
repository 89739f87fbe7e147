// What the search puts first: pages to read, then the reference of modules (Sphinx, html_search_scorer).
var Scorer = {
  score: ([page, , , , score]) => (page.startsWith("api/") ? score / 10 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
