"use strict";
// What matters to a reader: presets, the weights behind them, and the ranking by these weights.

const weights = {
  ranking: null,
  values: [],
  inputs: [],
  buttons: [],
  words: null,
  // Ranked rows of the ranking's table, by label, with the texts that the report gave them.
  lines: new Map(),
  presets: {
    balanced: { title: "Balanced" },
    disk: { title: "Disk", heavy: (_, column) => column.id.includes("disk"), words: "disk counts ten times as much as anything else" },
    cpu: { title: "CPU", heavy: (_, column) => column.id.includes("cpu"), words: "CPU counts ten times as much as anything else" },
    fast: { title: "Fast reads", heavy: (phase, column) => phase.id === "read" && column.id === "time", words: "the time of reads counts ten times as much as anything else" },
  },
  // The weights of a preset, then those in the address.
  start(ranking) {
    this.ranking = ranking;
    this.inputs = [];
    this.buttons = [];
    this.words = null;
    this.lines = new Map();
    if (!ranking) return;
    const preset = this.presets[address.get("for")] ? address.get("for") : "balanced";
    this.values = ranking.phases.map((phase) => phase.columns.map((column) => {
      const kept = address.get(`${phase.id}.${column.id}`);
      const weight = kept === null ? NaN : Number(kept);
      return Number.isFinite(weight) && weight >= 0 && weight <= this.most(column) ? weight : this.preset(preset, phase, column);
    }));
  },
  // The slider's end: ten, or twice a heavier weight.
  most(column) { return Math.max(10, Math.ceil(2 * column.weight)); },
  preset(name, phase, column) {
    const { heavy } = this.presets[name];
    if (!heavy || column.weight === 0 || !this.weighs(name)) return column.weight;
    return heavy(phase, column) ? 10 : 1;
  },
  // Whether the score has what a preset is about: a steady rate has no time of reads in it.
  weighs(name) {
    const { heavy } = this.presets[name];
    return !heavy || this.ranking.phases.some((phase) => phase.columns.some((column) => column.weight > 0 && heavy(phase, column)));
  },
  isBy(name) {
    if (name !== "balanced" && !this.weighs(name)) return address.get("for") === name && this.isBy("balanced");
    return this.ranking.phases.every((phase, p) => phase.columns.every((column, c) => this.values[p][c] === this.preset(name, phase, column)));
  },
  // Whether rows stand in the order of how long reads take, which the score has nothing of.
  isByReads() { return this.ranking !== null && !this.weighs("fast") && this.isBy("fast"); },
  isChanged() {
    return this.ranking.phases.some((phase, p) => phase.columns.some((column, c) => this.values[p][c] !== column.weight));
  },
  contestants() { return this.ranking.contestants.filter((one) => !page.isHidden(one.label)); },
  ranked() { return this.ranking ? score.rank(this.ranking, this.contestants(), this.values) : []; },
  section(filters) {
    const several = this.ranking && this.ranking.contestants.length > 1;
    const parts = [];
    if (several) {
      this.buttons = Object.entries(this.presets).map(([name, { title }]) => {
        const made = button(title, () => this.choose(name));
        made.dataset.preset = name;
        return made;
      });
      this.words = element("p", { class: "note", id: "live-words", "aria-live": "polite" });
      const sliders = this.ranking.phases.map((phase, p) => element("fieldset", {}, element("legend", {}, "Weights: " + phase.name),
        phase.columns.map((column, c) => this.slider(phase, p, column, c))));
      const alike = button("All alike", () => this.set(() => 1, null));
      const open = address.get("weights") === "open" || (this.isChanged() && !Object.keys(this.presets).some((name) => this.isBy(name)));
      const unfolded = element("details", { id: "weights", open }, element("summary", {}, "Weights"), element("div", { class: "weights" }, sliders), element("div", { class: "tools" }, alike));
      parts.push(element("h2", { id: "at-weights" }, "What matters to you?"), element("div", { class: "presets", role: "group", "aria-labelledby": "at-weights" }, this.buttons), unfolded);
    }
    if (filters) parts.push(element("details", { id: "shown" }, element("summary", {}, "Show only …"), filters));
    if (this.words) parts.push(this.words);
    return parts.length ? element("div", { class: "matters" }, parts) : null;
  },
  slider(phase, p, column, c) {
    const id = `weight-${phase.id}-${column.id}`;
    const shown = element("output", { for: id }, String(this.values[p][c]));
    const input = element("input", { type: "range", id, min: 0, max: this.most(column), step: 0.1, value: this.values[p][c] });
    input.addEventListener("input", () => { this.change(p, c, Number(input.value)); });
    this.inputs.push({ p, c, input, shown });
    return element("div", { class: "weight" }, element("label", { for: id }, column.name), input, shown);
  },
  change(p, c, weight) {
    const phase = this.ranking.phases[p];
    this.values[p][c] = weight;
    const preset = this.presets[address.get("for")] ? address.get("for") : "balanced";
    address.set(`${phase.id}.${phase.columns[c].id}`, weight === this.preset(preset, phase, phase.columns[c]) ? null : weight);
    front.draw();
  },
  choose(name) { this.set((phase, column) => this.preset(name, phase, column), name === "balanced" ? null : name); },
  set(weight, preset) {
    address.set("for", preset);
    this.ranking.phases.forEach((phase, p) => phase.columns.forEach((column, c) => {
      this.values[p][c] = weight(phase, column);
      const own = this.values[p][c] === this.preset(preset ?? "balanced", phase, column);
      address.set(`${phase.id}.${column.id}`, own ? null : this.values[p][c]);
    }));
    front.draw();
  },
  // Shows the weights, what they come to, and the table by them.
  draw(ranked) {
    if (!this.ranking) return;
    for (const { p, c, input, shown } of this.inputs) {
      input.value = this.values[p][c];
      shown.textContent = String(this.values[p][c]);
    }
    for (const one of this.buttons) one.setAttribute("aria-pressed", String(this.isBy(one.dataset.preset) && !(one.dataset.preset === "balanced" && this.isByReads())));
    if (this.words) this.words.textContent = this.sentence(ranked);
    this.table(ranked);
  },
  sentence(ranked) {
    const scale = "100 costs nothing, 0 is the costliest in everything";
    if (this.isByReads()) return `Rows stand in the order of how long reads take. The score has no time in it, since reads come at a fixed rate; ${scale}.`;
    const preset = Object.keys(this.presets).find((name) => name !== "balanced" && this.weighs(name) && this.isBy(name));
    const told = preset ? ` (${this.presets[preset].words})` : "";
    const by = this.isChanged() ? `By your weights${told}` : "By the report's weights";
    const among = ranked.length < this.ranking.contestants.length ? `, among the ${ranked.length} that are shown` : "";
    if (!ranked.length || !Number.isFinite(ranked[0].total)) return "Nothing is weighed, so nobody leads.";
    const first = ranked.filter((one) => one.rank === 1).map((one) => one.label);
    const { meets } = ranked[0];
    const those = { meets: ", of those that meet the requirements", meets_decided: ", of those that meet all that could be decided", undecided: ", of what is undecided", misses: ", though it misses a requirement" }[meets] || "";
    if (first.length > 1) return `${by}${among}${those}, ${first.length} layouts lead and cannot be told apart. ${scale}.`;
    const next = ranked.find((one) => one.label !== first[0] && one.meets === meets);
    const ahead = next ? `, ${(ranked[0].total - next.total).toFixed(1)} ahead of ${next.label}` : "";
    return `${by}${among}${those}: ${ranked[0].label}, score ${ranked[0].total.toFixed(1)} of 100${ahead}. ${scale}.`;
  },
  // Keeps the rows of the ranking's table: there is one ranking, and this moves it.
  keep(table, drawn) {
    const body = drawn.querySelector("tbody");
    const places = this.ranking.phases.map((phase) => table.columns.findIndex((column) => column.name === phase.name));
    [...body.rows].forEach((line, at) => this.lines.set(table.rows[at][1].text, { line, body, places, texts: [...line.cells].map((cell) => cell.textContent) }));
    this.table(this.ranked());
  },
  table(ranked) {
    const isOwn = !this.isChanged() && ranked.length === this.ranking.contestants.length;
    for (const one of ranked) {
      const kept = this.lines.get(one.label);
      if (!kept) continue;
      const { line, body, places, texts } = kept;
      const shown = [...texts];
      if (!isOwn) {
        shown[0] = String(one.rank ?? "–");
        shown[2] = this.points(one);
        places.forEach((place, phase) => { if (place >= 0) shown[place] = Number.isFinite(one.scores[phase]) ? one.scores[phase].toFixed(1) : "–"; });
      }
      shown.forEach((text, at) => { line.cells[at].textContent = text; });
      body.append(line);
    }
  },
  points(one) {
    if (!Number.isFinite(one.total)) return "–";
    return one.total.toFixed(1) + (one.half === null ? "" : ` ± ${one.half.toFixed(1)}`);
  },
};
