"use strict";
// Money at a reader's size: the formulas of the program's table (prices/table.rs), with sliders. The address holds the choice.

const prices = {
  sliders: [["readings", "readings a second", 0.01, 1e7], ["questions", "questions a second", 0.001, 1e5], ["days", "days kept", 1, 7300]],
  step(smallest, needed) { return smallest * 2 ** Math.max(0, Math.ceil(Math.log2(needed / smallest))); },
  money(offer, load, of) {
    const [hours, seconds] = [730, 730 * 3600];
    const [fixed, bytes] = of.disk || [null, null];
    const known = (...values) => values.every((value) => value !== null);
    const thousand = known(of.question_cpu) ? of.question_cpu / 3.6e6 * offer.cpu_hour : null;
    const million = known(of.load_cpu, of.wire, bytes) ? of.load_cpu / 3.6e3 * offer.cpu_hour + of.wire / 1e3 * offer.traffic_gb + bytes / 1e3 * load.days * 24 / hours * offer.disk_gb_month : null;
    const years = known(of.written) && offer.rated_tb ? offer.rated_tb * 1e12 / (of.written * load.readings * 365 * 86400) : null;
    if (!known(of.load_cpu, of.question_cpu, bytes, of.memory)) return [null, million, thousand, years, null, null, null];
    const cores = this.step(0.25, 2 * (of.load_cpu * load.readings + of.question_cpu * load.questions) / 1e6);
    const memory = this.step(0.5, of.memory / 1e3);
    const disk = (fixed + bytes * load.readings * load.days * 86400) / 1e9;
    const month = known(of.wire) ? cores * hours * offer.cpu_hour + memory * offer.memory_gb_month + disk * offer.disk_gb_month + of.wire * load.readings * seconds / 1e9 * offer.traffic_gb : null;
    return [month, million, thousand, years, cores, memory, disk];
  },
  section({ offers, uses, load: own }) {
    const load = Object.fromEntries(this.sliders.map(([id]) => [id, Number(address.get("price." + id)) || own[id]]));
    const head = element("tr"), body = element("tbody"), words = note();
    const select = element("select", { id: "price-offer" }, offers.map((offer, at) => element("option", { value: at }, `${offer.name}, ${offer.date}`)));
    select.value = String(Math.min(Number(address.get("price.offer")) || 0, offers.length - 1));
    const draw = () => {
      const offer = offers[select.value], named = offer.currency;
      const columns = [`a month [${named}]`, `a million readings [${named}]`, `a thousand questions [${named}]`, "card lives [years]", "cores", "memory [GB]", "disk [GB]"];
      const shown = (_, at) => at !== 3 || offer.rated_tb;
      head.replaceChildren(...["implementation", "meets"].map((name) => element("th", {}, name)), ...columns.filter(shown).map((name) => element("th", { class: "number" }, name)));
      const rows = uses.filter((of) => !page.isHidden(of.label)).map((of) => [of, this.money(offer, load, of)]).sort(([, a], [, b]) => (a[0] ?? Infinity) - (b[0] ?? Infinity));
      body.replaceChildren(...rows.map(([of, found]) => element("tr", {}, element("th", { scope: "row" }, of.label), element("td", {}, of.mark), found.filter(shown).map((value) => element("td", { class: "number" }, short(value))))));
      words.textContent = `${short(load.readings * load.days * 86400 / 1e6)} million readings are kept.`;
    };
    const slider = ([id, title, low, high]) => {
      const name = "price-" + id, place = (value) => Math.log(value / low) / Math.log(high / low);
      const shown = element("output", { for: name }, short(load[id]));
      const input = element("input", { type: "range", id: name, min: 0, max: 1, step: 0.002, value: place(load[id]) });
      input.addEventListener("input", () => {
        load[id] = Number((low * (high / low) ** Number(input.value)).toPrecision(2));
        address.set("price." + id, load[id]);
        shown.textContent = short(load[id]);
        draw();
      });
      return div("weight", element("label", { for: name }, title), input, shown);
    };
    select.addEventListener("change", () => { address.set("price.offer", select.value === "0" ? null : select.value); draw(); });
    page.onFilter(draw);
    draw();
    return [div("tools", element("label", { for: "price-offer" }, "Prices", select)), div("weights price", this.sliders.map(slider)), words,
      tables.scroll("Money", element("table", {}, element("thead", {}, head), body))];
  },
};
