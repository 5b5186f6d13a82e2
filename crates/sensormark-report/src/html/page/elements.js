"use strict";
// Making elements, keeping what a reader chose in the address, and files to keep. Names from results only ever become text.

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== false && value != null) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child != null));
  return made;
}

function div(kind, ...children) { return element("div", { class: kind }, ...children); }

function note(words) { return element("p", { class: "note" }, words); }

function heading(id, title) { return element("h2", { id: "at-" + id }, title); }

// Each of these once.
function unique(all) { return [...new Set(all)]; }

function button(words, act) {
  const made = element("button", { type: "button" }, words);
  made.addEventListener("click", act);
  return made;
}

// What a reader chose, as name=value pairs behind the "#": a copied address shows the same page again.
const address = {
  values: new URLSearchParams(location.hash.slice(1)),
  get(name) { return this.values.get(name); },
  set(name, value) {
    if ((value ?? "") === "") this.values.delete(name);
    else this.values.set(name, value);
    history.replaceState(null, "", "#" + this.values.toString());
  },
};

// One of these names, which the address has under this key, unless it is the first.
function choice(key, attributes, names, act) {
  const made = element("select", attributes, names.map((name, at) => element("option", { value: at }, name)));
  made.value = Math.max(0, names.indexOf(address.get(key)));
  made.addEventListener("change", () => {
    address.set(key, made.value === "0" ? null : names[made.value]);
    act();
  });
  return made;
}

// A slider with its words before it and what it stands at behind it.
function slider(id, words, attributes, value, act) {
  const input = element("input", { type: "range", id, ...attributes, value }), shown = element("output", { for: id });
  input.addEventListener("input", () => act(Number(input.value)));
  return { input, say: (text) => { shown.textContent = text; }, part: div("weight", element("label", { for: id }, words), input, shown) };
}

// What one of these names draws into a place, with the choice before it; `draw` takes where the name is among them.
function drawnChoice(key, words, names, place, draw) {
  const act = () => {
    charts.empty(place);
    draw(Number(chosen.value));
  };
  const chosen = choice(key, { id: key }, names, act);
  act();
  return { act, parts: [div("tools", element("label", {}, words, chosen)), place] };
}

// A line of a drawing.
function stroke(pen, x, y, toX, toY) {
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(toX, toY);
  pen.stroke();
}

function csvField(value) {
  const text = String(value ?? "");
  // A spreadsheet would run a text that begins like a formula.
  const safe = typeof value === "string" && /^[=+\-@\t]/.test(text) ? "'" + text : text;
  return /[",\n\r]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
}

function saveCsv(name, header, rows) {
  const text = [header, ...rows].map((row) => row.map(csvField).join(",")).join("\r\n") + "\r\n";
  const link = element("a", {
    href: URL.createObjectURL(new Blob([text], { type: "text/csv" })),
    download: name.replace(/[^\w.-]+/g, "_") + ".csv",
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function short(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) return value.toExponential(2);
  const decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 4;
  return value.toLocaleString("en", { maximumFractionDigits: decimals });
}
