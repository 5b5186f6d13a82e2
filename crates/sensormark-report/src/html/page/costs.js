"use strict";
// Costs by a reader's own weights: the same formula, tests and ranks as the program's (cost/ and statistics/ there).

const costs = {
  // The weighted mean of logarithms.
  log(values, weights) {
    let [sum, all] = [0, 0];
    values.forEach((value, at) => { sum += weights[at] * Math.log(value); all += weights[at]; });
    return sum / all;
  },
  // Who meets what has to hold stands before who does not, whatever it costs.
  standings: ["meets", "meets_decided", "undecided", "misses"],
  place(one) { return this.standings.indexOf(one.meets); },
  // Everybody's ratio and rank by these weights, ranking by ranking, each in order.
  rank(ranking, contestants, weights) {
    const groups = Object.values(Object.groupBy(contestants, (one) => one.group.id));
    return groups.flatMap((own) => this.among(ranking, own, weights));
  },
  among(ranking, contestants, weights) {
    const ranked = contestants.map(({ label, group, meets, values, blocks }) => ({
      label, group, meets, log: this.log(values, weights), blocks: blocks.map((block) => block && Math.exp(this.log(block, weights))),
    }));
    const least = ranked.reduce((best, one) => (one.log < best.log ? one : best));
    for (const one of ranked) {
      one.ratio = Math.exp(one.log - least.log);
      const pairs = one.ratio > 1 ? statistics.compare(one.blocks, least.blocks, ranking.smallest_repetitions) : null;
      one.interval = pairs && [one.ratio * Math.exp(-pairs.half), one.ratio * Math.exp(pairs.half)];
    }
    ranked.sort((a, b) => this.place(a) - this.place(b) || a.log - b.log);
    this.ranks(ranking, ranked);
    return ranked;
  },
  // 1 + how many rows above cost less, and never lower than the rank above.
  ranks(ranking, ranked) {
    const costsLess = this.tested(ranking, ranked) || ((above, below) => ranked[below].ratio >= ranked[above].ratio * ranking.about_the_same);
    let last = 1;
    ranked.forEach((one, row) => {
      const better = ranked.slice(0, row).filter((other, above) => other.meets !== one.meets || costsLess(above, row));
      last = Math.max(last, 1 + better.length);
      one.rank = last;
    });
  },
  // Who costs significantly less than whom, paired by repetition, Holm-corrected; nothing without enough repetitions.
  tested(ranking, ranked) {
    const count = (one) => one.blocks.filter((block) => block !== null).length;
    if (!ranked.some((one) => count(one) >= ranking.smallest_repetitions)) return null;
    const pairs = ranked.flatMap((one, a) => ranked.slice(a + 1).flatMap((other, at) => {
      const found = statistics.compare(one.blocks, other.blocks, ranking.smallest_repetitions);
      return found ? [{ a, b: a + 1 + at, ...found }] : [];
    }));
    statistics.holm(pairs);
    return (above, below) => pairs.some((pair) => pair.a === above && pair.b === below && pair.p < ranking.significance && pair.log < 0);
  },
  // How many times the lowest, in two digits.
  times(ratio) { return Number.isFinite(ratio) ? `${ratio.toLocaleString("en", { minimumSignificantDigits: 2, maximumSignificantDigits: 2 })}×` : "–"; },
};

const statistics = {
  // Student's paired test on log ratios over the blocks that both have.
  compare(first, second, smallest) {
    const logs = [];
    let scale = 1;
    first.forEach((value, block) => {
      if (value === null || second[block] == null) return;
      const [a, b] = [Math.log(value), Math.log(second[block])];
      scale = Math.max(scale, Math.abs(a), Math.abs(b));
      logs.push(a - b);
    });
    if (logs.length < smallest) return null;
    const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
    const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1);
    const error = Math.sqrt(variance / logs.length);
    const rounding = 4 * Number.EPSILON * scale;
    let p = 0;
    if (error > rounding) p = this.twoSided(mean / error, logs.length - 1);
    else if (Math.abs(mean) <= rounding) p = 1;
    return { log: mean, p, half: this.quantile(logs.length - 1) * error };
  },
  // Holm's correction, in place.
  holm(pairs) {
    const order = [...pairs].sort((a, b) => a.p - b.p);
    let largest = 0;
    order.forEach((pair, place) => {
      largest = Math.max(largest, Math.min(1, pair.p * (order.length - place)));
      pair.p = largest;
    });
  },
  // The t that |T| exceeds in 5 % of cases, by halving.
  quantile(degrees) {
    let [low, high] = [0, 1e4];
    for (let step = 0; step < 100; step++) {
      const middle = (low + high) / 2;
      if (this.twoSided(middle, degrees) > 0.05) low = middle;
      else high = middle;
    }
    return high;
  },
  // P(|T| >= |t|) for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4).
  twoSided(t, degrees) {
    const angle = Math.atan(Math.abs(t) / Math.sqrt(degrees));
    const cosine = Math.cos(angle);
    const isOdd = degrees % 2;
    let [sum, term] = [0, isOdd ? cosine : 1];
    for (let power = isOdd; power <= degrees - 2; power += 2) {
      sum += term;
      term *= cosine ** 2 * (power + 1) / (power + 2);
    }
    const inside = Math.sin(angle) * sum;
    return 1 - (isOdd ? (angle + inside) * 2 / Math.PI : inside);
  },
};
