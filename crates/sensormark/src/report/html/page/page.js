"use strict";
// The page: the document's sections in its order, with what can be moved and hidden between them.

const page = {
  data: JSON.parse(document.getElementById("data").textContent),
  listeners: [],
  onFilter(act) { this.listeners.push(act); },
  filters: ["store", "layout", "durability"],
  // Labels of implementations that a reader has hidden.
  hidden() {
    const off = Object.fromEntries(this.filters.map((name) => [name, new Set((address.get("hide." + name) || "").split("|"))]));
    const found = this.data.implementations.filter((one) => this.filters.some((name) => off[name].has(one[name])));
    return new Set(found.map((one) => one.label));
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
    tables.filter(this.hidden());
    this.listeners.forEach((act) => act());
  },
  // A section's parts; the ranking's is followed by the one that a reader can move.
  section(section) {
    const parts = section.blocks.map((block) => {
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
        add("weights", "Weigh it yourself", () => this.frame("weights", "Weigh it yourself", live.section(ranking)));
      }
    }
    if (drawn.length) add("curves", "Latency distributions", () => this.frame("curves", "Latency distributions", curves.section(drawn)));
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
    document.getElementById("title").textContent = this.data.document.title;
    const started = this.data.started;
    if (started) document.getElementById("subtitle").textContent = "Measured " + started.slice(0, 16).replace("T", " ") + " UTC";
    const main = document.getElementById("content");
    const sections = this.sections();
    const links = sections.map(({ id, title }) => {
      const link = element("a", { href: "#at=" + id }, title);
      link.addEventListener("click", (event) => { event.preventDefault(); this.go(id); });
      return element("li", {}, link);
    });
    document.getElementById("contents").append(element("ul", {}, links));
    for (const { id, parts } of sections) {
      // Charts need their place in the page before they are drawn.
      const drawn = parts();
      main.append(drawn);
      if (id === "verdicts" || id === sections[0].id) {
        const filters = this.filterSection();
        if (filters && !main.querySelector(".filters")) main.append(filters);
      }
    }
    tables.filter(this.hidden());
    charts.redraw();
    if (address.get("at")) this.go(address.get("at"));
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
