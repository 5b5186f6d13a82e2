"use strict";
// A study's figures: tables of points that the program made, drawn as it says, with the published ones told apart from ours. Nothing is
// computed here: a point of a chart is a row of the table under it.

const figures = {
  isPublished(row) { return row[1].text !== "here"; },
  // A figure's place in the page: the chart, its numbers as a table and as CSV, and what to know of it.
  block(table) {
    const place = div();
    const draw = () => {
      charts.empty(place);
      const rows = table.rows.filter((row) => !page.isHidden(row[0].text));
      if (!rows.length) { place.append(note("All of it is hidden.")); return; }
      const label = `${table.title}: ${charts.columnTitle(table, table.columns.length - 1)}; the numbers are in the table below`;
      const [configure, pixels] = table.drawing.shape === "bars" ? this.bars(table, rows) : this.lines(table, rows);
      charts.add(place, label, configure, pixels);
    };
    page.onFilter(draw);
    draw();
    return div("figure", tables.title(table), place, table.notes.map(note), tables.numbers(table));
  },
  // Figures that follow one another stand side by side where there is room.
  blocks(blocks, other) {
    const parts = [];
    for (const block of blocks) {
      if (!block.drawing) { parts.push(other(block)); continue; }
      if (block.drawing.shape === "forest") { parts.push(forest.block(block)); continue; }
      const last = parts.at(-1);
      const pair = last?.classList.contains("figures") ? last : div("pair figures");
      if (pair !== last) parts.push(pair);
      pair.append(this.block(block));
    }
    return parts;
  },
  // A bar for each row, below one another; ours are full and published ones hatched.
  bars(table, rows) {
    const value = table.columns.length - 1;
    const name = (row) => row.filter((_, place) => place !== 1 && place < value).map((cell) => cell.text).join(", ");
    const names = unique(rows.map(name));
    const sources = unique(rows.map((row) => row[1].text));
    const sets = sources.map((source) => {
      const own = new Map(rows.filter((row) => row[1].text === source).map((row) => [name(row), row[value]]));
      return { source, data: names.map((one) => own.get(one)?.value ?? null), intervals: names.map((one) => charts.interval(own.get(one) ?? {})) };
    });
    const configure = () => ({
      type: "bar",
      data: {
        labels: names,
        datasets: sets.map(({ source, data, intervals }, place) => ({
          label: source, data, intervals, borderWidth: 1, borderColor: names.map((one) => colours.of(one)), skipNull: true, maxBarThickness: 22,
          backgroundColor: names.map((one) => (source === "here" ? colours.of(one) : this.hatched(colours.of(one), place))),
        })),
      },
      options: {
        indexAxis: "y",
        plugins: { legend: { position: "bottom", labels: { boxWidth: 24, generateLabels: (chart) => this.legend(chart, sets) } } },
        scales: {
          x: charts.axis(charts.columnTitle(table, value), { beginAtZero: true }),
          y: { ticks: { autoSkip: false, callback: (at) => this.fitted(names[at]) } },
        },
      },
    });
    const lines = Math.max(...names.map((one) => this.fitted(one).length));
    return [configure, 110 + names.length * Math.max(10 + 13 * lines, 14 * sets.length)];
  },
  // Full and hatched, in no database's colour.
  legend(chart, sets) {
    const ink = charts.ink("--soft");
    return sets.map(({ source }, place) => ({
      text: source, datasetIndex: place, hidden: !chart.isDatasetVisible(place), fontColor: ink, strokeStyle: ink, lineWidth: 1,
      fillStyle: source === "here" ? ink : this.hatched(ink, place),
    }));
  },
  // A line for each implementation; published ones are dashed, with hollow points, in the colour of the first of the same database and variant.
  lines(table, rows) {
    const [x, y] = [table.keys - 1, table.columns.length - 1];
    const series = Object.groupBy(rows, (row) => (this.isPublished(row) ? `${row[0].text} (${row[1].text})` : row[0].text));
    const all = Object.entries(series).map(([name, own]) => {
      const [{ text }, { text: of }] = own[0];
      return {
        name, of, database: text.split(/[ ,]/)[0], variant: text.split(", ")[1], published: this.isPublished(own[0]),
        points: own.map((row) => [row[x].value, row[y].value]), intervals: own.map((row) => charts.interval(row[y])),
      };
    });
    const sources = unique(rows.filter(this.isPublished).map((row) => row[1].text));
    const ours = all.filter((one) => !one.published);
    all.forEach((one) => {
      one.source = sources.indexOf(one.of);
      one.twin = ours.findIndex((other) => (one.published ? other.database === one.database && other.variant === one.variant : other === one));
    });
    const isEven = !table.drawing.logarithmic;
    // A factor's steps are named at 1, 2 and 5, where there is room for no more.
    const named = { callback: (value) => (/^[125]/.test(Number(value).toExponential()) ? short(Number(value)) : "") };
    const scale = isEven ? {} : { type: "logarithmic", beginAtZero: false };
    const counts = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
    const large = { ticks: { callback: (value) => (value >= 1e4 ? counts.format(value) : short(Number(value))) } };
    const ticks = this.apart(unique(rows.map((row) => row[x].value)).sort((a, b) => a - b), isEven);
    const atPoints = ticks.length <= 8 ? { afterBuildTicks: charts.ticks(() => ticks) } : {};
    const scales = { x: { ...scale, ...atPoints, ...large }, y: isEven ? {} : { ...scale, ticks: named } };
    const configure = () => {
      const looks = colours.lines(ours.map((one) => one.name));
      const own = all.map((one) => looks[one.twin] ?? { colour: colours.of(one.name), dash: [], point: "circle" });
      const made = charts.lines(all, charts.columnTitle(table, x), charts.columnTitle(table, y), scales, own);
      made.data.datasets.forEach((set, place) => {
        set.pointRadius = set.pointRadius && 4;
        if (all[place].published) {
          Object.assign(set, { borderDash: [3, 3], pointStyle: this.hollow[all[place].source % 4], pointRadius: 7, pointBorderWidth: 2, backgroundColor: "transparent" });
        }
      });
      made.options.plugins.legend.labels = { usePointStyle: true, boxWidth: 8, boxHeight: 8 };
      return made;
    };
    return [configure, 290 + 14 * all.length];
  },
  // Shapes of published points by where they are from.
  hollow: ["rectRot", "triangle", "rect", "circle"],
  // Those of ascending values that have room beside each other on an axis.
  apart(values, isEven) {
    const at = isEven ? (value) => value : Math.log;
    const room = (at(values.at(-1)) - at(values[0])) * 0.09;
    const kept = [];
    for (const value of values) if (!kept.length || at(value) - at(kept.at(-1)) >= room) kept.push(value);
    return kept;
  },
  // A name in lines that leave room for bars.
  fitted(name) {
    const most = innerWidth < 640 ? 19 : 34;
    const lines = [];
    for (const word of name.split(" ")) {
      const last = lines.at(-1);
      if (last?.length + word.length < most) lines.splice(-1, 1, `${last} ${word}`);
      else lines.push(word);
    }
    return lines;
  },
  // Stripes of a colour, in another direction for each place.
  hatched(colour, place) {
    const size = 7;
    const tile = element("canvas", { width: size, height: size });
    const pen = tile.getContext("2d");
    pen.strokeStyle = colour;
    pen.lineWidth = 1.5;
    const lines = place % 2 ? [[0, size, size, 0], [-1, 1, 1, -1], [size - 1, size + 1, size + 1, size - 1]]
      : [[0, 0, size, size], [-1, size - 1, 1, size + 1], [size - 1, -1, size + 1, 1]];
    lines.forEach((line) => stroke(pen, ...line));
    return pen.createPattern(tile, "repeat");
  },
};
