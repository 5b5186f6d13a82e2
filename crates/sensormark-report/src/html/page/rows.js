"use strict";
// Rows of one height: a name, a bar or a point on a shared axis, and its value in figures. The first screen's charts and forests are made of them.

const rows = {
  // A block of these rows: { label, note, mark, reason, rank, value, low, high, reach, points, text, aside, said, times, tip, isBest, isApart, isHatched }.
  // What it draws: { kind: "bar", "dot" or "ratio", words, names: "named", "plain" or "named wide-names" }.
  block(list, { kind, words, names }) {
    const [at, ticks] = kind === "bar" ? this.even(list) : this.factors(list, kind === "ratio");
    const axis = ticks.map((value) => element("span", { class: kind === "ratio" && value === 1 ? "tick one" : "tick", style: `left: ${at(value)}%` }, element("small", {}, short(value))));
    return div(null, words ? element("p", { class: "sub", title: words }, words) : null, div(`rows ${names}`,
      element("div", { class: "names", "aria-hidden": names === "plain" ? "true" : null }, list.map((row) => this.name(row))),
      element("div", { class: "plot", "aria-hidden": "true" }, axis, list.map((row) => this.drawn(row, kind, at))),
      div("values", list.map((row) => this.value(row)))));
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
  // A bar or a point with its interval; a reach goes on to a higher percentile, and small points are single values.
  drawn({ label, tip, value, low, high, reach, points, isHatched }, kind, at) {
    const known = Number.isFinite;
    const span = (name, from, to) => element("span", { class: name, "data-of": [from, to], style: `left: ${at(from)}%` + (to === undefined ? "" : `; width: ${at(to) - at(from)}%`) });
    const own = kind !== "bar" ? known(value) && span("dot", value) : (known(value) || isHatched) && span("strip", 0, value ?? Infinity);
    const parts = [...(points || []).map((one) => span("single", one)), known(reach) && span("reach", value, reach), own, known(low) && span("whisker", low, high)];
    return element("div", { class: isHatched ? "hatched" : null, title: tip, style: `--own: var(${colours.variable(label)})` }, parts.filter(Boolean));
  },
  // How many times the best it is.
  times(value, best) {
    if (!Number.isFinite(value) || !(best > 0)) return "";
    const ratio = value / best;
    if (ratio <= 1) return "best";
    return `${ratio >= 9.95 ? Math.round(ratio) : ratio.toFixed(ratio < 1.095 ? 2 : 1)}×`;
  },
  figure(value) { return Number.isFinite(value) ? value.toLocaleString("en", { minimumSignificantDigits: 3, maximumSignificantDigits: 3 }) : "–"; },
  // Where a value stands on an axis from 0, in percent of it; and the axis' ticks.
  even(list) {
    const max = Math.max(...this.ends(list), 1e-9) * 1.02;
    return [(value) => Math.min(Math.max(value, 0) / max, 1) * 100, []];
  },
  // The same of an axis of equal factors; of ratios 1 is in its middle.
  factors(list, isRatio) {
    const ends = this.ends(list).filter((value) => value > 0);
    let [min, max] = ends.length ? [Math.min(...ends) / 1.25, Math.max(...ends) * 1.25] : [1, 10];
    if (isRatio) { max = Math.max(max, 1 / min, 1.1); min = 1 / max; }
    return [(value) => Math.log(Math.max(value, min) / min) / Math.log(max / min) * 100, this.ticks(min, max, isRatio)];
  },
  ends(list) { return list.flatMap((row) => [row.value, row.low, row.high, row.reach, ...row.points || []]).filter(Number.isFinite); },
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
};
