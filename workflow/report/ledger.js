// Filter and search of the ledger of claims. Without it the ledger is there in full.
"use strict";

const form = document.getElementById("filter");

if (form) {
  const fields = ["search", "paper", "verdict", "kind"].map((id) => document.getElementById(id));
  const [search, paper, verdict, kind] = fields;
  const count = document.getElementById("count");
  const none = document.getElementById("none");
  const rows = [...document.querySelectorAll("table.ledger tbody tr")];
  const texts = rows.map((row) => row.textContent.toLowerCase());

  function show() {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, k) => {
      const fits = (!paper.value || row.dataset.paper === paper.value)
        && (!verdict.value || row.dataset.verdict === verdict.value)
        && (!kind.value || row.dataset.kind === kind.value)
        && wanted.every((word) => texts[k].includes(word));
      row.hidden = !fits;
      shown += fits;
    });
    count.textContent = `${shown} of ${rows.length} claims`;
    none.hidden = shown > 0;
  }

  // A link such as claims.html#paper=range&verdict=reproduced opens the ledger filtered; one to a claim shows that claim.
  function follow() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const filters = fields.some((field) => asked.has(field.id));
    fields.forEach((field) => { field.value = filters ? asked.get(field.id) || "" : ""; });
    show();
  }

  form.hidden = false;
  form.addEventListener("input", show);
  form.addEventListener("change", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault(); // the fields would be emptied only after this
    fields.forEach((field) => { field.value = ""; });
    show();
  });
  window.addEventListener("hashchange", follow);
  follow();
}
