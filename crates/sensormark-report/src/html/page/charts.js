"use strict";
// Charts: each with a name for screen readers and its numbers as a table. Where a run was repeated, they show intervals.

const charts = {
  ink(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); },
  // Draws what comes near the window; a page of many runs has hundreds of charts that nobody scrolls to.
  near: new IntersectionObserver((seen) => seen.filter((one) => one.isIntersecting).forEach((one) => charts.show(one.target)), { rootMargin: "400px" }),
  // How each canvas is drawn.
  made: new WeakMap(),
  // Adds a chart to a place, this many pixels high where that is given; `configure` gives its configuration again for each theme.
  add(place, label, configure, pixels) {
    const canvas = element("canvas", { role: "img", "aria-label": label });
    place.append(element("div", { class: "chart", style: pixels ? `height: ${pixels}px` : null }, canvas));
    this.made.set(canvas, configure);
    this.near.observe(canvas);
  },
  show(canvas) {
    this.near.unobserve(canvas);
    if (!Chart.getChart(canvas)) this.draw(canvas);
  },
  // Paper shows all of them.
  showAll() { document.querySelectorAll("canvas").forEach((canvas) => this.show(canvas)); },
  draw(canvas) {
    Chart.getChart(canvas)?.destroy();
    Chart.defaults.color = this.ink("--soft");
    Chart.defaults.borderColor = this.ink("--line");
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.animation = false;
    const configuration = this.made.get(canvas)();
    new Chart(canvas, { ...configuration, options: { responsive: true, maintainAspectRatio: false, ...configuration.options } });
  },
  redraw() { Object.values(Chart.instances).forEach((chart) => this.draw(chart.canvas)); },
  // Empties a place, and gives up the charts in it.
  empty(place) {
    place.querySelectorAll("canvas").forEach((canvas) => { this.near.unobserve(canvas); Chart.getChart(canvas)?.destroy(); });
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
  // Intervals of bars and lines, along the axis of their values.
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
        const flat = chart.options.indexAxis === "y";
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
  // For a table of figures: bars of one column, or lines where its last key is a number (clients, days). What chooses, and where that draws.
  chooser(table) {
    const numeric = [...table.columns.keys()].filter((place) => place >= table.keys && tables.columnIsNumber(table, place));
    if (!numeric.length || table.rows.length < 2) return [];
    const place = div("drawn");
    const choice = element("select", { "aria-label": "Figure to draw of: " + table.title },
      element("option", { value: "" }, "Chart of …"), numeric.map((place) => element("option", { value: place }, this.columnTitle(table, place))));
    choice.addEventListener("change", () => {
      this.empty(place);
      if (choice.value === "") return;
      const title = this.columnTitle(table, choice.value);
      this.add(place, `${table.title}: ${title}; the table below has the numbers`, () => this.ofTable(table, choice.value, title));
    });
    return [element("label", {}, choice), place];
  },
  columnTitle(table, place) {
    const column = table.columns[place];
    return column.unit ? `${column.name} (${column.unit})` : column.name;
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
