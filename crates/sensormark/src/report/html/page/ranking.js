"use strict";
// The ranking by a reader's own weights: sliders, the table, and what it says in a sentence.

const live = {
  ranking: null,
  weights: [],
  inputs: [],
  place: null,
  // The weights that the report was made with, then those in the address.
  start(ranking) {
    this.ranking = ranking;
    this.inputs = [];
    this.weights = ranking.phases.map((phase) => phase.columns.map((column) => {
      const kept = address.get(`${phase.id}.${column.id}`);
      const weight = kept === null ? NaN : Number(kept);
      return Number.isFinite(weight) && weight >= 0 && weight <= this.most(column) ? weight : column.weight;
    }));
  },
  // The slider's end: ten, or twice a heavier weight.
  most(column) { return Math.max(10, Math.ceil(2 * column.weight)); },
  contestants() {
    return this.ranking.contestants.filter((one) => !page.isHidden(one.label));
  },
  isChanged() {
    return this.ranking.phases.some((phase, p) => phase.columns.some((column, c) => this.weights[p][c] !== column.weight));
  },
  section(ranking) {
    this.start(ranking);
    this.place = element("div", { "aria-live": "polite", id: "live" });
    const sliders = ranking.phases.map((phase, p) => element("fieldset", {}, element("legend", {}, "Weights: " + phase.name),
      phase.columns.map((column, c) => this.slider(phase, p, column, c))));
    const reset = button("The report's weights", () => this.set((column) => column.weight));
    const alike = button("All alike", () => this.set(() => 1));
    page.onFilter(() => this.draw());
    this.draw();
    const controls = element("div", {}, sliders, element("div", { class: "tools" }, reset, alike));
    return [element("div", { class: "weigh" }, controls, this.place)];
  },
  slider(phase, p, column, c) {
    const id = `weight-${phase.id}-${column.id}`;
    const shown = element("output", { for: id }, String(this.weights[p][c]));
    const input = element("input", { type: "range", id, min: 0, max: this.most(column), step: 0.1, value: this.weights[p][c] });
    input.addEventListener("input", () => { this.change(p, c, Number(input.value)); });
    this.inputs.push({ p, c, input, shown });
    return element("div", { class: "weight" }, element("label", { for: id }, column.name), input, shown);
  },
  change(p, c, weight) {
    const phase = this.ranking.phases[p];
    this.weights[p][c] = weight;
    address.set(`${phase.id}.${phase.columns[c].id}`, weight === phase.columns[c].weight ? null : weight);
    this.draw();
  },
  set(weight) {
    this.ranking.phases.forEach((phase, p) => phase.columns.forEach((column, c) => {
      this.weights[p][c] = weight(column);
      address.set(`${phase.id}.${column.id}`, weight(column) === column.weight ? null : weight(column));
    }));
    this.draw();
  },
  draw() {
    for (const { p, c, input, shown } of this.inputs) {
      input.value = this.weights[p][c];
      shown.textContent = String(this.weights[p][c]);
    }
    const ranked = score.rank(this.ranking, this.contestants(), this.weights);
    const header = ["rank", "implementation", "score", ...this.ranking.phases.map((phase) => phase.name)];
    const rows = ranked.map((one) => [one.rank ?? "–", one.label, one.total, ...one.scores]);
    const points = (value) => (Number.isFinite(value) ? value.toFixed(1) : "–");
    const lines = rows.map(([rank, label, ...scores]) => element("tr", {}, element("td", { class: "number" }, String(rank)),
      element("th", { scope: "row" }, label), scores.map((value) => element("td", { class: "number" }, points(value)))));
    const drawn = element("table", { id: "live-ranking" }, element("caption", {}, "Ranking by these weights"),
      element("thead", {}, element("tr", {}, header.map((name, place) => element("th", { scope: "col", class: place === 1 ? null : "number" }, name)))),
      element("tbody", {}, lines));
    charts.empty(this.place);
    this.place.append(element("p", { class: "note", id: "live-words" }, this.words(ranked)),
      element("div", { class: "tools" }, button("CSV", () => saveCsv("ranking", header, rows))),
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Ranking by these weights" }, drawn));
    charts.add(this.place, "Scores; the table above has the numbers", () =>
      charts.bars(ranked.map((one) => one.label), ranked.map((one) => one.total), "score (100 is best)"), 70 + 24 * ranked.length);
  },
  words(ranked) {
    const by = this.isChanged() ? "By your weights" : "By the report's weights";
    const among = ranked.length < this.ranking.contestants.length ? `, among the ${ranked.length} that are shown` : "";
    const first = ranked.filter((one) => one.rank === 1).map((one) => one.label);
    if (!ranked.length || !Number.isFinite(ranked[0].total)) return "Nothing is weighed, so nobody leads.";
    if (first.length > 1) return `${by}${among}, ${first.join(" and ")} lead and cannot be told apart.`;
    const next = ranked.find((one) => one.label !== first[0]);
    const ahead = next ? `, ${(ranked[0].total - next.total).toFixed(1)} ahead of ${next.label}` : "";
    return `${by}${among}: ${ranked[0].label}, score ${ranked[0].total.toFixed(1)} of 100${ahead}. 100 is best, and 0 the costliest in everything.`;
  },
};
