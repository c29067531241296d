// Sorts the rows of a table by a column, within their groups: a click on its head, and another for the other way.
const units = { "B": 1, "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30, "TiB": 2 ** 40, "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "k": 1e3, "M": 1e6 };

// What a cell is worth: its first number, with its unit; or its text. What is not known comes last.
function worth(row, place) {
  const text = row.cells[place].textContent.trim();
  const [, number, unit] = /^(?:[<>] |above |below |between )?(-?[\d,]*\.?\d+(?:e-?\d+)?)\s*([a-zA-Zµ]*)/.exec(text) ?? [];
  if (number !== undefined) return [0, Number(number.replaceAll(",", "")) * (units[unit] ?? 1), text];
  return [text === "–" || text === "" ? 2 : 1, 0, text];
}

function sort(table, place, head) {
  const down = head.ariaSort === "ascending";
  for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
  head.ariaSort = down ? "descending" : "ascending";
  for (const body of table.tBodies) {
    const rows = [...body.rows].filter((row) => row.cells.length > place && row.cells[0].tagName === "TD");
    const keys = new Map(rows.map((row) => [row, worth(row, place)]));
    const turn = down ? -1 : 1;
    rows.sort((one, other) => {
      const [a, b] = [keys.get(one), keys.get(other)];
      return a[0] - b[0] || turn * (a[1] - b[1] || a[2].localeCompare(b[2]));
    });
    body.append(...rows);
  }
}

// Offers to type what rows have to say: those stay that have all words, in their cells or in the head of their group.
function findable(table) {
  const bodies = [...table.tBodies].map((body) => {
    const rows = [...body.rows].filter((row) => row.cells[0].tagName === "TD");
    const head = [...body.rows].find((row) => !rows.includes(row))?.textContent ?? "";
    return { body, rows: rows.map((row) => ({ row, text: [head, ...row.cells].map((cell) => cell.textContent ?? cell).join(" ").toLowerCase() })) };
  });
  const every = bodies.flatMap(({ rows }) => rows);
  if (every.length < 12 || table.tHead.rows[0].cells.length < 3) return; // pairs are read from top to bottom
  const [find, label, field, said] = ["p", "label", "input", "output"].map((name) => document.createElement(name));
  find.className = "rows";
  field.type = "search";
  label.append("Rows with ", field);
  find.append(label, " ", said);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const { row, text } of every) row.hidden = !words.every((word) => text.includes(word));
    for (const { body, rows } of bodies) body.hidden = rows.length > 0 && rows.every(({ row }) => row.hidden);
    const left = every.filter(({ row }) => !row.hidden).length;
    said.value = left < every.length ? `${left} of ${every.length} rows` : "";
  });
  table.closest(".table").before(find);
}

for (const table of document.querySelectorAll("main .table table")) {
  findable(table);
  if (table.rows.length < 4) continue;
  for (const [place, head] of [...table.tHead.rows[0].cells].entries()) {
    if (!head.textContent.trim()) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, place, head));
    head.append(button);
  }
}

// On a phone the first finding stands alone above its chart, and the others are folded.
for (const finding of innerWidth < 640 ? document.querySelectorAll(".finding") : []) {
  const seen = finding.querySelector(":scope > ul");
  if (!seen) continue;
  const folded = finding.querySelector("details") ?? document.createElement("details");
  const summary = folded.querySelector("summary") ?? document.createElement("summary");
  folded.prepend(summary, seen);
  finding.append(folded);
  summary.textContent = `${finding.querySelectorAll("li").length} more findings`.replace(/^1 (.*)s$/, "1 $1");
}
