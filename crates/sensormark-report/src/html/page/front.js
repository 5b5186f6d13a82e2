"use strict";
// The first screen: the answer, how sure it is, and three charts with a row for each layout, all in the order of the ranking.

const front = {
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
        this.places[id] = div("rows-of");
        return element("section", { class: "panel", "aria-labelledby": "panel-" + id },
          div("panel-head", element("h2", { id: "panel-" + id }, title), further), this.places[id]);
      };
      this.places.more = div("more");
      parts.push(div("panels", panel("cost", "Cost"), panel("reads", "Latency of reads, ms", this.operations()), panel("price", "Price of a stored reading")), this.places.more);
    }
    parts.push(weights.section(filters), element("details", { class: "trust", id: "trust" }, element("summary", {}, this.data.trust), trust));
    page.onFilter(() => this.draw());
    return parts.filter(Boolean);
  },
  // Which reads are shown.
  operations() {
    const all = this.data.reads;
    if (all.length < 2) return null;
    return choice("reads", { id: "reads", "aria-label": "Reads whose latency is shown" }, all, () => this.draw());
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
    const apart = shown.filter((row) => !ranked.some((one) => one.label === row.label)).map((row) => ({ row, one: null }));
    return [...own, ...apart];
  },
  // Each layout once, by its way of reading that costs least, ranked among these.
  byLayout(whole) {
    const layouts = new Map();
    for (const { row } of whole) if (!layouts.has(row.layout)) layouts.set(row.layout, row.label);
    if (layouts.size === whole.length) return whole;
    const labels = new Set(layouts.values());
    return this.order(weights.ranked(labels)).filter(({ row }) => labels.has(row.label));
  },
  draw() {
    if (!this.data) return;
    const ranked = weights.ranked();
    weights.draw(ranked);
    if (!this.places.cost) return;
    const whole = this.order(ranked);
    const all = this.isAll ? whole : this.byLayout(whole);
    const first = this.isAll ? all : all.slice(0, Math.max(this.most(), 1));
    const hidden = whole.length - first.length;
    const shown = this.named(first, ranked);
    const what = all.length < whole.length ? "ways of reading" : "layouts";
    this.places.more.replaceChildren(...(hidden > 0 ? [button(`Show all ${whole.length} ${what}`, () => { this.isAll = true; this.draw(); })] : []));
    this.places.cost.replaceChildren(this.costs(all, shown));
    this.places.reads.replaceChildren(this.reads(all, shown));
    this.places.price.replaceChildren(div("side-by-side", this.price(all, shown, "cpu_per_reading", "CPU of both sides, µs", "µs"), this.price(all, shown, "disk_per_reading", "disk, bytes", "B")));
  },
  // Puts the name of each ranking above its first row, where there are several.
  named(all, ranked) {
    const several = unique(ranked.map((one) => one.group.id)).length > 1;
    return all.flatMap((it, at) => {
      const isFirst = several && it.one && (at === 0 || all[at - 1].one?.group.id !== it.one.group.id);
      return isFirst ? [{ heading: it.one.group.title, row: { reads: [], price: {} }, one: null }, it] : [it];
    });
  },
  // What all charts say of a row.
  common(shown, at) {
    const { row, one, heading } = shown[at];
    if (heading) return { heading, label: heading };
    const isBehind = /^(did not keep up|this disk flushes)/.test(row.not_ranked || "");
    return { label: row.label, isApart: !one && shown[at - 1]?.one !== null, isHatched: !one && isBehind, isFirst: one?.rank === 1, mark: row.mark, reason: row.reason };
  },
  costs(all, shown) {
    const list = shown.map(({ row, one, heading }, at) => {
      const size = all.filter((it) => one && it.one?.group.id === one.group.id).length;
      const common = { ...this.common(shown, at), rank: heading || (one && size < 2) ? undefined : one?.rank ?? null };
      if (heading) return { ...common, value: null, text: "" };
      if (!one) return { ...common, note: row.not_ranked, value: null, text: "–" };
      const [low, high] = one.interval || [];
      return {
        ...common, value: size > 1 ? one.ratio : null, low, high, text: size > 1 ? (row.rough ? "~" : "") + costs.times(one.ratio) : "–",
        tip: `${weights.cost(one)} times the lowest cost of its ranking`,
      };
    });
    return rows.block(list, { kind: "dot", names: "named", words: "all criteria together, × the lowest of the ranking" });
  },
  // Rows of a figure in this unit, each against the best of those that are ranked; `further` is what else a row has.
  against(all, shown, of, unit, further) {
    const best = Math.min(...all.map(({ row, one }) => (one && of(row)?.value) || Infinity));
    return shown.map(({ row }, at) => {
      const found = of(row);
      const common = this.common(shown, at);
      if (!found) return { ...common, value: null, text: common.heading ? "" : "–", isHatched: false };
      const times = rows.times(found.value, best);
      const interval = found.low == null ? "" : `, 95 % ${rows.figure(found.low)} to ${rows.figure(found.high)}`;
      const text = rows.figure(found.value), tip = `${text} ${unit}${interval}`;
      return { ...common, value: found.value, low: found.low ?? undefined, high: found.high ?? undefined, times, isBest: times === "best", text, tip, ...further(row, found, text, tip) };
    });
  },
  reads(all, shown) {
    const list = this.against(all, shown, (row) => this.readsOf(row), "ms", (row, { p99, points, count }, text, tip) => {
      const tail = p99 === null ? `too few for a p99` : `p99 ${rows.figure(p99)} ms`;
      return { reach: p99 ?? undefined, points, text: (row.rough ? "~" : "") + text, tip: `median ${tip}; ${tail}; ${count} reads` };
    });
    return rows.block(list, { kind: "dot", names: "plain", words: this.readsWords() });
  },
  price(all, shown, id, words, unit) {
    const list = this.against(all, shown, (row) => row.price[id], unit, () => ({}));
    return rows.block(list, { kind: "bar", words, names: "plain" });
  },
};
