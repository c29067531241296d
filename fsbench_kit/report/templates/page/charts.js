// Draws each chart of the page in the place of its image, as wide as the page; the image stays where drawing fails.
const figures = [...document.querySelectorAll("figure.chart")];
const specOf = async (figure) => JSON.parse(await unpacked(figure.querySelector("script")));
const NARROW = 640; // below this, names of rows stand above what they name

// Fits a chart to a width. Its title stands in the page.
function fitted({ title, usermeta, ...chart }, width) {
  const unit = chart.spec ?? chart;
  const rows = usermeta?.rows;
  if (rows) {
    const above = chart.params?.find(({ name }) => name === "narrow");
    const narrow = above !== undefined && width < NARROW;
    if (narrow) {
      above.value = true;
      unit.height.step += rows.grows;
    }
    unit.width = width - rows.right - (narrow ? 20 : rows.labels + 30);
  } else if (chart.facet && chart.columns) {
    const panels = chart.facet.sort?.length ?? chart.columns;
    chart.columns = Math.max(1, Math.min(chart.columns, panels, Math.floor(width / 380)));
    unit.width = Math.floor(width / chart.columns) - 86;
  } else if (typeof unit.width === "number") {
    const square = unit.height === unit.width;
    unit.width = Math.min(unit.width, width - 90);
    if (square) unit.height = unit.width;
  }
  return chart;
}

async function draw(figure) {
  const place = figure.querySelector("div") ?? hushed(document.createElement("div"));
  figure.querySelector("script").after(place);
  try {
    const options = { renderer: "svg", actions: false, logLevel: 1 }; // 1: errors
    const { view } = await vegaEmbed(place, fitted(await specOf(figure), figure.clientWidth), options);
    figure.view = view;
    const over = place.querySelector("svg").viewBox.baseVal.width - figure.clientWidth;
    if (over > 0) resized(view, narrower(figure, over));
  } catch (error) {
    place.remove();
    console.error(error);
    return;
  }
  figure.querySelector(":scope > img")?.remove();
}

// Vega announces marks without a word about them, whenever it draws: screen readers pass over these.
function hushed(place) {
  const hush = () => {
    for (const mark of place.querySelectorAll("[role=graphics-symbol]:not([aria-label])")) {
      mark.removeAttribute("role");
      mark.removeAttribute("aria-roledescription");
    }
  };
  new MutationObserver(hush).observe(place, { attributeFilter: ["role"], childList: true, subtree: true });
  return place;
}

// Saves a chart whole, with its title, or the figures that it draws.
async function save(figure, ending) {
  const spec = await specOf(figure);
  const link = document.createElement("a");
  link.download = `${figure.dataset.name}.${ending}`;
  if (ending === "csv") {
    const [drawn] = Object.values(spec.datasets).sort((one, other) => other.length - one.length); // others are lines
    link.href = URL.createObjectURL(new Blob([csv(drawn)], { type: "text/csv" }));
  } else {
    const { view } = await vegaEmbed(document.createElement("div"), spec, { actions: false, logLevel: 1 });
    link.href = await view.toImageURL(ending, 2);
  }
  link.click();
}

function csv(rows) {
  const names = Object.keys(rows[0]);
  const cell = (value) => (/[",\n]/.test(value ?? "") ? `"${String(value).replaceAll('"', '""')}"` : value ?? "");
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((row) => row.map(cell).join(",")).join("\n");
}

for (const figure of figures) {
  const below = document.createElement("p");
  below.className = "save";
  for (const ending of ["svg", "png", "csv"]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = ending.toUpperCase();
    button.ariaLabel = `Save this chart as ${ending.toUpperCase()}`;
    button.addEventListener("click", () => save(figure, ending));
    below.append(button, " ");
  }
  const link = document.createElement("a");
  link.href = `#${figure.id}`;
  link.textContent = "#";
  link.ariaLabel = "Link to this chart";
  below.append(link);
  figure.append(below);
  draw(figure);
}

// On paper charts are as wide as the sheet, with letters of their size: nothing is scaled down.
const SHEET = { width: 680, height: 830, panel: 96, axes: 100 }; // A4 between its margins, with the words of a chart
const SIZES = ["width", "child_width", "child_height", "y_step"];

function resized(view, sizes) {
  for (const [name, size] of Object.entries(sizes)) view.signal(name, size);
  view.run();
}

function sizesOf(view) {
  return view.getState({ signals: (name) => SIZES.includes(name), data: () => false }).signals;
}

// What a plot, or each panel of a row, is wide where the chart is narrower by so much.
function narrower(figure, over) {
  const { width, child_width: panel } = sizesOf(figure.view);
  const columns = Math.max(1, Math.round(figure.querySelector("svg").viewBox.baseVal.width / (panel + 86)));
  return panel ? { child_width: panel - over / columns } : width ? { width: width - over } : {};
}

addEventListener("beforeprint", () => {
  for (const figure of figures.filter(({ view }) => view)) {
    const { child_height: height, y_step: step } = figure.screen = sizesOf(figure.view);
    const { width: drawn, height: tall } = figure.querySelector("svg").viewBox.baseVal;
    const lower = (name, size, least) => (size && tall > SHEET.height ? { [name]: Math.min(size, least) } : {});
    resized(figure.view, {
      ...narrower(figure, Math.max(0, drawn - SHEET.width)),
      ...lower("child_height", height, SHEET.panel),
      ...lower("y_step", step, (step * (SHEET.height - SHEET.axes)) / (tall - SHEET.axes)),
    });
  }
});
addEventListener("afterprint", () => {
  for (const { view, screen } of figures.filter(({ screen }) => screen)) resized(view, screen);
});

let last = innerWidth;
addEventListener("resize", lodashDebounce(() => {
  if (innerWidth !== last) figures.forEach(draw);
  last = innerWidth;
}, 200));
