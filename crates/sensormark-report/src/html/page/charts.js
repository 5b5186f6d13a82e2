"use strict";
// Charts: each with a name for screen readers and its numbers as a table. Where a run was repeated, they show intervals.

const charts = {
  made: [],
  ink(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); },
  // Draws what comes near the window; a page of many runs has hundreds of charts that nobody scrolls to.
  near: new IntersectionObserver((seen) => seen.filter((one) => one.isIntersecting).forEach((one) => charts.show(one.target)), { rootMargin: "400px" }),
  // Adds a chart to a place, this many pixels high where that is given; `configure` gives its configuration again for each theme.
  add(place, label, configure, pixels) {
    const canvas = element("canvas", { role: "img", "aria-label": label });
    const frame = div("chart", canvas);
    if (pixels) frame.style.height = pixels + "px";
    place.append(frame);
    this.made.push({ canvas, configure, chart: null });
    this.near.observe(canvas);
    return frame;
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
  // Makes an axis have these ticks.
  ticks(values) { return (axis) => { axis.ticks = values(axis).map((value) => ({ value })); }; },
  // Bars below one another, in the colour of what each is about.
  bars(names, values, title, intervals) {
    return {
      type: "bar",
      data: { labels: names, datasets: [{ label: title, data: values, intervals, backgroundColor: names.map((name) => colours.of(name)), maxBarThickness: 22 }] },
      options: { indexAxis: "y", plugins: { legend: { display: false } }, scales: { x: this.axis(title, { beginAtZero: true }), y: { ticks: { autoSkip: false } } } },
    };
  },
  // Lines in these looks, else in those of the databases that they are about.
  lines(series, xTitle, yTitle, scales, looks) {
    const own = looks || colours.lines(series.map((one) => one.name));
    return {
      type: "line",
      data: {
        datasets: series.map((one, place) => ({
          label: one.name, data: one.points.map(([x, y]) => ({ x, y })), intervals: one.intervals, borderColor: own[place].colour,
          backgroundColor: own[place].colour, borderDash: own[place].dash, pointStyle: own[place].point, borderWidth: 2,
          pointRadius: one.points.length > 40 ? 0 : 3, spanGaps: true,
        })),
      },
      options: {
        interaction: { mode: "nearest", intersect: false },
        plugins: { legend: { position: "bottom", labels: { usePointStyle: true, pointStyle: "line", pointStyleWidth: 32, generateLabels: (chart) => this.keys(chart) } } },
        scales: { x: this.axis(xTitle, { type: "linear", ...scales?.x }), y: this.axis(yTitle, { beginAtZero: true, ...scales?.y }) },
      },
    };
  },
  // The legend's lines, dashed as their own.
  keys(chart) {
    const keys = Chart.defaults.plugins.legend.labels.generateLabels(chart);
    return keys.map((key) => ({ ...key, lineDash: chart.data.datasets[key.datasetIndex].borderDash, lineWidth: 2, strokeStyle: chart.data.datasets[key.datasetIndex].borderColor }));
  },
  // Intervals of bars, points and lines, along the axis of their values; and how far a point reaches.
  whiskers: {
    id: "whiskers",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea: area } = chart;
      ctx.save();
      ctx.beginPath();
      ctx.rect(area.left, area.top, area.width, area.height);
      ctx.clip();
      chart.data.datasets.forEach((set, place) => {
        if (!set.intervals || !chart.isDatasetVisible(place)) return;
        const flat = set.flat || chart.options.indexAxis === "y";
        const along = chart.scales[flat ? "x" : "y"];
        ctx.lineWidth = 1.5;
        ctx.strokeStyle = charts.ink("--ink");
        chart.getDatasetMeta(place).data.forEach((drawn, at) => {
          const interval = set.intervals[at];
          if (!interval) return;
          const [from, to] = interval.map((value) => along.getPixelForValue(along.type === "logarithmic" ? Math.max(value, along.min) : value));
          const line = (start, end, by, to) => (flat ? stroke(ctx, start, drawn.y + by, end, drawn.y + to) : stroke(ctx, drawn.x + by, start, drawn.x + to, end));
          line(from, to, 0, 0);
          [from, to].forEach((end) => line(end, end, -4, 4));
        });
      });
      ctx.restore();
    },
  },
  // The interval of a table's cell, where it has one.
  interval(cell) { return cell.low === undefined ? null : [cell.low, cell.high]; },
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
    const place = div("drawn");
    tools.after(place);
    this.add(place, `${table.title}: ${title}; the table below has the numbers`, () => this.ofTable(table, column, title));
  },
  ofTable(table, column, title) {
    const rows = table.rows.filter((row) => tables.isNumber(row[column]) && !page.isHidden(row[0].text));
    const last = table.keys - 1;
    if (last > 0 && rows.every((row) => tables.isNumber(row[last]))) {
      const series = Object.groupBy(rows, (row) => tables.name(row, last));
      const all = Object.entries(series).map(([name, own]) => {
        const points = own.map((row) => [row[last].value, row[column].value, this.interval(row[column])]);
        points.sort((a, b) => a[0] - b[0]);
        return { name, points, intervals: points.map((point) => point[2]) };
      });
      return this.lines(all, this.columnTitle(table, last), title);
    }
    const names = rows.map((row) => tables.name(row, table.keys));
    return this.bars(names, rows.map((row) => row[column].value), title, rows.map((row) => this.interval(row[column])));
  },
};

Chart.register(charts.whiskers);
