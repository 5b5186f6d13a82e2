"use strict";
// The first screen: the answer, how sure it is, and three charts with a row for each layout, all in the order of the ranking.

const front = {
  data: null,
  places: {},
  isAll: false,
  // Rows that are shown before a reader asks for all.
  most() { return innerWidth <= 640 ? 8 : 14; },
  start(data) {
    this.data = data;
    this.places = {};
    this.isAll = false;
  },
  head() {
    const { title, badge, how_sure: sure, context, further } = this.data;
    const why = (sure || "").replace(/^(~ )?(firm|rough): /, "");
    return [
      element("h1", { id: "at-chapter-answer" }, title),
      element("p", { class: "sure" }, element("span", { class: "badge " + badge.replace(" ", "-") }, badge), why),
      element("p", { id: "subtitle", class: "context" }, context.join(" · ")),
      ...further.map((sentence) => element("p", { class: "note further" }, sentence)),
    ];
  },
  // The charts, what a reader may weigh, and what may be trusted.
  section(filters, trust) {
    const parts = this.head();
    if (this.data.rows.length) {
      const panel = (id, title, further) => {
        this.places[id] = element("div", { class: "rows-of" });
        return element("section", { class: "panel", "aria-labelledby": "panel-" + id },
          element("div", { class: "panel-head" }, element("h2", { id: "panel-" + id }, title), further), this.places[id]);
      };
      parts.push(element("div", { class: "panels" }, panel("score", "Cost score"), panel("reads", "Latency of reads, ms", this.operations()), panel("price", "Price of a stored reading")));
      this.places.more = element("div", { class: "more" });
      parts.push(this.places.more);
    }
    parts.push(weights.section(filters));
    parts.push(element("details", { class: "trust", id: "trust" }, element("summary", {}, this.data.trust), trust));
    page.onFilter(() => this.draw());
    return parts.filter(Boolean);
  },
  // Which reads are shown.
  operations() {
    const all = this.data.reads;
    if (all.length < 2) return null;
    const choice = element("select", { id: "reads", "aria-label": "Reads whose latency is shown" }, all.map((name, at) => element("option", { value: at }, name)));
    const known = all.indexOf(address.get("reads"));
    if (known >= 0) choice.value = known;
    choice.addEventListener("change", () => {
      address.set("reads", choice.value === "0" ? null : all[choice.value]);
      this.draw();
    });
    return choice;
  },
  readsWords() {
    const isAll = this.data.reads.length > 1 && !this.data.reads.slice(1).includes(address.get("reads"));
    return isAll ? "dot: mean of medians; line: to p99, or each kind" : "dot: median; line: to p99, or single reads";
  },
  readsOf(row) { return row.reads[Math.max(0, this.data.reads.indexOf(address.get("reads")))] ?? null; },
  // Rows in the order of the ranking, then those that are not ranked.
  order(ranked) {
    const shown = this.data.rows.filter((row) => !page.isHidden(row.label));
    const own = ranked.map((one) => ({ row: shown.find((row) => row.label === one.label), one })).filter(({ row }) => row);
    if (weights.isByReads()) {
      const took = ({ row }) => this.readsOf(row)?.value ?? Infinity;
      own.sort((a, b) => score.place(a.one) - score.place(b.one) || took(a) - took(b));
    }
    const apart = shown.filter((row) => !ranked.some((one) => one.label === row.label)).map((row) => ({ row, one: null }));
    return [...own, ...apart];
  },
  draw() {
    if (!this.data) return;
    const ranked = weights.ranked();
    weights.draw(ranked);
    if (!this.places.score) return;
    const all = this.order(ranked);
    const shown = this.isAll ? all : all.slice(0, Math.max(this.most(), 1));
    const hidden = all.length - shown.length;
    this.places.more.replaceChildren(...(hidden > 0 ? [button(`Show all ${all.length} layouts`, () => { this.isAll = true; this.draw(); })] : []));
    this.show("score", [this.scores(all, shown)]);
    this.show("reads", [this.reads(all, shown)]);
    const price = element("div", { class: "side-by-side" }, this.price(all, shown, "cpu_per_reading", "CPU of a reading", "CPU of both sides, µs", "µs"), this.price(all, shown, "disk_per_reading", "Disk of a reading", "disk, bytes", "B"));
    this.show("price", [price]);
  },
  show(id, parts) {
    charts.empty(this.places[id]);
    this.places[id].append(...parts);
    // While a reader moves a slider, nothing is left to be drawn later.
    if (this.places[id].isConnected) this.places[id].querySelectorAll("canvas").forEach((canvas) => charts.show(canvas));
  },
  // What all charts say of a row.
  common(shown, at) {
    const { row, one } = shown[at];
    const isBehind = (row.not_ranked || "").startsWith("did not keep up");
    return { label: row.label, isApart: !one && (at === 0 || shown[at - 1].one !== null), isHatched: !one && isBehind, isFirst: one?.rank === 1, mark: row.mark, reason: row.reason };
  },
  scores(all, shown) {
    // Who misses a requirement is nobody's measure, unless all do.
    const misses = ({ row }) => row.mark === "✗" && all.some((other) => other.one && other.row.mark !== "✗");
    const best = Math.min(...all.map((it) => (it.one && Number.isFinite(it.one.total) && !misses(it) ? 100 - it.one.total : Infinity)));
    const several = all.filter(({ one }) => one).length > 1;
    const list = shown.map(({ row, one }, at) => {
      const common = { ...this.common(shown, at), rank: several ? one?.rank ?? null : undefined };
      if (!one) return { ...common, note: row.not_ranked, value: null, text: "–" };
      const half = one.half;
      const times = several ? (misses({ row }) ? "–" : rows.times(100 - one.total, best)) : "";
      return {
        ...common, value: several ? one.total : null, low: half === null ? undefined : one.total - half, high: half === null ? undefined : one.total + half,
        text: several && Number.isFinite(one.total) ? (row.rough ? "~" : "") + one.total.toFixed(1) : "–", aside: several && half !== null ? `±${half.toFixed(1)}` : "", times, isBest: times === "best",
        tip: `score ${weights.points(one)}` + (times && times !== "–" ? `: costs ${times === "best" ? "least" : `${times} the best`}` : ""),
      };
    });
    return rows.block(list, { kind: "bar", name: "Cost score", unit: "of 100", max: 100, names: "named", words: "100 = costs nothing; × = times the best's cost" });
  },
  reads(all, shown) {
    const best = Math.min(...all.map(({ row, one }) => (one && this.readsOf(row)?.value) || Infinity));
    const list = shown.map(({ row }, at) => {
      const took = this.readsOf(row);
      const common = this.common(shown, at);
      if (!took) return { ...common, value: null, text: "–" };
      const times = rows.times(took.value, best);
      const interval = took.low === null ? "" : `, 95 % ${rows.figure(took.low)} to ${rows.figure(took.high)}`;
      const tail = took.p99 === null ? `too few for a p99` : `p99 ${rows.figure(took.p99)} ms`;
      return {
        ...common, value: took.value, low: took.low ?? undefined, high: took.high ?? undefined, reach: took.p99 ?? undefined, points: took.points,
        text: (row.rough ? "~" : "") + rows.figure(took.value), times, isBest: times === "best", tip: `median ${rows.figure(took.value)} ms${interval}; ${tail}; ${took.count} reads`,
      };
    });
    return rows.block(list, { kind: "dot", name: "Latency of reads", unit: "ms", names: "plain", words: this.readsWords() });
  },
  price(all, shown, id, name, words, unit) {
    const best = Math.min(...all.map(({ row, one }) => (one && row.price[id]?.value) || Infinity));
    const list = shown.map(({ row }, at) => {
      const cost = row.price[id];
      const common = this.common(shown, at);
      if (!cost) return { ...common, value: null, text: "–", isHatched: false };
      const times = rows.times(cost.value, best);
      const interval = cost.low === null ? "" : `, 95 % ${rows.figure(cost.low)} to ${rows.figure(cost.high)}`;
      return {
        ...common, value: cost.value, low: cost.low ?? undefined, high: cost.high ?? undefined,
        text: rows.figure(cost.value), times, isBest: times === "best", tip: `${rows.figure(cost.value)} ${unit}${interval}`,
      };
    });
    return rows.block(list, { kind: "bar", name, unit, words, names: "plain" });
  },
};
