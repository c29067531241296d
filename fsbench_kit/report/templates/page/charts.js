// Draws each chart of the page in the place of its image, which stays where drawing fails.
for (const chart of document.querySelectorAll("figure.chart")) {
  const place = document.createElement("div");
  const image = chart.querySelector("img");
  chart.append(place);
  const actions = { export: true, source: false, compiled: false, editor: false }; // the editor is on the network
  const options = { renderer: "svg", actions, logLevel: 1 }; // 1: errors
  vegaEmbed(place, JSON.parse(chart.querySelector("script").textContent), options).then(
    () => { image.remove(); name(place); },
    (error) => { place.remove(); console.error(error); },
  );
}

// Gives the menu a name, and has screen readers pass over marks that Vega announces without a word about them.
function name(place) {
  place.querySelector("summary").ariaLabel = "Save this chart";
  for (const mark of place.querySelectorAll("[role=graphics-symbol]:not([aria-label])")) {
    mark.removeAttribute("role");
    mark.removeAttribute("aria-roledescription");
  }
}
