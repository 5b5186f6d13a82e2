"use strict";
// Rows of one height: a name, a bar or a point on a shared axis, and its value in figures. The first screen's charts and forests are made of them.

const rows = {
  height: 32,
  axis: 22,
  // A block of these rows: { label, note, mark, reason, rank, value, low, high, reach, points, text, aside, said, times, isBest, isApart, isHatched }.
  // What it draws: { kind: "bar", "dot" or "ratio", name, words, unit, names: "named", "plain" or "wide-names" }.
  block(list, spec) {
    const sub = spec.words ? element("p", { class: "sub", title: spec.words }, spec.words) : null;
    const block = div(`rows ${spec.names}`.replace("wide-names", "named wide-names"));
    block.append(element("div", { class: "names", "aria-hidden": spec.names === "plain" ? "true" : null }, list.map((row) => this.name(row))));
    const plot = div("plot");
    block.append(plot, div("values", list.map((row) => this.value(row))));
    const frame = charts.add(plot, `${spec.name}; the numbers stand beside it`, () => this.configuration(list, spec), list.length * this.height + this.axis);
    frame.style.margin = "0";
    return div(null, sub, block);
  },
  name(row) {
    if (row.heading) return div("heading", row.heading);
    const rank = row.rank === undefined ? null : element("span", { class: "rank" }, row.rank ?? "–");
    const mark = row.mark ? element("span", { class: "mark " + { "✓": "yes", "✗": "no" }[row.mark], title: row.reason || "meets the requirements" }, row.mark) : null;
    const classes = [row.isApart ? "apart" : "", row.isFirst ? "first-place" : ""].join(" ").trim();
    return element("div", { class: classes || null, title: [row.label, row.note || row.reason].filter(Boolean).join(": ") }, mark, rank,
      element("span", { class: "swatch", style: `--own: var(${colours.variable(row.label)})` }),
      element("span", { class: "label" }, row.label, row.note ? element("small", {}, row.note) : null));
  },
  value(row) {
    return element("div", { class: row.isApart ? "apart" : null, title: row.tip || null }, row.text,
      row.aside ? element("small", {}, row.aside) : null, row.said ? element("small", { class: row.said }, row.said) : null,
      row.times ? element("span", { class: row.isBest ? "times best" : "times" }, row.times) : null);
  },
  // How many times the best it is.
  times(value, best) {
    if (!Number.isFinite(value) || !(best > 0)) return "";
    const ratio = value / best;
    if (ratio <= 1) return "best";
    return `${ratio >= 9.95 ? Math.round(ratio) : ratio.toFixed(ratio < 1.095 ? 2 : 1)}×`;
  },
  figure(value) { return Number.isFinite(value) ? value.toLocaleString("en", { minimumSignificantDigits: 3, maximumSignificantDigits: 3 }) : "–"; },
  configuration(list, spec) {
    const own = list.map((row) => colours.of(row.label));
    const row = (item) => list[spec.kind === "bar" ? item.dataIndex : Math.round(item.parsed.y)];
    const made = spec.kind === "bar" ? this.bars(list, spec, own) : this.dots(list, spec, own);
    made.options = {
      events: ["mousemove", "mouseout", "click"], layout: { padding: { left: 4, right: 6 }, autoPadding: false }, ...made.options,
      plugins: { legend: { display: false }, tooltip: { displayColors: false, callbacks: {
        title: ([item]) => row(item).label, label: (item) => row(item).tip || `${this.figure(item.parsed.x)} ${spec.unit}`,
      } } },
    };
    return made;
  },
  // The axis below the rows, of one height for all of them.
  below(further) {
    return { afterFit: (axis) => { axis.height = this.axis; }, border: { display: false }, ...further,
      ticks: { maxRotation: 0, font: { size: 11 }, padding: 2, callback: (value) => short(Number(value)), ...further.ticks } };
  },
  bars(list, spec, own) {
    const ends = list.flatMap((row) => [row.value, row.high]).filter(Number.isFinite);
    const max = Math.max(...ends, 1e-9) * 1.02;
    const fill = list.map((row, at) => (row.isHatched ? figures.hatched(own[at], at % 2) : own[at]));
    return {
      type: "bar",
      data: { labels: list.map((_, at) => String(at)), datasets: [{
        label: spec.name, data: list.map((row) => (row.isHatched && row.value === null ? max : row.value)), backgroundColor: fill, borderRadius: 2, barThickness: 14,
        intervals: list.map((row) => (Number.isFinite(row.low) ? [Math.max(row.low, 0), row.high] : null)),
      }] },
      options: { indexAxis: "y", scales: { y: { display: false },
        x: this.below({ min: 0, max, grid: { color: charts.ink("--track"), drawTicks: false }, ticks: { display: false } }) } },
    };
  },
  // Points on an axis of equal factors, with their intervals; a reach goes on to a higher percentile, and small points are single values.
  dots(list, spec, own) {
    const ends = list.flatMap((row) => [row.value, row.low, row.high, row.reach, ...(row.points || [])]).filter((value) => Number.isFinite(value) && value > 0);
    let [min, max] = [Math.min(...ends, Infinity) / 1.25, Math.max(...ends, 0) * 1.25];
    if (!ends.length) [min, max] = [1, 10];
    if (spec.kind === "ratio") { max = Math.max(max, 1 / min, 1.1); min = 1 / max; }
    const point = (row, at, value) => ({ x: value, y: at });
    const shown = list.map((row, at) => ({ row, at })).filter(({ row }) => Number.isFinite(row.value));
    const small = shown.flatMap(({ row, at }) => (row.points || []).map((value) => point(row, at, value)));
    return {
      type: "scatter",
      data: { datasets: [
        { label: spec.name, data: shown.map(({ row, at }) => point(row, at, row.value)), pointRadius: 5, pointHoverRadius: 6, flat: true, borderWidth: 2,
          backgroundColor: shown.map(({ row, at }) => (row.isHatched ? charts.ink("--paper") : own[at])), borderColor: shown.map(({ at }) => own[at]),
          intervals: shown.map(({ row }) => charts.interval(row)) },
        { label: "single values", data: small, pointRadius: 2, borderWidth: 0, backgroundColor: small.map(({ y }) => own[y] + "88") },
      ] },
      options: { scales: {
        y: { type: "linear", min: -0.5, max: list.length - 0.5, reverse: true, display: false },
        x: this.below({ type: "logarithmic", min, max, grid: { color: charts.ink("--track"), drawTicks: false },
          afterBuildTicks: charts.ticks(() => this.ticks(min, max, spec.kind === "ratio")) }),
      } },
      plugins: [{ id: "reaches", beforeDatasetsDraw: (chart) => this.reaches(chart, shown, own, spec) }],
    };
  },
  // Powers of ten, or 1, 2 and 5 of them where there are few; of ratios 1 and a factor to either side.
  ticks(min, max, isRatio) {
    if (isRatio) {
      const factor = [1.02, 1.05, 1.1, 1.25, 2, 5, 10, 100, 1000].filter((one) => one <= max ** 0.8).at(-1);
      return factor ? [1 / factor, 1, factor] : [1];
    }
    const all = [];
    for (let power = Math.floor(Math.log10(min)); power <= Math.log10(max); power++) for (const digit of [1, 2, 5]) all.push(digit * 10 ** power);
    const within = all.filter((value) => value >= min && value <= max);
    const tens = within.filter((value) => /^1e/.test(value.toExponential()));
    return within.length > 5 && tens.length > 1 ? tens : within;
  },
  reaches(chart, shown, own, spec) {
    const { ctx, chartArea: area, scales: { x, y } } = chart;
    ctx.save();
    if (spec.kind === "ratio") {
      ctx.strokeStyle = charts.ink("--soft");
      stroke(ctx, x.getPixelForValue(1), area.top, x.getPixelForValue(1), area.bottom);
    }
    for (const { row, at } of shown) {
      if (!Number.isFinite(row.reach)) continue;
      const [from, to, middle] = [x.getPixelForValue(row.value), x.getPixelForValue(row.reach), y.getPixelForValue(at)];
      ctx.strokeStyle = own[at];
      ctx.setLineDash(row.isHatched ? [3, 3] : []);
      ctx.lineWidth = 2.5;
      stroke(ctx, from, middle, to, middle);
      ctx.setLineDash([]);
      stroke(ctx, to, middle - 4, to, middle + 4);
    }
    ctx.restore();
  },
};
