"use strict";
// Making elements, keeping what a reader chose in the address, and files to keep. Names from results only ever become text.

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) made.append(child);
  }
  return made;
}

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
    if (value === null || value === undefined || value === "") this.values.delete(name);
    else this.values.set(name, value);
    history.replaceState(null, "", "#" + this.values.toString());
  },
};

function csvField(value) {
  const text = value === null || value === undefined ? "" : String(value);
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
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) return value.toExponential(2);
  const decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 4;
  return value.toLocaleString("en", { maximumFractionDigits: decimals });
}
