"use strict";
// A forest: the ratio of each figure of two runs with its interval, around 1.

const forest = {
  block(table) {
    const parts = () => {
      const drawn = rows.block(table.rows.map((row) => this.row(table, row)), { kind: "ratio", names: "named wide-names" });
      return [drawn, note("Second run over first, on an axis of equal factors. The line through a point is its 95 % interval; the upright line is 1: no change."),
        tables.numbers(table)];
    };
    return table.detail ? tables.later(table.title, parts) : div("forest", tables.title(table), parts());
  },
  row(table, row) {
    const ratio = row[table.keys];
    const said = row.at(-1).text;
    const isChanged = said === "better" || said === "worse";
    return {
      label: tables.name(row, table.keys), value: ratio.value, low: ratio.low, high: ratio.high,
      text: rows.figure(ratio.value), aside: [ratio.text.replace(/^\S+ ?/, ""), isChanged ? "" : said.replace(/^no change found; /, "")].filter(Boolean).join(" "), said: isChanged ? said : null, tip: `${ratio.text}: ${said}`,
    };
  },
};
