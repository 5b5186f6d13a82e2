"use strict";
// A colour for each database, the same on every chart; layouts of one database differ in dashes and points. The colours themselves are in page.css.

const colours = {
  known: ["SQLite", "PostgreSQL", "MariaDB", "MongoDB", "Cassandra", "InfluxDB", "GridDB", "DuckDB", "QuestDB"],
  places: new Map(),
  dashes: [[], [6, 3], [2, 3], [8, 3, 2, 3]],
  points: ["circle", "triangle", "rect", "rectRot", "star"],
  // Databases that nobody knows take what is left over.
  start(implementations) {
    this.places = new Map();
    const stores = unique(implementations.map((one) => one.store.replace(/ #\d+$/, "")));
    const free = [9, ...this.known.keys()].filter((place) => !stores.includes(this.known[place]));
    for (const store of stores) {
      const place = this.known.indexOf(store);
      this.places.set(store, place >= 0 ? place : free.shift() ?? 9);
    }
  },
  // The database that a name is about: the longest title that it begins with.
  storeOf(name) {
    const found = [...this.places.keys(), ...this.known].filter((store) => name.startsWith(store));
    return found.reduce((best, one) => (one.length > best.length ? one : best), "");
  },
  variable(name) {
    const store = this.storeOf(name);
    return `--db-${this.places.get(store) ?? (store ? this.known.indexOf(store) : 9)}`;
  },
  of(name) { return charts.ink(this.variable(name)); },
  // Colour, dash and point of each of these names: those of one database differ in dash and point.
  lines(names) {
    const count = new Map();
    return names.map((name) => {
      const store = this.storeOf(name);
      const at = count.get(store) ?? 0;
      count.set(store, at + 1);
      return { colour: this.of(name), dash: this.dashes[at % 4], point: this.points[at % 5] };
    });
  },
  // The same of what belongs to one implementation, its processes or operations: the database's process has its colour, the others have none.
  within(name, parts) {
    const own = Math.max(0, parts.findIndex((part) => part === "server" || part === "trial"));
    const others = [charts.ink("--soft"), charts.ink("--ink")];
    return parts.map((_, place) => {
      const at = place === own ? 0 : place + (place < own);
      return { colour: at ? others[at % 2] : this.of(name), dash: this.dashes[Math.ceil(at / 2) % 4], point: this.points[at % 5] };
    });
  },
};
