"use strict";
// The page: the document's sections in its order, with what can be moved and hidden between them.

const page = {
  all: JSON.parse(document.getElementById("data").textContent),
  // The run that is looked at.
  data: null,
  listeners: [],
  onFilter(act) { this.listeners.push(act); },
  filters: ["store", "layout", "durability"],
  // Labels of implementations that a reader has hidden.
  hidden: new Set(),
  hide() {
    const off = Object.fromEntries(this.filters.map((name) => [name, new Set((address.get("hide." + name) || "").split("|"))]));
    const found = this.data.implementations.filter((one) => this.filters.some((name) => off[name].has(one[name])));
    this.hidden = new Set(found.map((one) => one.label));
  },
  // Whether what a row or curve is about is hidden: an implementation, a variant of one ("A, from sums"), or a database all of whose are.
  isHidden(name) {
    if (!this.hidden.size) return false;
    const all = this.data.implementations;
    const owners = all.filter((one) => name === one.label || name.startsWith(one.label + ", "));
    if (owners.length) {
      const longest = owners.reduce((best, one) => (one.label.length > best.label.length ? one : best));
      return this.hidden.has(longest.label);
    }
    const stored = all.filter((one) => one.store === name);
    return stored.length > 0 && stored.every((one) => this.hidden.has(one.label));
  },
  filterSection() {
    const sets = this.filters.map((name) => {
      const values = [...new Set(this.data.implementations.map((one) => one[name]))];
      if (values.length < 2) return null;
      return element("fieldset", {}, element("legend", {}, name === "durability" ? "Durability class" : name[0].toUpperCase() + name.slice(1)),
        values.map((value) => this.checkbox(name, value)));
    });
    return sets.some(Boolean) ? element("div", { class: "filters", role: "group", "aria-label": "What is shown" }, sets) : null;
  },
  checkbox(name, value) {
    const kept = () => new Set((address.get("hide." + name) || "").split("|").filter(Boolean));
    const input = element("input", { type: "checkbox", checked: !kept().has(value), "data-filter": name, "data-value": value });
    input.addEventListener("change", () => {
      const off = kept();
      input.checked ? off.delete(value) : off.add(value);
      address.set("hide." + name, [...off].join("|"));
      this.filter();
    });
    return element("label", {}, input, value);
  },
  filter() {
    this.hide();
    tables.filter();
    this.listeners.forEach((act) => act());
  },
  // A section's parts; the ranking's is followed by the one that a reader can move.
  section(section) {
    const parts = figures.blocks(section.blocks, (block) => {
      if (block.kind === "table") return tables.block(block);
      if (block.kind === "list") return element("ul", {}, block.items.map((item) => element("li", {}, item)));
      return element("p", { class: section.id === "answer" ? "answer" : null }, block.text);
    });
    return this.frame(section.id, section.title, parts);
  },
  frame(id, title, parts) {
    return element("section", { "aria-labelledby": "at-" + id }, element("h2", { id: "at-" + id }, title), parts);
  },
  sections() {
    const { document: { sections }, ranking, curves: drawn, courses: taken } = this.data;
    const all = [];
    const add = (id, title, parts) => all.push({ id, title, parts });
    for (const section of sections) {
      add(section.id, section.title, () => this.section(section));
      if (section.id === "ranking" && ranking && ranking.contestants.length > 1) {
        add("weights", "Change the weights", () => this.frame("weights", "Change the weights", live.section(ranking)));
      }
    }
    if (drawn?.all.length) add("curves", "Latency distributions", () => this.frame("curves", "Latency distributions", curves.section(drawn)));
    if (taken.length) add("courses", "Over time", () => this.frame("courses", "Over time", courses.section(taken)));
    return all;
  },
  themes() {
    const root = document.documentElement;
    const dark = () => root.dataset.theme === "dark";
    const chosen = address.get("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    root.dataset.theme = chosen;
    const toggle = document.getElementById("theme");
    const say = () => { toggle.textContent = dark() ? "Light" : "Dark"; toggle.setAttribute("aria-pressed", dark()); };
    toggle.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      address.set("theme", root.dataset.theme);
      say();
      charts.redraw();
    });
    say();
  },
  begin() {
    this.themes();
    document.getElementById("title").textContent = this.all.title;
    this.paper();
    const known = this.all.runs.findIndex((run) => run.name === address.get("run"));
    this.show(Math.max(0, known));
    if (address.get("at")) this.go(address.get("at"));
  },
  // Paper is light, and shows every chart.
  paper() {
    const root = document.documentElement;
    let before = null;
    const show = (theme) => {
      if (root.dataset.theme === theme) return;
      root.dataset.theme = theme;
      charts.redraw();
    };
    addEventListener("beforeprint", () => { before = root.dataset.theme; show("light"); charts.showAll(); });
    addEventListener("afterprint", () => show(before));
  },
  // Shows one of the runs, in place of the one before.
  show(place) {
    const main = document.getElementById("content");
    charts.empty(main);
    this.listeners = [];
    tables.shown = [];
    const run = this.all.runs[place];
    this.data = { ...run, document: tables.unpacked(run.document) };
    this.hide();
    this.choices(place);
    const started = this.data.started ? "Measured " + this.data.started.slice(0, 16).replace("T", " ") + " UTC" : "";
    const own = this.all.runs.length > 1 ? [this.data.document.title, this.data.name, started] : [started];
    document.getElementById("subtitle").textContent = own.filter(Boolean).join(" · ");
    const sections = this.sections();
    const links = sections.map(({ id, title }) => {
      const link = element("a", { href: "#at=" + id }, title);
      link.addEventListener("click", (event) => { event.preventDefault(); this.go(id); });
      return element("li", {}, link);
    });
    document.getElementById("contents").replaceChildren(element("ul", {}, links));
    for (const { id, parts } of sections) {
      main.append(parts());
      if (id === "verdicts" || id === sections[0].id) {
        const filters = this.filterSection();
        if (filters && !main.querySelector(".filters")) main.append(filters);
      }
    }
    tables.filter();
  },
  // Links to each run of a page of several; what a reader chose is of one run, but for the theme.
  choices(shown) {
    if (this.all.runs.length < 2) return;
    const links = this.all.runs.map((run, place) => {
      const same = this.all.runs.filter((other) => other.workload === run.workload).length > 1;
      const words = same ? `${run.workload} ${run.started.slice(0, 16).replace("T", " ")}` : run.workload;
      const link = element("a", { href: "#run=" + encodeURIComponent(run.name), "aria-current": place === shown ? "true" : null }, words);
      link.addEventListener("click", (event) => {
        event.preventDefault();
        const theme = address.get("theme");
        address.values = new URLSearchParams(theme ? { theme } : {});
        address.set("run", run.name);
        this.show(place);
        document.querySelector("#runs [aria-current]").focus();
      });
      return element("li", {}, link);
    });
    document.getElementById("runs").replaceChildren(element("ul", {}, links));
  },
  go(id) {
    const place = document.getElementById("at-" + id);
    if (!place) return;
    address.set("at", id);
    place.setAttribute("tabindex", "-1");
    place.closest("details")?.setAttribute("open", "");
    place.scrollIntoView();
    place.focus({ preventScroll: true });
  },
};

page.begin();
