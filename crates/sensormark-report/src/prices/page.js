"use strict";
// Money at a reader's size: the formulas of the program's table (prices/table.rs), with sliders. The address holds the choice.

const prices = {
  sliders: [["readings", "readings a second", 0.01, 1e7], ["questions", "questions a second", 0.001, 1e5], ["days", "days kept", 1, 7300]],
  step(smallest, needed) { return smallest * 2 ** Math.max(0, Math.ceil(Math.log2(needed / smallest))); },
  // What was not measured is no number, and nothing comes of it.
  money(offer, load, { disk: [fixed, bytes], ...use }) {
    const hours = 730;
    const of = (name) => use[name] ?? NaN;
    const million = of("load_cpu") / 3.6e3 * offer.cpu_hour + of("wire") / 1e3 * offer.traffic_gb + bytes / 1e3 * load.days * 24 / hours * offer.disk_gb_month;
    const years = offer.rated_tb * 1e12 / (of("written") * load.readings * 365 * 86400);
    const cores = this.step(0.25, 2 * (of("load_cpu") * load.readings + of("question_cpu") * load.questions) / 1e6);
    const memory = this.step(0.5, of("memory") / 1e3);
    const disk = (fixed + bytes * load.readings * load.days * 86400) / 1e9;
    const month = cores * hours * offer.cpu_hour + memory * offer.memory_gb_month + disk * offer.disk_gb_month + of("wire") * load.readings * hours * 3600 / 1e9 * offer.traffic_gb;
    return [month, million, of("question_cpu") / 3.6e6 * offer.cpu_hour, years, cores, memory, disk];
  },
  section({ offers, uses, load: own }) {
    const load = Object.fromEntries(this.sliders.map(([id]) => [id, Number(address.get("price." + id)) || own[id]]));
    const place = div(), words = note();
    const draw = () => {
      const offer = offers[offered.value], money = offer.currency;
      const shown = (_, at) => at !== 5 || offer.rated_tb;
      const columns = ["implementation", "meets", `a month [${money}]`, `a million readings [${money}]`, `a thousand questions [${money}]`, "card lives [years]", "cores", "memory [GB]", "disk [GB]"];
      const rows = uses.filter((of) => !page.isHidden(of.label)).map((of) => [of.label, of.mark, ...this.money(offer, load, { ...of, disk: of.disk ?? [NaN, NaN] })]);
      rows.sort(([, , a], [, , b]) => (a || Infinity) - (b || Infinity));
      place.replaceChildren(tables.draw(tables.made("Money", columns.filter(shown), rows.map((row) => row.filter(shown))), []));
      words.textContent = `${short(load.readings * load.days * 86400 / 1e6)} million readings are kept.`;
    };
    const offered = choice("price.offer", { id: "price-offer" }, offers.map((offer) => `${offer.name}, ${offer.date}`), draw);
    const sliders = this.sliders.map(([id, title, low, high]) => {
      const made = slider("price-" + id, title, { min: 0, max: 1, step: 0.002 }, Math.log(load[id] / low) / Math.log(high / low), (value) => {
        load[id] = Number((low * (high / low) ** value).toPrecision(2));
        address.set("price." + id, load[id]);
        made.say(short(load[id]));
        draw();
      });
      made.say(short(load[id]));
      return made.part;
    });
    page.onFilter(draw);
    draw();
    return [div("tools", element("label", { for: "price-offer" }, "Prices", offered)), div("weights price", sliders), words, place];
  },
};
