"use strict";
// Charts: each with a name for screen readers and its numbers as a table. Colours are told apart by those who see few of them, and dashes differ too.

const charts = {
  made: [],
  colours: {
    light: ["#0b5cad", "#c2410c", "#11734b", "#8b2fb0", "#7a5c00", "#b01657", "#0e7490", "#4b5563"],
    dark: ["#7ab8ff", "#ffa366", "#5fd3a0", "#d9a2f5", "#e3c34d", "#ff91bd", "#67d3e8", "#c3cad4"],
  },
  dashes: [[], [6, 3], [2, 3], [8, 3, 2, 3]],
  theme() { return document.documentElement.dataset.theme === "dark" ? "dark" : "light"; },
  colour(place) { const all = this.colours[this.theme()]; return all[place % all.length]; },
  ink(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); },
  dash(place) { return this.dashes[Math.floor(place / 8) % 4]; },
  // Draws what comes near the window; a page of many runs has hundreds of charts that nobody scrolls to.
  near: new IntersectionObserver((seen) => seen.filter((one) => one.isIntersecting).forEach((one) => charts.show(one.target)), { rootMargin: "400px" }),
  // Adds a chart to a place, this many pixels high where that is given; `configure` gives its configuration again for each theme.
  add(place, label, configure, pixels) {
    const canvas = element("canvas", { role: "img", "aria-label": label });
    const frame = element("div", { class: "chart" }, canvas);
    if (pixels) frame.style.height = pixels + "px";
    place.append(frame);
    this.made.push({ canvas, configure, chart: null });
    this.near.observe(canvas);
  },
  show(canvas) {
    const entry = this.made.find((one) => one.canvas === canvas);
    this.near.unobserve(canvas);
    if (entry && !entry.chart) this.draw(entry);
  },
  // Paper shows all of them.
  showAll() { this.made.forEach((entry) => this.show(entry.canvas)); },
  draw(entry) {
    if (entry.chart) entry.chart.destroy();
    Chart.defaults.color = this.ink("--soft");
    Chart.defaults.borderColor = this.ink("--line");
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.animation = false;
    const configuration = entry.configure();
    configuration.options = { responsive: true, maintainAspectRatio: false, ...configuration.options };
    entry.chart = new Chart(entry.canvas, configuration);
  },
  redraw() { this.made.filter((entry) => entry.chart).forEach((entry) => this.draw(entry)); },
  // Empties a place, and gives up the charts in it.
  empty(place) {
    const gone = this.made.filter((entry) => place.contains(entry.canvas));
    gone.forEach((entry) => { this.near.unobserve(entry.canvas); entry.chart?.destroy(); });
    this.made = this.made.filter((entry) => !gone.includes(entry));
    place.replaceChildren();
  },
  axis(title, further) {
    return { title: { display: title !== "", text: title }, ...further, ticks: { callback: (value) => short(Number(value)), ...further?.ticks } };
  },
  bars(names, values, title) {
    return {
      type: "bar",
      data: { labels: names, datasets: [{ label: title, data: values, backgroundColor: this.colour(0) }] },
      options: { indexAxis: "y", plugins: { legend: { display: false } }, scales: { x: this.axis(title, { beginAtZero: true }) } },
    };
  },
  lines(series, xTitle, yTitle, scales) {
    return {
      type: "line",
      data: {
        datasets: series.map((one, place) => ({
          label: one.name, data: one.points.map(([x, y]) => ({ x, y })), borderColor: this.colour(place),
          backgroundColor: this.colour(place), borderDash: this.dash(place), borderWidth: 2,
          pointRadius: one.points.length > 40 ? 0 : 3, spanGaps: true,
        })),
      },
      options: {
        interaction: { mode: "nearest", intersect: false },
        plugins: { legend: { position: "bottom", labels: { boxWidth: 24 } } },
        scales: { x: this.axis(xTitle, { type: "linear", ...scales?.x }), y: this.axis(yTitle, { beginAtZero: true, ...scales?.y }) },
      },
    };
  },
  // For a table of figures: bars of one column, or lines where its last key is a number (clients, days).
  chooser(table) {
    const numeric = table.columns.map((_, place) => place)
      .filter((place) => place >= table.keys && tables.columnIsNumber(table, place));
    if (!numeric.length || table.rows.length < 2) return null;
    const choice = element("select", { "aria-label": "Figure to draw of: " + table.title },
      element("option", { value: "" }, "Chart of …"),
      numeric.map((place) => element("option", { value: place }, this.columnTitle(table, place))));
    choice.addEventListener("change", () => this.pick(table, choice));
    return element("label", {}, choice);
  },
  columnTitle(table, place) {
    const column = table.columns[place];
    return column.unit ? `${column.name} (${column.unit})` : column.name;
  },
  pick(table, choice) {
    const tools = choice.closest(".tools");
    const drawn = tools.nextElementSibling;
    if (drawn?.classList.contains("drawn")) { this.empty(drawn); drawn.remove(); }
    if (choice.value === "") return;
    const column = Number(choice.value);
    const title = this.columnTitle(table, column);
    const place = element("div", { class: "drawn" });
    tools.after(place);
    this.add(place, `${table.title}: ${title}; the table below has the numbers`, () => this.ofTable(table, column, title));
  },
  ofTable(table, column, title) {
    const rows = table.rows.filter((row) => tables.isNumber(row[column]) && !page.isHidden(row[0].text));
    const last = table.keys - 1;
    if (last > 0 && rows.every((row) => tables.isNumber(row[last]))) {
      const series = new Map();
      for (const row of rows) {
        const name = row.slice(0, last).map((cell) => cell.text).join(", ");
        if (!series.has(name)) series.set(name, []);
        series.get(name).push([row[last].value, row[column].value]);
      }
      const all = [...series].map(([name, points]) => ({ name, points: points.sort((a, b) => a[0] - b[0]) }));
      return this.lines(all, this.columnTitle(table, last), title);
    }
    const names = rows.map((row) => row.slice(0, table.keys).map((cell) => cell.text).join(", "));
    return this.bars(names, rows.map((row) => row[column].value), title);
  },
};

// Latency distributions: how long the slowest share took.
const curves = {
  section({ beyond, all }) {
    this.beyond = beyond;
    // What most implementations were asked comes first.
    const count = new Map();
    all.forEach((curve) => count.set(curve.operation, (count.get(curve.operation) || 0) + 1));
    const operations = [...count.keys()].sort((a, b) => count.get(b) - count.get(a));
    const place = element("div");
    const choice = element("select", { id: "operation" }, operations.map((name) => element("option", { value: name }, name)));
    const known = address.get("operation");
    if (operations.includes(known)) choice.value = known;
    const draw = () => {
      address.set("operation", choice.value === operations[0] ? null : choice.value);
      this.draw(place, all.filter((curve) => curve.operation === choice.value && !page.isHidden(curve.implementation)));
    };
    choice.addEventListener("change", draw);
    page.onFilter(draw);
    draw();
    return [element("p", {}, "How long the slowest share of operations took: to the right are the rarest. A curve ends where fewer than ten operations lie beyond."),
      element("div", { class: "tools" }, element("label", {}, "Operation ", choice)), place];
  },
  ticks(most) { return [1, 2, 10, 100, 1000, 1e4, 1e5, 1e6].filter((x) => x <= most).map((value) => ({ value })); },
  percentile(beyond) { return beyond >= 1 ? "0" : String(Number((100 - beyond * 100).toPrecision(8))); },
  draw(place, found) {
    charts.empty(place);
    if (!found.length) { place.append(element("p", { class: "note" }, "No curve is shown.")); return; }
    const series = found.map((curve) => ({ name: curve.implementation, points: curve.ms.map((ms, at) => [1 / this.beyond[at], ms]) }));
    const from = found[0].open_loop ? "from when it was due" : "service time";
    charts.add(place, "Latency by percentile, " + from, () => charts.lines(series, "percentile", "ms, " + from, {
      x: { type: "logarithmic", min: 1, afterBuildTicks: (axis) => { axis.ticks = this.ticks(axis.max); }, ticks: { callback: (x) => this.percentile(1 / x) } },
      y: { type: "logarithmic", beginAtZero: false },
    }));
    const rows = found.flatMap((curve) => curve.ms.map((ms, at) => [curve.implementation, Number(this.percentile(this.beyond[at])), ms]));
    place.append(tables.simple("Latency curves", ["implementation", "percentile", "ms"], rows));
  },
};

// What a trial did and its processes used over time, with its phases.
const courses = {
  figures: [["per_second", "operations (1/s)", "throughput"],
    ["cpu_percent", "CPU (% of one core)", "roles"], ["resident_mb", "resident memory (MB)", "roles"],
    ["read_kb_s", "read from storage (kB/s)", "roles"], ["written_kb_s", "written to storage (kB/s)", "roles"]],
  section(all) {
    const place = element("div", { class: "pair" });
    const choice = element("select", { id: "course" }, all.map((one, at) => element("option", { value: at }, one.name)));
    const known = all.findIndex((one) => one.name === address.get("course"));
    if (known >= 0) choice.value = known;
    const draw = () => {
      address.set("course", choice.value === "0" ? null : all[choice.value].name);
      this.draw(place, all[choice.value]);
    };
    choice.addEventListener("change", draw);
    draw();
    return [element("div", { class: "tools" }, element("label", {}, "Trial ", choice)), place];
  },
  draw(place, course) {
    charts.empty(place);
    const phases = { id: "phases", beforeDatasetsDraw: (chart) => this.phases(chart, course.phases) };
    for (const [key, title, of] of this.figures) {
      const series = Object.entries(course[of]).filter(([, one]) => one[key].some((value) => value !== null))
        .map(([name, one]) => ({ name, points: one.seconds.map((second, at) => [second, one[key][at]]) }));
      if (!series.length) continue;
      const cell = element("div");
      place.append(cell);
      cell.append(element("h3", {}, title[0].toUpperCase() + title.slice(1)));
      charts.add(cell, `${course.name}: ${title} over time`, () => ({ ...charts.lines(series, "s", "", { x: { min: 0 } }), plugins: [phases] }), 208);
      const rows = series.flatMap((one) => one.points.map(([second, value]) => [one.name, second, value]));
      cell.append(tables.simple(title, [of === "roles" ? "process" : "operation", "s", title], rows));
    }
    const named = course.phases.map(([name, from, to]) => `${name}: ${from} to ${to} s`).join("; ");
    place.append(element("p", { class: "note" }, "Phases: " + named));
  },
  phases(chart, phases) {
    const { ctx, chartArea: area, scales: { x } } = chart;
    ctx.save();
    phases.forEach(([name, from, to], place) => {
      const [left, right] = [x.getPixelForValue(from), x.getPixelForValue(to)];
      ctx.fillStyle = place % 2 ? "rgba(127,127,127,.13)" : "rgba(127,127,127,.06)";
      ctx.fillRect(left, area.top, right - left, area.bottom - area.top);
      ctx.fillStyle = charts.ink("--soft");
      if (ctx.measureText(name).width < right - left) ctx.fillText(name, left + 3, area.top + 10);
    });
    ctx.restore();
  },
};
