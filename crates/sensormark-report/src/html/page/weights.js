"use strict";
// What matters to a reader: presets, the weights behind them, and the ranking by these weights.

const weights = {
  presets: {
    balanced: { title: "Balanced" },
    disk: { title: "Disk", heavy: ["disk"], words: "disk counts ten times as much as anything else" },
    cpu: { title: "CPU", heavy: ["load_cpu", "question_cpu"], words: "CPU counts ten times as much as anything else" },
    fast: { title: "Fast reads", heavy: ["question_time"], words: "the time of questions counts ten times as much as anything else" },
  },
  // The weights of a preset, then those in the address.
  start(ranking) {
    this.ranking = ranking;
    this.inputs = [];
    this.buttons = [];
    this.words = null;
    // Ranked rows of the ranking's table, by label, with the texts that the report gave them.
    this.lines = new Map();
    if (!ranking) return;
    const preset = this.own();
    this.values = ranking.criteria.map((criterion) => {
      const kept = address.get(`weight.${criterion.id}`);
      const weight = kept === null ? NaN : Number(kept);
      return Number.isFinite(weight) && weight >= 0 && weight <= this.most(criterion) ? weight : this.preset(preset, criterion);
    });
  },
  // The preset in the address.
  own() { return this.presets[address.get("for")] ? address.get("for") : "balanced"; },
  // The slider's end: ten, or twice a heavier weight.
  most(criterion) { return Math.max(10, Math.ceil(2 * criterion.weight)); },
  preset(name, criterion) {
    const { heavy } = this.presets[name];
    if (!heavy) return criterion.weight;
    return heavy.includes(criterion.id) ? 10 : 1;
  },
  isBy(name) { return this.ranking.criteria.every((criterion, at) => this.values[at] === this.preset(name, criterion)); },
  isChanged() { return !this.isBy("balanced"); },
  contestants() { return this.ranking.contestants.filter((one) => !page.isHidden(one.label)); },
  // Everybody, or those with these labels, among themselves.
  ranked(labels = null) {
    const among = (one) => !labels || labels.has(one.label);
    return this.ranking ? costs.rank(this.ranking, this.contestants().filter(among), this.values) : [];
  },
  section(filters) {
    const several = this.ranking && this.ranking.contestants.length > 1;
    const parts = [];
    if (several) {
      this.buttons = Object.entries(this.presets).map(([name, { title }]) => {
        const made = button(title, () => this.choose(name));
        made.dataset.preset = name;
        return made;
      });
      this.inputs = this.ranking.criteria.map((criterion, at) => slider(`weight-${criterion.id}`, criterion.name, { min: 0, max: this.most(criterion), step: 0.1 }, this.values[at], (weight) => this.change(at, weight)));
      this.words = element("p", { class: "note", id: "live-words", "aria-live": "polite" });
      const sliders = element("fieldset", {}, element("legend", {}, "Weights"), this.inputs.map((one) => one.part));
      const alike = button("All alike", () => this.set(() => 1, null));
      const open = address.get("weights") === "open" || (this.isChanged() && !Object.keys(this.presets).some((name) => this.isBy(name)));
      const unfolded = element("details", { id: "weights", open }, element("summary", {}, "Weights"), div("weights", sliders), div("tools", alike));
      parts.push(heading("weights", "What matters to you?"), element("div", { class: "presets", role: "group", "aria-labelledby": "at-weights" }, this.buttons), unfolded);
    }
    if (filters) parts.push(element("details", { id: "shown" }, element("summary", {}, "Show only …"), filters));
    if (this.words) parts.push(this.words);
    return parts.length ? div("matters", parts) : null;
  },
  change(at, weight) {
    const criterion = this.ranking.criteria[at];
    this.values[at] = weight;
    address.set(`weight.${criterion.id}`, weight === this.preset(this.own(), criterion) ? null : weight);
    front.draw();
  },
  choose(name) { this.set((criterion) => this.preset(name, criterion), name === "balanced" ? null : name); },
  set(weight, preset) {
    address.set("for", preset);
    this.ranking.criteria.forEach((criterion, at) => {
      this.values[at] = weight(criterion);
      const own = this.values[at] === this.preset(preset ?? "balanced", criterion);
      address.set(`weight.${criterion.id}`, own ? null : this.values[at]);
    });
    front.draw();
  },
  // Shows the weights, what they come to, and the table by them.
  draw(ranked) {
    if (!this.ranking) return;
    this.inputs.forEach(({ input, say }, at) => { input.value = this.values[at]; say(this.values[at]); });
    for (const one of this.buttons) one.setAttribute("aria-pressed", this.isBy(one.dataset.preset));
    if (this.words) this.words.textContent = this.sentence(ranked);
    this.table(ranked);
  },
  sentence(ranked) {
    const preset = Object.keys(this.presets).find((name) => name !== "balanced" && this.isBy(name));
    const told = preset ? ` (${this.presets[preset].words})` : "";
    const by = this.isChanged() ? `By your weights${told}` : "By the report's weights";
    const among = ranked.length < this.ranking.contestants.length ? `, among the ${ranked.length} that are shown` : "";
    if (!ranked.length || !Number.isFinite(ranked[0].ratio)) return "Nothing is weighed, so nobody leads.";
    const groups = Object.entries(Object.groupBy(ranked, (one) => one.group.title));
    const leads = groups.map(([title, own]) => {
      const first = own.filter((one) => one.rank === 1);
      const those = { meets: ", of those that meet the requirements", meets_decided: ", of those that meet all that could be decided", undecided: ", of what is undecided", misses: ", though it misses a requirement" }[own[0].meets] || "";
      const next = own.find((one) => one.rank > 1);
      const then = next ? `, then ${next.label} ${costs.times(next.ratio)}` : "";
      const who = first.length > 1 ? `${first.length} layouts cost least` : `${first[0].label} costs least`;
      return `${groups.length > 1 ? `${title}: ` : ""}${who}${those}${then}`;
    });
    return `${by}${among}. ${leads.join(". ")}.`;
  },
  // Keeps the rows of a ranking's table: each ranking is there once, and this moves it.
  keep(table, drawn) {
    const body = drawn.querySelector("tbody");
    [...body.rows].forEach((line, at) => this.lines.set(table.rows[at][1].text, { line, body, texts: [...line.cells].map((cell) => cell.textContent) }));
    this.table(this.ranked());
  },
  table(ranked) {
    const isOwn = !this.isChanged() && ranked.length === this.ranking.contestants.length;
    for (const one of ranked) {
      const kept = this.lines.get(one.label);
      if (!kept) continue;
      const { line, body, texts } = kept;
      const shown = [...texts];
      if (!isOwn) {
        shown[0] = one.rank ?? "–";
        shown[2] = this.cost(one);
      }
      shown.forEach((text, at) => { line.cells[at].textContent = text; });
      body.append(line);
    }
  },
  // As the table has it.
  cost(one) {
    const [ratio, ...ends] = [one.ratio, ...one.interval || []].map((value) => costs.times(value).replace("×", ""));
    return ratio + (ends.length ? ` [${ends.join(", ")}]` : "");
  },
};
