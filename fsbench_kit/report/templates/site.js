// Search and filters. What is chosen stands in the address, so that it can be sent, kept and gone back to.
const form = document.querySelector("form.find");
const said = form.querySelector("output");
const reset = form.querySelector("button");
const plain = (text) => text.normalize("NFKC").toLowerCase();
const reports = [...document.querySelectorAll(".reports > li")].map((item) => ({
  item, text: plain(item.textContent), facets: JSON.parse(item.dataset.facets),
}));
const chosen = () => [...new FormData(form)].filter(([, value]) => value);

function show() {
  const words = plain(form.elements.q.value).split(/\s+/);
  const filters = chosen().filter(([name]) => name !== "q");
  let number = 0;
  for (const { item, text, facets } of reports) {
    const fits = words.every((word) => text.includes(word))
      && filters.every(([name, value]) => facets[name].includes(value));
    item.hidden = !fits;
    number += fits;
  }
  reset.hidden = chosen().length === 0;
  said.value = number ? `${number} of ${reports.length} reports` : "No report fits.";
}

function toAddress() {
  show();
  history.replaceState(null, "", `#${new URLSearchParams(chosen())}`);
}

function fromAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  for (const field of form.elements) {
    if (!field.name) continue;
    field.value = wanted.get(field.name) ?? "";
    if (field.selectedIndex === -1) field.selectedIndex = 0; // a value that no report has any more
  }
  show();
}

form.addEventListener("input", toAddress);
form.addEventListener("submit", (event) => event.preventDefault());
reset.addEventListener("click", () => { form.reset(); toAddress(); form.elements.q.focus(); });
addEventListener("hashchange", () => { if (location.hash !== "#main") fromAddress(); });
form.hidden = false;
fromAddress();
