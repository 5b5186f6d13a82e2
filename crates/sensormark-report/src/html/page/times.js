"use strict";
// Latency distributions, and what a trial did over time: lines.

// Latency distributions: how long the slowest share took.
const curves = {
  section({ beyond, all }) {
    this.beyond = beyond;
    // What most implementations were asked comes first.
    const own = Object.groupBy(all, (curve) => curve.operation);
    const operations = Object.keys(own).sort((a, b) => own[b].length - own[a].length);
    const place = div();
    const { act, parts } = drawnChoice("operation", "Operation ", operations, place, (at) =>
      this.draw(place, own[operations[at]].filter((curve) => !page.isHidden(curve.implementation))));
    page.onFilter(act);
    return [element("p", {}, "How long the slowest share of operations took: to the right are the rarest. A curve ends where fewer than ten operations lie beyond."), ...parts];
  },
  ticks(most) { return [1, 2, 10, 100, 1000, 1e4, 1e5, 1e6].filter((x) => x <= most); },
  percentile(beyond) { return beyond >= 1 ? "0" : String(Number((100 - beyond * 100).toPrecision(8))); },
  draw(place, found) {
    if (!found.length) { place.append(note("No curve is shown.")); return; }
    const series = found.map((curve) => ({ name: curve.implementation, points: curve.ms.map((ms, at) => [1 / this.beyond[at], ms]) }));
    const from = found[0].open_loop ? "from when it was due" : "service time";
    charts.add(place, "Latency by percentile, " + from, () => charts.lines(series, "percentile", "ms, " + from, {
      x: { type: "logarithmic", min: 1, afterBuildTicks: charts.ticks((axis) => this.ticks(axis.max)), ticks: { callback: (x) => this.percentile(1 / x) } },
      y: { type: "logarithmic", beginAtZero: false },
    }));
    const rows = found.flatMap((curve) => curve.ms.map((ms, at) => [curve.implementation, Number(this.percentile(this.beyond[at])), ms]));
    place.append(tables.numbers(tables.made("Latency curves", ["implementation", "percentile", "ms"], rows)));
  },
};

// What a trial did and its processes used over time, with its phases.
const timeSeries = {
  figures: [["per_second", "operations (1/s)", "throughput"],
    ["cpu_percent", "CPU (% of one core)", "roles"], ["resident_mb", "resident memory (MB)", "roles"],
    ["read_kb_s", "read from storage (kB/s)", "roles"], ["written_kb_s", "written to storage (kB/s)", "roles"]],
  section(all) {
    const place = div("pair");
    return drawnChoice("trial", "Trial ", all.map((one) => one.name), place, (at) => this.draw(place, all[at])).parts;
  },
  draw(place, trial) {
    const phases = { id: "phases", beforeDatasetsDraw: (chart) => this.phases(chart, trial.phases) };
    for (const [key, title, of] of this.figures) {
      const series = Object.entries(trial[of]).filter(([, one]) => one[key].some((value) => value !== null))
        .map(([name, one]) => ({ name, points: one.seconds.map((second, at) => [second, one[key][at]]) }));
      if (!series.length) continue;
      const cell = div();
      place.append(cell);
      cell.append(element("h3", {}, title[0].toUpperCase() + title.slice(1)));
      charts.add(cell, `${trial.name}: ${title} over time`, () => ({ ...charts.lines(series, "s", "", { x: { min: 0 } }, colours.within(trial.name, series.map((one) => one.name))), plugins: [phases] }), 208);
      const rows = series.flatMap((one) => one.points.map(([second, value]) => [one.name, second, value]));
      cell.append(tables.numbers(tables.made(title, [of === "roles" ? "process" : "operation", "s", title], rows)));
    }
    const named = trial.phases.map(([name, from, to]) => `${name}: ${from} to ${to} s`).join("; ");
    place.append(note("Phases: " + named));
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
