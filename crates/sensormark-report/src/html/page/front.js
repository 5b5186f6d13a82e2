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
      parts.push(element("div", { class: "panels" }, panel("cost", "Cost"), panel("reads", "Latency of reads, ms", this.operations()), panel("price", "Price of a stored reading")));
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
    this.show("cost", [this.costs(all, shown)]);
    this.show("reads", [this.reads(all, shown)]);
    const price = element("div", { class: "side-by-side" }, this.price(all, shown, "cpu_per_reading", "CPU of a reading", "CPU of both sides, µs", "µs"), this.price(all, shown, "disk_per_reading", "Disk of a reading", "disk, bytes", "B"));
    this.show("price", [price]);
  },
  // Puts the name of each ranking above its first row, where there are several.
  named(all, ranked) {
    const several = new Set(ranked.map((one) => one.group.id)).size > 1;
    return all.flatMap((it, at) => {
      const isFirst = several && it.one && (at === 0 || all[at - 1].one?.group.id !== it.one.group.id);
      return isFirst ? [{ heading: it.one.group.title, row: { reads: [], price: {} }, one: null }, it] : [it];
    });
  },
  show(id, parts) {
    charts.empty(this.places[id]);
    this.places[id].append(...parts);
    // While a reader moves a slider, nothing is left to be drawn later.
    if (this.places[id].isConnected) this.places[id].querySelectorAll("canvas").forEach((canvas) => charts.show(canvas));
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
    return rows.block(list, { kind: "dot", name: "Cost", unit: "times the lowest", names: "named", words: "all criteria together, × the lowest of the ranking" });
  },
  reads(all, shown) {
    const best = Math.min(...all.map(({ row, one }) => (one && this.readsOf(row)?.value) || Infinity));
    const list = shown.map(({ row }, at) => {
      const took = this.readsOf(row);
      const common = this.common(shown, at);
      if (!took) return { ...common, value: null, text: common.heading ? "" : "–" };
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
      if (!cost) return { ...common, value: null, text: common.heading ? "" : "–", isHatched: false };
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
