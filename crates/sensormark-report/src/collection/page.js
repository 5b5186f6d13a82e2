// Filters, whose choice the address holds; and two chosen runs make the command that compares them, the earlier one first. The rows stand newest first.
const lines = [...document.querySelectorAll(".runs > tbody > tr")], runs = JSON.parse(document.querySelector('script[type="application/json"]').textContent).rows.map(({ name, answer }) => ({ name, ...answer.Ok }));
const boxes = [...document.querySelectorAll(".choice input[type=checkbox]")], place = document.querySelector(".tools"), words = place.querySelector("code");
let chosen = [];

// What a reader may filter by: each run's values, or whether a run passes.
const versions = (run) => (run.databases || []).flatMap(({ title, version }) => [title, `${title} ${version}`]);
const filters = [
  { id: "workload", values: (run) => [run.workload] },
  { id: "scale", title: "scale or file", values: (run) => [run.scale] },
  { id: "database", values: versions },
  { id: "machine", values: (run) => [run.machine] },
  { id: "sensormark", values: (run) => [run.program] },
  { id: "sure", title: "how sure", values: (run) => [run.badge] },
  { id: "from", type: "date", passes: (run, day) => (run.started || "") >= day },
  { id: "to", type: "date", passes: (run, day) => (run.started || "").slice(0, 10) <= day },
  { id: "words", type: "search", passes: (run, text) => text.toLowerCase().split(/\s+/).every((word) => JSON.stringify(run).toLowerCase().includes(word)) },
];

function control({ id, title, type, values }) {
  if (type) return element("label", {}, title || id, element("input", { type, name: id, autocomplete: "off" }));
  const all = unique(runs.flatMap(values)).filter(Boolean).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return element("label", {}, title || id, element("select", { name: id, autocomplete: "off" }, element("option", { value: "" }, "all"), all.map((value) => element("option", { value }, value))));
}

function show(form) {
  const own = filters.map((filter) => [filter, form.elements[filter.id].value]).filter(([, value]) => value);
  const passes = (run) => own.every(([filter, value]) => (filter.passes ? filter.passes(run, value) : filter.values(run).includes(value)));
  const passing = runs.map(passes), shown = runs.filter((_, at) => passing[at]);
  lines.forEach((line, at) => { line.hidden = !passing[at]; });
  document.getElementById("shown").replaceChildren(shown.length < runs.length ? `${shown.length} of ${runs.length} runs` : "", ...(own.length ? [" ", element("a", { href: "#" }, "show all")] : []));
  databases(shown);
}

// Each database in the runs that are shown: by its best layout in each.
function databases(shown) {
  const found = new Map();
  for (const run of shown) {
    const best = new Map();
    for (const one of run.layouts || []) if (!(best.get(one.database)?.ratio <= one.ratio)) best.set(one.database, one);
    for (const [name, one] of best) found.set(name, [...(found.get(name) || []), one]);
  }
  const median = (all) => { const [a, b] = [all[(all.length - 1) >> 1], all[all.length >> 1]]; return Math.sqrt(a * b); };
  const rows = [...found].map(([name, all]) => [name, all.length, all.filter((one) => one.rank === 1).length, median(all.map((one) => one.ratio).sort((a, b) => a - b))]);
  rows.sort((a, b) => a[3] - b[3]);
  const cells = ([name, ...numbers]) => [element("th", { scope: "row" }, name), ...numbers.map((one, at) => element("td", { class: "number" }, at < 2 ? one : `${one.toPrecision(2)}×`))];
  document.querySelector("#databases tbody").replaceChildren(...rows.map((row) => element("tr", {}, cells(row))));
}

function folder(box) {
  const path = decodeURIComponent(location.protocol === "file:" ? new URL(box.value, location).pathname : box.value);
  return /^[\w./,:=@%+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function choose({ target }) {
  chosen = [...chosen, target].filter((box) => box.checked);
  if (chosen.length > 2) chosen.shift().checked = false;
  place.hidden = chosen.length < 2;
  if (!place.hidden) words.textContent = ["sensormark compare", ...boxes.filter((box) => box.checked).reverse().map(folder)].join(" ");
}

function copy() {
  getSelection().selectAllChildren(words);
  navigator.clipboard?.writeText(words.textContent);
}

const form = document.getElementById("filters");
form.append(...filters.map(control));
function read() {
  const kept = new URLSearchParams(location.hash.slice(1));
  filters.forEach(({ id }) => { form.elements[id].value = kept.get(id) || ""; });
  show(form);
}
form.addEventListener("input", () => {
  history.replaceState(null, "", "#" + new URLSearchParams([...new FormData(form)].filter(([, value]) => value)));
  show(form);
});
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", read);
read();
boxes.forEach((box) => box.addEventListener("change", choose));
place.querySelector("button").addEventListener("click", copy);
document.documentElement.classList.add("choosing");
