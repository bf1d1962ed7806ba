// Search, filters and order of the ledger of claims. The ledger is complete without it.
"use strict";

const form = document.getElementById("filter");

if (form) {
  const facets = ["paper", "shows", "mechanism", "quantity", "erratum", "verdict", "kind"];
  const fields = ["q", ...facets, "sort"].map((id) => document.getElementById(id === "q" ? "search" : id));
  const [search, ...selects] = fields;
  const sort = selects.pop();
  const count = document.getElementById("count");
  const none = document.getElementById("none");
  const body = document.querySelector("table.ledger tbody");
  const rows = [...body.rows];
  const place = new Map(rows.map((row, k) => [row.id, k]));
  const verdicts = [...document.getElementById("verdict").options].map((option) => option.value);
  const name = (field) => (field === search ? "q" : field.id);

  function show() {
    const query = search.value.trim();
    const { hits, complete } = Search.rank(query, "claim");
    const rank = new Map(hits.map((hit, k) => [hit.id, k]));
    Search.unmark(body);
    let shown = 0;
    rows.forEach((row) => {
      const fits = selects.every((field) => !field.value || (row.dataset[field.id] || "").split(" | ").includes(field.value)) && (!query || rank.has(row.id));
      row.hidden = !fits;
      shown += fits;
      if (fits && query) Search.highlight(row, query);
    });
    const by = {
      "": (a, b) => (query ? rank.get(a.id) - rank.get(b.id) : 0),
      ledger: () => 0,
      verdict: (a, b) => verdicts.indexOf(a.dataset.verdict) - verdicts.indexOf(b.dataset.verdict),
      claim: (a, b) => a.cells[1].textContent.localeCompare(b.cells[1].textContent),
    }[sort.value];
    body.append(...[...rows].sort((a, b) => ((!query || (!a.hidden && !b.hidden)) && by(a, b)) || place.get(a.id) - place.get(b.id)));
    count.textContent = `${shown} of ${rows.length} claims${complete ? "" : "; none contains all words"}`;
    none.hidden = shown > 0;
  }

  // Put the question and the filters into the address, which readers can send and bookmark.
  function keep() {
    show();
    const asked = new URLSearchParams(fields.filter((field) => field.value).map((field) => [name(field), field.value]));
    history.replaceState(null, "", `#${asked}`);
  }

  // A link such as claims.html#paper=range&verdict=reproduced opens the ledger filtered; a link to a claim shows that claim.
  function follow() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const filters = fields.some((field) => asked.has(name(field)));
    fields.forEach((field) => { field.value = filters ? asked.get(name(field)) || "" : ""; });
    if (selects.some((field) => field.value)) document.getElementById("filters").open = true;
    show();
  }

  form.hidden = false;
  document.getElementById("filters").open = matchMedia("(min-width: 48.01rem)").matches;
  form.addEventListener("input", keep);
  form.addEventListener("change", keep);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault(); // the browser would empty the fields only after this handler
    fields.forEach((field) => { field.value = ""; });
    keep();
  });
  window.addEventListener("hashchange", follow);
  follow();
  document.querySelector(":target")?.scrollIntoView({ block: "center" });
}
