//! Sensors that a user describes: each series has the same fields, each field a [`shape::Shape`], and readings come at an interval
//! with jitter, some missing, some late, some sent twice.
//!
//! Time goes in *ticks*, one interval long; each tick has one *turn* a series. The reading of series s and tick k is taken at
//! start + k · interval + jitter(s, k). The jitter is shorter than the interval, so a series' times ascend. What is sent in which turn is in [`Sensors::sent`].
//! Staggered series report one after the other: of S series, series s is always ⌊s · interval / S⌋ after the tick, which takes the place of the jitter.
//!
//! Everything is a pure function of (seed, series, field, tick), had at once and without memory: nothing here grows with the data. A counter is k · step plus a
//! bounded random part. A walk is a sum of noises of doubling period (see [`shape`]). So neither needs the values before it. What does need them
//! ([`shape::Walked`]) keeps positions from which it goes on.
//!
//! It is not where readings are written or asked about (`workload::own`), nor where the description is read.

pub mod churn;
pub mod meter;
pub mod order;
pub mod shape;
pub mod temperature;
mod values;
mod walk;

#[cfg(test)]
mod tests;

use crate::prelude::*;
use {Draw::*, churn::Churn, order::Order, shape::*, values::SeriesField};

/// What is drawn of a reading or a series beside its values. Each has a stream, numbered beyond those of the fields.
#[derive(Clone, Copy)]
pub enum Draw {
    /// How long after its tick the reading is taken.
    Jitter = 1 << 20,
    /// Whether the reading never comes.
    Missing,
    /// Whether it comes late.
    Late,
    /// Whether it is sent twice.
    Repeated,
    /// How late the readings of a series come that are late.
    Delay,
    /// Whether it comes when its time is no longer kept.
    Stale,
}

/// When readings are taken and sent. Times in ns since the Unix epoch, lengths in ns.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// The first tick.
    pub start_ns: i64,
    /// From tick to tick.
    pub interval_ns: i64,
    /// A reading is taken less than this long after its tick; shorter than the interval.
    pub jitter_ns: i64,
    /// Whether how long after is the series' own, from none for the first to nearly the jitter for the last, and not drawn.
    pub staggered: bool,
    /// So many ticks come in a burst, `burst_interval_ns` apart, then none until as many intervals have passed; 1 where they come regularly.
    pub burst: i64,
    /// From tick to tick of a burst; the interval at most.
    pub burst_interval_ns: i64,
    /// Times are cut to multiples of this.
    pub unit_ns: i64,
    /// The share of readings that never come, 0 to 1.
    pub missing: f64,
    /// The share of the others that come late.
    pub late: f64,
    /// A late reading comes so many ticks after its own at most, each series' own number of them.
    pub late_ticks: u64,
    /// The share of readings that come so late that nobody keeps their time any more: `stale_ticks` after their own.
    pub stale: f64,
    /// How late those come.
    pub stale_ticks: u64,
    /// The share of readings that are sent twice: again in the turn after the first.
    pub repeated: f64,
}

impl Timing {
    /// When a tick is.
    fn tick_ns(&self, tick: u64) -> i64 {
        let tick = signed(tick);
        let of_burst = if self.burst == 1 { 0 } else { tick % self.burst };
        (tick - of_burst)
            .saturating_mul(self.interval_ns)
            .saturating_add(self.start_ns)
            .saturating_add(of_burst.saturating_mul(self.burst_interval_ns))
    }

    /// A time as it is kept.
    fn cut(&self, time_ns: i64) -> i64 {
        time_ns - time_ns.rem_euclid(self.unit_ns)
    }
}

/// So many readings are made at a time for writing: few enough for columns and lines to stay in a processor's cache.
const PART: u64 = 1_024;

/// The sensors.
#[derive(Debug, Clone)]
pub struct Sensors {
    seed: u64,
    /// Which series report when.
    pub churn: Churn,
    /// When readings are taken and sent.
    pub timing: Timing,
    fields: Vec<FieldShape>,
    /// How long after a tick staggered series report, each one; none of others.
    offsets: Box<[i64]>,
}

/// One reading that is sent.
pub struct Sent {
    /// The tick in which it was taken.
    pub tick: u64,
    /// Whether it was sent before.
    pub again: bool,
}

impl Sensors {
    /// Sensors of this seed.
    ///
    /// # Panics
    /// When there is no series, or the interval is not longer than jitter and unit together allow: defects of the caller.
    pub fn new(seed: u64, series: u32, timing: Timing, fields: Vec<FieldShape>) -> Self {
        assert!(series > 0, "there is at least one series");
        assert!(
            timing.jitter_ns >= 0
                && timing.burst >= 1
                && timing.interval_ns >= timing.burst_interval_ns
                && timing.burst_interval_ns >= timing.jitter_ns + timing.unit_ns,
            "times of a series ascend"
        );
        // ⌊place · interval / series⌋ without a product that is too large.
        let (places, interval_ns) = (series as i64, timing.interval_ns);
        let offset = |place: i64| interval_ns / places * place + interval_ns % places * place / places;
        let staggered = if timing.staggered { places } else { 0 };
        let offsets = (0..staggered).map(offset).collect();
        Self { seed, churn: Churn::none(series), timing, fields, offsets }
    }

    /// The same, whose series end and begin.
    #[must_use]
    pub fn with_churn(self, churn: Churn) -> Self {
        Self { churn, ..self }
    }

    /// How many series report at a time: each tick has so many turns. Which series has a turn says [`Churn::series_at`].
    pub fn series(&self) -> u32 {
        self.churn.places
    }

    /// Whatever time and sending depend on is of the place, so that what a series sends late comes from its place after its end, too.
    fn stream(&self, series: u32, draw: Draw) -> Stream {
        Stream::new(self.seed, (series % self.series()) as u64, draw as u64)
    }

    /// Whether a reading is missing, late, stale or repeated (the last three: if it comes).
    pub fn is(&self, draw: Draw, series: u32, tick: u64) -> bool {
        let share = match draw {
            Missing => self.timing.missing,
            Late => self.timing.late,
            Repeated => self.timing.repeated,
            Stale => self.timing.stale,
            Jitter | Delay => 0.0,
        };
        share > 0.0 && self.stream(series, draw).unit(tick) < share
    }

    /// After how many ticks everything that was taken in a tick has been sent.
    pub fn longest_delay(&self, with_copies: bool) -> u64 {
        let late = if self.timing.late > 0.0 { self.timing.late_ticks.max(1) } else { 0 };
        late + (with_copies && self.timing.repeated > 0.0) as u64
    }

    /// What a series sends in a tick's turn: its reading, one that is late, and what was sent in the turn before once more.
    pub fn sent(&self, series: u32, turn: u64, with_copies: bool) -> impl Iterator<Item = Sent> {
        let copies = turn
            .checked_sub(1)
            .filter(|_| with_copies)
            .into_iter()
            .flat_map(move |before| self.firsts(series, before));
        let copies = copies.filter(move |&tick| self.is(Repeated, series, tick));
        let sent = |again: bool| move |tick: u64| Sent { tick, again };
        self.firsts(series, turn).map(sent(false)).chain(copies.map(sent(true)))
    }

    /// The ticks whose readings are sent for the first time in this turn.
    fn firsts(&self, series: u32, turn: u64) -> impl Iterator<Item = u64> {
        let Timing { late, late_ticks, stale, stale_ticks, .. } = self.timing;
        let before =
            |share: f64, ticks: &dyn Fn() -> u64| (share > 0.0).then(|| turn.checked_sub(ticks())).flatten();
        let is_stale = |tick: &u64| self.is(Stale, series, *tick);
        let is_late = |tick: &u64| self.is(Late, series, *tick) && !is_stale(tick);
        [
            Some(turn).filter(|tick| !is_late(tick) && !is_stale(tick)),
            before(late, &|| 1 + self.stream(series, Delay).below(0, late_ticks)).filter(is_late),
            before(stale, &|| stale_ticks).filter(is_stale),
        ]
        .into_iter()
        .flatten()
        .filter(move |&tick| !self.is(Missing, series, tick))
    }

    /// When the reading was taken, in ns since the Unix epoch.
    pub fn time_ns(&self, series: u32, tick: u64) -> i64 {
        let jitter_ns = self.timing.jitter_ns.unsigned_abs();
        let after_ns = match self.offsets.get((series % self.series()) as usize) {
            Some(offset_ns) => *offset_ns,
            None => signed(self.stream(series, Jitter).below(tick, jitter_ns)),
        };
        self.timing.cut(self.timing.tick_ns(tick).saturating_add(after_ns))
    }

    /// How many readings a series has in this time, wherever it begins; none where that is not always the same.
    pub fn readings_within(&self, length_ns: i64) -> Option<u64> {
        let Timing { interval_ns, jitter_ns, staggered, burst, unit_ns, missing, repeated, .. } = self.timing;
        let is_alike = (staggered || jitter_ns == 0) && burst == 1 && missing + repeated == 0.0;
        let is_regular = is_alike && self.churn.shortest_life().is_none() && self.readings_a_turn(0) == 1.0;
        let is_even = interval_ns % unit_ns == 0 && length_ns % interval_ns == 0;
        (is_regular && is_even).then_some(u64::try_from(length_ns / interval_ns).ok()?)
    }

    /// The first instant at which no reading of an earlier tick than this one was taken, and every one of it or a later tick comes after or then.
    pub fn boundary_ns(&self, tick: u64) -> i64 {
        let regular = || self.timing.cut(self.timing.tick_ns(tick));
        self.walks().and_then(|walks| walks.boundary_ns(tick)).unwrap_or_else(regular)
    }

    /// What makes the readings, where shapes do not.
    pub fn walks(&self) -> Option<&dyn Walked> {
        match self.fields.first() {
            Some(FieldShape { shape: Shape::Walked(walks), .. }) => Some(walks.as_ref()),
            _ => None,
        }
    }

    /// Readings in a turn, on average, from this one on.
    pub fn readings_a_turn(&self, turn: u64) -> f64 {
        self.walks().map_or(1.0, |walks| walks.readings_a_turn(turn))
    }

    /// The ticks of which a reading may have been taken from `start_ns` to before `end_ns`, none of them at or after tick `below`.
    pub fn ticks(&self, start_ns: i64, end_ns: i64, below: u64) -> Range<u64> {
        let Timing { start_ns: zero, interval_ns, jitter_ns, unit_ns, burst, .. } = self.timing;
        let bursts =
            |instant_ns: i64| instant_ns.saturating_sub(zero).max(0) / interval_ns.saturating_mul(burst);
        let ticks = |bursts: i64| u64::try_from(bursts.saturating_mul(burst)).unwrap_or(0);
        let last = ticks(bursts(end_ns.saturating_add(unit_ns)) + 1).min(below);
        ticks(bursts(start_ns.saturating_sub(jitter_ns))).min(last)..last
    }

    /// A field of one series; its values one after the other in time are had soonest.
    pub fn of_series(&self, field: usize, series: u32) -> SeriesField<'_> {
        SeriesField::new(&self.fields[field], field, (self.seed, series), self.timing.interval_ns)
    }

    /// A numeric field's value; none for text and truth values.
    pub fn number(&self, field: usize, series: u32, tick: u64) -> Option<Number> {
        self.of_series(field, series).number(tick)
    }

    /// Appends readings, each a series and a tick, with these fields to a batch whose columns are all of them.
    pub fn push(&self, readings: &[(u32, u64)], batch: &mut Batch, fields: FieldSet) {
        batch.times_ns.extend(readings.iter().map(|&(series, tick)| self.time_ns(series, tick)));
        batch.series.extend(readings.iter().map(|&(series, _)| series));
        // Values of one series are made one after the other, because they have much in common.
        let mut rows: Vec<usize> = (0..readings.len()).collect();
        rows.sort_by_key(|&row| readings[row].0);
        for (field, column) in
            batch.columns.iter_mut().enumerate().filter(|(field, _)| fields.contains(*field))
        {
            self.push_column(field, readings, &rows, &mut column.values);
        }
    }

    /// Appends the values of one field. `rows` are the places of all readings, those of a series beside each other.
    fn push_column(&self, field: usize, readings: &[(u32, u64)], rows: &[usize], values: &mut Values) {
        let first = values.len();
        let numbers = |put: &mut dyn FnMut(usize, Number)| {
            for rows in rows.chunk_by(|&one, &other| readings[one].0 == readings[other].0) {
                let mut of_series = self.of_series(field, readings[rows[0]].0);
                for &row in rows {
                    of_series.number(readings[row].1).into_iter().for_each(|number| put(first + row, number));
                }
            }
        };
        match values {
            Values::F64(values) => {
                values.resize(first + rows.len(), 0.0);
                numbers(&mut |row, number| values[row] = number.float());
            }
            Values::I64(values) => {
                values.resize(first + rows.len(), 0);
                numbers(&mut |row, number| values[row] = number.integer());
            }
            Values::Bool(values) => values
                .extend(readings.iter().map(|&(series, tick)| self.of_series(field, series).truth(tick))),
            Values::Text(values) => {
                readings
                    .iter()
                    .for_each(|&(series, tick)| values.push(self.of_series(field, series).text(tick)));
            }
            Values::U16(_) => {}
        }
    }

    /// Appends everything that series send in some turns, those of `order`, of which the first is number `first`.
    pub fn push_turns(
        &self,
        (first, order): (u32, Order),
        mut turns: impl Iterator<Item = u64>,
        with_copies: bool,
        batch: &mut Batch,
    ) {
        if let Some(walks) = self.walks() {
            if let Some(turn) = turns.next() {
                let end = turn + 1 + turns.count() as u64;
                walks.fill(first..first + order.series, turn..end, batch);
            }
            return;
        }
        let Timing { missing, late, stale, repeated, .. } = self.timing;
        let is_regular = missing + late + stale == 0.0 && !(with_copies && repeated > 0.0);
        let mut readings = Vec::with_capacity(turns.size_hint().0);
        for turn in turns {
            let (place, tick) = order.at(turn);
            let place = first + place;
            let mut put = |tick: u64| readings.push((self.churn.series_at(place, tick), tick));
            if is_regular {
                put(tick);
            } else {
                self.sent(place, tick, with_copies).for_each(|sent| put(sent.tick));
            }
        }
        self.push(&readings, batch, FieldSet::first(self.fields.len()));
    }

    /// Makes these values the columns of a series' entity, in memory that is used again for others.
    pub fn fill_entity(&self, series: u32, values: &mut Vec<Value>) {
        meter::fill_contact(self.seed, series, values);
    }
}

/// What sensors send in their first ticks as a data set that can be exported, in the order of sending, copies of repeated readings included. Each table of the
/// schema has its sensors, and how many ticks. Tables go side by side: a part of each, then the next part of each.
pub fn data_set(schema: Schema, tables: Vec<(Sensors, u64)>) -> DataSet {
    DataSet::new(schema, move |shard, sink| {
        let turns = |(sensors, ticks): &(Sensors, u64)| {
            ticks.saturating_mul(shard.series(sensors.series()).len() as u64)
        };
        let readings = |table: &(Sensors, u64)| round_u64(turns(table) as f64 * table.0.readings_a_turn(0));
        let parts = tables.iter().map(|table| readings(table).div_ceil(PART)).max().unwrap_or(0);
        for part in 0..parts {
            for (number, table) in tables.iter().enumerate() {
                let (series, turns) = (shard.series(table.0.series()), turns(table));
                let bound = |part| turns / parts * part + turns % parts * part / parts;
                let order = Order::of_time(series.end - series.start);
                let turns = bound(part)..bound(part + 1);
                sink.put(number, |batch| table.0.push_turns((series.start, order), turns, true, batch))?;
            }
        }
        Ok(())
    })
}
