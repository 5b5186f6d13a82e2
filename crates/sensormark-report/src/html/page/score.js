"use strict";
// The study's score by a reader's own weights: the same formula, tests and ranks as the program's (score/ and statistics/ there).

const score = {
  // The largest cost of each column over these contestants.
  maxima(phases, contestants) {
    return phases.map((phase, p) => phase.columns.map((_, c) =>
      contestants.reduce((most, one) => Math.max(most, one.costs[p][c]), 0)));
  },
  // (1 - sum(share x weight) / sum of weights) x 100 for each phase of these costs.
  phases(phases, weights, maxima, costs) {
    return phases.map((phase, p) => {
      let cost = 0, sum = 0;
      phase.columns.forEach((column, c) => {
        const share = column.in_sum && maxima[p][c] > 0 ? costs[p][c] / maxima[p][c] : 0;
        cost += share * weights[p][c];
        sum += weights[p][c];
      });
      return sum > 0 ? (1 - cost / sum) * 100 : NaN;
    });
  },
  // Half the 95 % interval of the mean over repetitions; nothing where there are too few.
  half(blocks, smallest) {
    const values = blocks.filter((block) => block !== null && Number.isFinite(block));
    if (values.length < smallest) return null;
    const mean = this.mean(values);
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
    return statistics.quantile(values.length - 1) * Math.sqrt(variance / values.length);
  },
  mean(values) { return values.reduce((sum, value) => sum + value, 0) / values.length; },
  // Who meets what has to hold stands before who does not, whatever it costs.
  standings: ["meets", "meets_decided", "undecided", "misses"],
  place(one) { return this.standings.indexOf(one.meets); },
  // Everybody's scores and ranks by these weights, in order. Phases without any weight do not count.
  rank(ranking, contestants, weights) {
    const maxima = this.maxima(ranking.phases, contestants);
    const total = (costs) => {
      const scores = this.phases(ranking.phases, weights, maxima, costs);
      const counted = scores.filter(Number.isFinite);
      return { scores, total: counted.length ? this.mean(counted) : NaN };
    };
    const ranked = contestants.map((one) => ({
      label: one.label, meets: one.meets, ...total(one.costs),
      blocks: one.blocks.map((costs) => (costs ? total(costs).total : null)),
    }));
    for (const one of ranked) one.half = this.half(one.blocks, ranking.smallest_repetitions);
    ranked.sort((a, b) => this.place(a) - this.place(b) || b.total - a.total);
    this.ranks(ranking, ranked);
    return ranked;
  },
  // 1 + how many rows above are better, and never lower than the rank above.
  ranks(ranking, ranked) {
    const isBetter = this.tested(ranking, ranked) || ((above, below) => ranked[above].total > ranked[below].total + 1e-9);
    let last = 1;
    ranked.forEach((one, row) => {
      const better = ranked.slice(0, row).filter((other, above) => other.meets !== one.meets || isBetter(above, row));
      last = Math.max(last, 1 + better.length);
      one.rank = last;
    });
  },
  // Who is significantly better than whom, paired by repetition, Holm-corrected; nothing without enough repetitions.
  tested(ranking, ranked) {
    const count = (one) => one.blocks.filter((block) => block !== null).length;
    const costs = ranked.map((one) => one.blocks.map((block) => (block === null ? null : 100 - block)));
    const testable = costs.every((blocks) => blocks.every((cost) => cost === null || (Number.isFinite(cost) && cost > 0)));
    if (!ranked.some((one) => count(one) >= ranking.smallest_repetitions) || !testable) return null;
    const pairs = [];
    for (let a = 0; a < ranked.length; a++) {
      for (let b = a + 1; b < ranked.length; b++) {
        const found = statistics.compare(costs[a], costs[b], ranking.smallest_repetitions);
        if (found) pairs.push({ a, b, ...found });
      }
    }
    statistics.holm(pairs);
    return (above, below) => pairs.some((pair) => pair.a === above && pair.b === below && pair.p < ranking.significance && pair.log < 0);
  },
};

const statistics = {
  // Student's paired test on log ratios over the blocks that both have.
  compare(first, second, smallest) {
    const logs = [];
    let scale = 1;
    first.forEach((value, block) => {
      if (value === null || second[block] === null || second[block] === undefined) return;
      const [a, b] = [Math.log(value), Math.log(second[block])];
      scale = Math.max(scale, Math.abs(a), Math.abs(b));
      logs.push(a - b);
    });
    if (logs.length < smallest) return null;
    const mean = score.mean(logs);
    const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1);
    const error = Math.sqrt(variance / logs.length);
    const rounding = 4 * Number.EPSILON * scale;
    let p = 0;
    if (error > rounding) p = this.twoSided(mean / error, logs.length - 1);
    else if (Math.abs(mean) <= rounding) p = 1;
    return { log: mean, p };
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
  // P(|T| >= |t|).
  twoSided(t, degrees) {
    const square = t * t;
    return this.beta(0.5 * degrees, 0.5, degrees / (degrees + square), square / (degrees + square));
  },
  // The regularised incomplete beta function, rest = 1 - x.
  beta(a, b, x, rest) {
    if (x <= 0) return 0;
    if (rest <= 0) return 1;
    const front = Math.exp(a * Math.log(x) + b * Math.log(rest) + this.logGamma(a + b) - this.logGamma(a) - this.logGamma(b));
    if (x < (a + 1) / (a + b + 2)) return (front * this.fraction(a, b, x)) / a;
    return 1 - (front * this.fraction(b, a, rest)) / b;
  },
  fraction(a, b, x) {
    const apart = (value) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
    let c = 1;
    let d = 1 / apart(1 - ((a + b) * x) / (a + 1));
    let result = d;
    for (let m = 1; m < 10000; m++) {
      const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
      const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
      let factor = 1;
      for (const term of [even, odd]) {
        d = 1 / apart(1 + term * d);
        c = apart(1 + term / c);
        factor = d * c;
        result *= factor;
      }
      if (Math.abs(factor - 1) < 1e-16) break;
    }
    return result;
  },
  logGamma(x) {
    const lanczos = [676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406,
      12.507343278686905, -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7];
    if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - this.logGamma(1 - x);
    const y = x - 1;
    const sum = lanczos.reduce((all, term, place) => all + term / (y + place + 1), 0.9999999999998099);
    const t = y + 7.5;
    return 0.5 * Math.log(2 * Math.PI) + (y + 0.5) * Math.log(t) - t + Math.log(sum);
  },
};
