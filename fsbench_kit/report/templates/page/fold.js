// One button shows and hides all code. Each piece also opens on its own, and without this script.
const button = document.querySelector("button.fold");
const pieces = [...document.querySelectorAll("details.code")];
const allOpen = () => pieces.every((piece) => piece.open);
const label = () => { button.textContent = allOpen() ? "Hide all code" : "Show all code"; };
button.addEventListener("click", () => {
  const open = !allOpen();
  for (const piece of pieces) piece.open = open;
});
for (const piece of pieces) piece.addEventListener("toggle", label);
label();
button.hidden = pieces.length === 0;
