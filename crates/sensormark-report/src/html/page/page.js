"use strict";
// The page: the first screen, and below it the document's sections, folded, in five chapters.

const page = {
  all: JSON.parse(document.getElementById("data").textContent),
  onFilter(act) { this.listeners.push(act); },
  filters: ["store", "layout", "durability"],
  off(name) { return new Set(address.get("hide." + name)?.split("|")); },
  hide() {
    const off = Object.fromEntries(this.filters.map((name) => [name, this.off(name)]));
    const found = this.data.implementations.filter((one) => this.filters.some((name) => off[name].has(one[name])));
    // Labels of implementations that a reader has hidden.
    this.hidden = new Set(found.map((one) => one.label));
  },
  // Whether what a row or curve is about is hidden: an implementation, a variant of one ("A, from sums"), or a database all of whose are.
  isHidden(name) {
    if (!this.hidden.size) return false;
    const all = this.data.implementations;
    const owners = all.filter((one) => name === one.label || name.startsWith(one.label + ", "));
    const [longest] = owners.sort((a, b) => b.label.length - a.label.length);
    if (longest) return this.hidden.has(longest.label);
    const stored = all.filter((one) => one.store === name);
    return stored.length > 0 && stored.every((one) => this.hidden.has(one.label));
  },
  filterSection() {
    const sets = this.filters.map((name) => {
      const values = unique(this.data.implementations.map((one) => one[name]));
      if (values.length < 2) return null;
      return element("fieldset", {}, element("legend", {}, name === "durability" ? "Durability class" : name[0].toUpperCase() + name.slice(1)),
        values.map((value) => this.checkbox(name, value)));
    });
    return sets.some(Boolean) ? element("div", { class: "filters", role: "group", "aria-label": "What is shown" }, sets) : null;
  },
  checkbox(name, value) {
    const input = element("input", { type: "checkbox", checked: !this.off(name).has(value), "data-filter": name, "data-value": value });
    input.addEventListener("change", () => {
      const off = this.off(name);
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
  // Where each section of the report stands; what is not named here is of the study, and stands with the answer.
  chapters: [
    ["answer", "Answer", []],
    ["costs", "Costs", ["prices", "by_label", "sizes", "resources", "costs", "durability", "readings", "writes", "projection", "as_study"]],
    ["latency", "Latency", ["curves", "latencies", "phases"]],
    ["time", "Over time", ["time_series", "steadiness"]],
    ["measured", "How measured", ["warnings", "not_measured", "protocol", "environment", "environments", "reproduce", "statements"]],
  ],
  // The first of a chapter is open; the others unfold.
  open: ["prices", "by_label", "sizes", "resources", "costs", "durability", "curves", "latencies"],
  titles: { answer: "The answer in full", ranking: "Ranking as a table", time_series: "Resources over time" },
  chapterOf(id) {
    return this.chapters.find(([, , ids]) => ids.includes(id))?.[0] ?? "answer";
  },
  blocks(section) {
    return figures.blocks(section.blocks, (block) => {
      if (block.kind === "table") return tables.block(block);
      if (block.kind === "list") return element("ul", {}, block.items.map((item) => element("li", {}, item)));
      return element("p", { class: section.id === "answer" ? "answer" : null }, block.text);
    });
  },
  sections() {
    const { document: { sections }, curves: drawn, time_series: taken } = this.data;
    const all = sections.map((section) => ({ id: section.id, title: this.titles[section.id] || section.title, parts: () => (section.id === "prices" ? [this.blocks(section)[1], ...prices.section(this.data.prices)] : this.blocks(section)) }));
    const before = (id, one) => {
      const at = all.findIndex((section) => section.id === id);
      all.splice(at < 0 ? all.length : at, 0, one);
    };
    if (drawn?.all.length) before("latencies", { id: "curves", title: "Latency distributions", parts: () => curves.section(drawn) });
    if (taken.length) before("steadiness", { id: "time_series", title: this.titles.time_series, parts: () => timeSeries.section(taken) });
    return all;
  },
  theme(name) {
    const [isDark, toggle] = [name === "dark", document.getElementById("theme")];
    document.documentElement.dataset.theme = name;
    toggle.textContent = isDark ? "Light" : "Dark";
    toggle.setAttribute("aria-pressed", isDark);
    charts.redraw();
  },
  themes() {
    this.theme(address.get("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    document.getElementById("theme").addEventListener("click", () => {
      address.set("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
      this.theme(address.get("theme"));
    });
  },
  begin() {
    this.themes();
    document.title = this.all.title;
    this.paper();
    const known = this.all.runs.findIndex((run) => run.name === address.get("run"));
    this.show(Math.max(0, known));
    if (address.get("at")) this.go(address.get("at"));
  },
  // Paper is light, and shows every section and chart.
  paper() {
    let [before, opened] = [null, []];
    addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details.section:not([open]), details.trust:not([open])")];
      opened.forEach((place) => { place.fill?.(); place.open = true; });
      before = document.documentElement.dataset.theme;
      this.theme("light");
      charts.showAll();
    });
    addEventListener("afterprint", () => { this.theme(before); opened.forEach((place) => { place.open = false; }); });
  },
  // Shows one of the runs, in place of the one before.
  show(place) {
    const main = document.getElementById("content");
    charts.empty(main);
    this.listeners = [];
    tables.shown = [];
    const run = this.all.runs[place];
    this.data = { ...run, document: tables.unpacked(run.document) };
    colours.start(this.data.implementations);
    this.hide();
    this.choices(place);
    weights.start(this.data.ranking);
    front.start(this.data.front);
    main.append(...(this.data.front ? this.report() : this.alone()));
    front.draw();
    tables.filter();
    this.follow(main);
  },
  // A run's report: the answer with its charts, and chapters below it.
  report() {
    const sections = this.sections();
    const verdicts = sections.find((section) => section.id === "verdicts");
    const others = sections.filter((section) => section !== verdicts);
    const trust = div(null, element("h2", { id: "at-verdicts", class: "unseen" }, "Verdicts"), verdicts ? verdicts.parts() : []);
    const made = [];
    for (const [id, title, ids] of this.chapters) {
      const own = others.filter((section) => this.chapterOf(section.id) === id);
      own.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
      const head = id === "answer" ? front.section(this.filterSection(), trust) : [heading("chapter-" + id, title)];
      if (!own.length && id !== "answer") head.push(note("Nothing of this is in the folder of this run."));
      const folded = own.map((section, at) => tables.later(heading(section.id, section.title), section.parts,
        { class: "section", open: at === 0 && this.open.includes(section.id) }));
      made.push(this.chapter(id, "chapter-" + id, head, folded));
    }
    this.links(this.chapters.map(([id, title]) => ["chapter-" + id, title]));
    return made;
  },
  // A chapter under the heading of this name.
  chapter(id, at, ...parts) { return element("section", { class: "chapter", id: "chapter-" + id, "aria-labelledby": "at-" + at }, ...parts); },
  // A document without a ranking: a comparison, or what survived a kill.
  alone() {
    const { headline, document: { title, sections } } = this.data;
    const head = element("section", { class: "chapter head" }, element("h1", {}, headline || title),
      element("p", { class: "context", id: "subtitle" }, [headline ? title : "", this.data.name, this.data.started].filter(Boolean).join(" · ")));
    this.links(sections.map((section) => [section.id, section.title]));
    return [head, ...sections.map((section) => this.chapter(section.id, section.id, heading(section.id, section.title), this.blocks(section)))];
  },
  links(targets) {
    this.list("contents", targets.map(([id, title]) => [{ href: "#at=" + id, "data-to": id }, title, () => this.go(id)]));
  },
  // Links, each with what a click does instead of following it.
  list(place, links) {
    const items = links.map(([attributes, words, act]) => {
      const link = element("a", attributes, words);
      link.addEventListener("click", (event) => { event.preventDefault(); act(); });
      return element("li", {}, link);
    });
    document.getElementById(place).replaceChildren(element("ul", {}, items));
  },
  // Marks the chapter that is being read.
  follow(main) {
    this.seen?.disconnect();
    const links = [...document.querySelectorAll("#contents a")];
    const mark = (id) => links.forEach((link) => {
      const isOwn = link.dataset.to === id || "chapter-" + link.dataset.to === id;
      if (isOwn) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    const inside = new Set();
    this.seen = new IntersectionObserver((all) => {
      all.forEach((one) => (one.isIntersecting ? inside.add(one.target) : inside.delete(one.target)));
      const first = [...main.children].find((chapter) => inside.has(chapter) && chapter.id);
      if (first) mark(first.id);
    }, { rootMargin: "-25% 0px -60% 0px" });
    [...main.children].forEach((chapter) => this.seen.observe(chapter));
  },
  // Links to each run of a page of several; what a reader chose is of one run, but for the theme.
  choices(shown) {
    if (this.all.runs.length < 2) return;
    this.list("runs", this.all.runs.map((run, place) => {
      const same = this.all.runs.filter((other) => other.workload === run.workload).length > 1;
      const words = same ? `${run.workload} ${run.started.slice(0, 16).replace("T", " ")}` : run.workload;
      return [{ href: "#run=" + encodeURIComponent(run.name), "aria-current": place === shown ? "true" : null }, words, () => {
        const theme = address.get("theme");
        address.values = new URLSearchParams(theme ? { theme } : {});
        address.set("run", run.name);
        this.show(place);
        document.querySelector("#runs [aria-current]").focus();
      }];
    }));
  },
  // Goes to a section, and opens it; of a chapter, its first.
  go(id) {
    const place = document.getElementById("at-" + id);
    if (!place) return;
    address.set("at", id === "chapter-answer" ? null : id);
    place.setAttribute("tabindex", "-1");
    const folded = place.closest("details") || place.parentElement.querySelector(":scope > details.section");
    if (folded && id !== "chapter-answer") {
      folded.fill?.();
      folded.open = true;
    }
    if (id === "chapter-answer") scrollTo(0, 0);
    else place.scrollIntoView();
    place.focus({ preventScroll: true });
  },
};

page.begin();
