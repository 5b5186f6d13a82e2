"use strict";
// Tables of the document, as elements: rows of implementations that a reader has hidden are hidden, and every table can be kept as CSV.

const tables = {
  // The document as `sensormark report --format json` has it, of the page's smaller one, in which cells point at texts.
  unpacked({ texts, ...document }) {
    const cell = (packed) => {
      if (typeof packed === "number") return { text: texts[packed] };
      if (packed.length === 1) return { text: "–", value: null, missing: texts[packed[0]] };
      const [text, value, low, high] = packed;
      return low === undefined ? { text: texts[text], value } : { text: texts[text], value, low, high };
    };
    const block = (one) => (one.kind === "table" ? { ...one, rows: one.rows.map((row) => row.map(cell)) } : one);
    return { ...document, sections: document.sections.map((section) => ({ ...section, blocks: section.blocks.map(block) })) };
  },
  isNumber(cell) { return cell && typeof cell.value === "number"; },
  columnIsNumber(table, place) {
    return table.rows.some((row) => this.isNumber(row[place]));
  },
  draw(table, shown = this.shown) {
    const head = element("tr", {}, table.columns.map((column, place) => element("th",
      { scope: "col", class: this.columnIsNumber(table, place) ? "number" : null },
      column.name || "–", column.unit ? element("span", { class: "unit" }, column.unit) : null)));
    const body = element("tbody");
    for (const row of table.rows) {
      const line = element("tr", {}, row.map((cell, place) => this.cell(table, cell, place)));
      body.append(line);
      shown.push({ line, names: row.slice(0, table.keys + 1).map((cell) => cell.text) });
    }
    const drawn = element("table", { id: "table-" + table.id }, element("caption", {}, table.title || table.id),
      element("thead", {}, head), body);
    return this.scroll(table.title || table.id, drawn);
  },
  scroll(label, drawn) { return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, drawn); },
  cell(table, cell, place) {
    const { missing, text } = cell;
    const isKey = place < table.keys;
    const classes = [this.columnIsNumber(table, place) && "number"];
    if (!isKey) classes.push(/^(✓|valid$|held$)/.test(text) && "yes", /^(✗|invalid|did not hold$)/.test(text) && "no", text.length > 40 && "long");
    return element(isKey ? "th" : "td", { title: missing || null, scope: isKey ? "row" : null, class: classes.filter(Boolean).join(" ") || null }, text);
  },
  // What a row is about, by so many of its cells.
  name(row, keys) { return row.slice(0, keys).map((cell) => cell.text).join(", "); },
  // Header and rows in full precision, with the bounds of intervals in columns of their own.
  csv(table) {
    const bounds = table.columns.map((_, place) => table.rows.some((row) => row[place].low !== undefined));
    const header = table.columns.flatMap((_, place) => {
      const name = charts.columnTitle(table, place);
      return bounds[place] ? [name, name + " low", name + " high"] : [name];
    });
    const rows = table.rows.map((row) => row.flatMap((cell, place) => {
      const value = this.isNumber(cell) ? cell.value : cell.value === null ? null : cell.text;
      return bounds[place] ? [value, cell.low ?? null, cell.high ?? null] : [value];
    }));
    return [header, rows];
  },
  block(table) {
    const parts = () => {
      const drawn = this.draw(table);
      if (table.id.startsWith("ranking_") && weights.ranking) weights.keep(table, drawn);
      const [choice, place] = charts.chooser(table);
      return [table.title && this.title(table), this.tools(table, choice), place, drawn, ...table.notes.map(note)].filter(Boolean);
    };
    return table.detail ? this.later(`${table.title} (${table.rows.length} rows)`, parts) : div(null, parts());
  },
  title(table) { return element("h3", { id: "title-" + table.id }, table.title); },
  tools(table, chooser) { return div("tools", button("CSV", () => saveCsv(table.id, ...this.csv(table))), chooser); },
  // The numbers of a drawing, as a table and as CSV.
  numbers(table) { return this.later(`Numbers (${table.rows.length})`, () => [this.tools(table), this.draw(table)]); },
  // What is made when a reader opens it: long tables would keep the page from opening.
  later(words, make, attributes) {
    const place = element("details", attributes, element("summary", {}, words));
    place.fill = () => {
      if (place.dataset.filled) return;
      place.dataset.filled = "yes";
      place.append(...make());
      this.filter();
    };
    place.addEventListener("toggle", place.fill);
    if (place.open) place.fill();
    return place;
  },
  // Hides rows about hidden implementations.
  filter() {
    for (const { line, names } of this.shown) line.hidden = names.some((name) => page.isHidden(name));
  },
  // Texts and numbers as a table.
  made(title, header, rows) {
    const cell = (value) => (typeof value === "number" ? { text: short(value), value } : { text: value ?? "–" });
    return { id: title.toLowerCase().replace(/\W+/g, "-"), title, keys: 1, columns: header.map((name) => ({ name })), rows: rows.map((row) => row.map(cell)) };
  },
};
