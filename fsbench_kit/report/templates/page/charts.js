// Draws each chart of the page in the place of its image or its words, as wide as the page; these stay where drawing fails.
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
    const spec = await specOf(figure);
    const { view } = await vegaEmbed(place, fitted(spec, figure.clientWidth), options);
    figure.view = view;
    inViews(figure, spec.usermeta?.rows);
    const over = place.querySelector("svg").viewBox.baseVal.width - figure.clientWidth;
    if (over > 0) resized(view, narrower(figure, over));
  } catch (error) {
    place.remove();
    console.error(error);
    return;
  }
  figure.querySelector(":scope > :is(img, .undrawn)")?.remove();
}

// Rows are as high as the names of a view need that a reader chose, on the screen and at least on paper.
function inViews(figure, { least = LEAST.row, spare } = {}) {
  figure.least = least;
  if (!spare) return;
  const { view } = figure;
  const step = view.signal("y_step");
  const fit = (name, shown) => {
    figure.least = least - spare[shown];
    resized(view, { y_step: step - spare[shown] });
  };
  view.addSignalListener("view", fit);
  fit("view", view.signal("view"));
}

// Vega announces marks without a word about them, and lines by a point that is not there, whenever it draws: screen
// readers pass over these.
function hushed(place) {
  const hush = () => {
    for (const mark of place.querySelectorAll("[role=graphics-symbol]:is(:not([aria-label]), [aria-label*=': null'])")) {
      mark.removeAttribute("role");
      mark.removeAttribute("aria-roledescription");
      mark.removeAttribute("aria-label");
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
    link.href = URL.createObjectURL(new Blob([csv(drawn, spec.usermeta?.csv)], { type: "text/csv" }));
  } else {
    const { view } = await vegaEmbed(document.createElement("div"), spec, { actions: false, logLevel: 1 });
    for (const { name, bind } of spec.params ?? []) if (bind) view.signal(name, figure.view.signal(name)); // as it looks
    link.href = await (await view.runAsync()).toImageURL(ending, 2);
  }
  link.click();
}

// Some charts name the columns that say something by themselves, and have rows that only make room.
function csv(rows, heads) {
  const names = Object.keys(heads ?? rows[0]);
  const told = heads ? rows.filter(({ kind }) => kind === "effect") : rows;
  const plain = (name, value) => (heads && name === "row" ? value.replace(/^\d+\|/, "").replaceAll("\n", " ") : value);
  const cell = (value) => (/[",\n]/.test(value ?? "") ? `"${String(value).replaceAll('"', '""')}"` : value ?? "");
  const cells = told.map((row) => names.map((name) => plain(name, row[name])));
  return [heads ? Object.values(heads) : names, ...cells].map((row) => row.map(cell).join(",")).join("\n");
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
const SHEET = { width: 680, height: 1025, chart: 760 }; // A4 between its margins
const LEAST = { row: 14, plot: 300, panel: 60 };
const SIZES = ["width", "height", "child_width", "child_height", "y_step"];

function resized(view, sizes) {
  for (const [name, size] of Object.entries(sizes)) view.signal(name, size);
  view.resize().run(); // or a chart of panels keeps its size
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

// How high each chart may be on paper: the first as high as its sheet has room, if that leaves its rows legible,
// and others so that they stand on one sheet with their heading. It takes the styles of paper to know.
function rooms(figures) {
  const styles = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]).flatMap(({ media }) => media ?? []);
  const texts = styles.map(({ mediaText }) => mediaText);
  styles.forEach((media, place) => (media.mediaText = texts[place] === "print" ? "all" : "not all"));
  document.body.style.width = `${SHEET.width}px`;
  const top = (element) => element.getBoundingClientRect().top + scrollY;
  const found = figures.map((figure, place) => {
    let first = figure;
    while (first.previousElementSibling?.matches("h2, h3, p, details")) first = first.previousElementSibling;
    const svg = figure.querySelector("svg");
    const left = SHEET.height - top(svg);
    const { y_step: step, height } = sizesOf(figure.view);
    const least = step ? (height * figure.least) / step : LEAST.plot;
    const fits = height - svg.viewBox.baseVal.height + left >= least;
    return place === 0 && fits ? left : Math.min(SHEET.chart, SHEET.height - top(svg) + top(first));
  });
  document.body.style.width = "";
  styles.forEach((media, place) => (media.mediaText = texts[place]));
  return found;
}

addEventListener("beforeprint", () => {
  const drawn = figures.filter(({ view }) => view);
  const room = rooms(drawn);
  drawn.forEach((figure, place) => {
    const { child_height: panel, y_step: step, height } = (figure.screen = sizesOf(figure.view));
    const { width: wide, height: tall } = figure.querySelector("svg").viewBox.baseVal;
    const over = tall - room[place];
    const plot = height - over;
    const lower = panel
      ? { child_height: Math.max(LEAST.panel, panel - over / Math.max(1, Math.round(tall / (panel + 84)))) }
      : step
        ? { y_step: Math.max(figure.least, (step * plot) / height) }
        : height && { height: plot };
    resized(figure.view, { ...narrower(figure, Math.max(0, wide - SHEET.width)), ...(over > 0 && lower) });
    if (panel) figure.querySelector("svg").style.maxHeight = `${room[place]}px`; // many rows of panels are higher
  });
});
addEventListener("afterprint", () => {
  for (const figure of figures.filter(({ screen }) => screen)) {
    resized(figure.view, figure.screen);
    figure.querySelector("svg").style.maxHeight = "";
    delete figure.screen;
  }
});

let last = innerWidth;
addEventListener("resize", lodashDebounce(() => {
  if (innerWidth === last || figures.some(({ screen }) => screen)) return; // on paper they have their sizes
  figures.forEach(draw);
  last = innerWidth;
}, 200));
