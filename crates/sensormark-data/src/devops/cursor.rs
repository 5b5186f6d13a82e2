//! Reading the walks in the order of time: a cursor over one measurement of some hosts, and a track along one float's walk of one host.
//!
//! A cursor stands before a turn: each tick has one of each host. It holds what every walk shows next; going on takes one random word a walk. Nothing is computed
//! twice, nothing grows.

use super::*;

/// Where all walks of a cursor stand: kept, it leads back to its turn.
#[derive(Debug, Clone)]
pub struct Position {
    /// The turn that comes next.
    pub turn: u64,
    /// Where the walks of each field stand that has some: [`Mover::start`].
    states: Vec<Values>,
}

/// Goes through one measurement of some hosts, tick by tick.
#[derive(Debug)]
pub struct Cursor {
    measurement: usize,
    /// The hosts.
    pub hosts: Range<u32>,
    movers: Vec<Mover>,
    /// What hosts have for ever: boot time and memory, where the measurement has it.
    constants: Vec<(i64, i64)>,
    /// Where it stands. It can be put where it, or another one like it, has been.
    pub position: Position,
}

/// Goes along one float's walk of one host.
pub struct Track {
    stream: Stream,
    bounds: FloatBounds,
    /// The tick that comes next.
    pub tick: u64,
    state: f64,
}

/// The ticks of some turns, each with the hosts that have one of these in it, by their places.
pub fn ticks(turns: Range<u64>, hosts: u64) -> impl Iterator<Item = (u64, Range<usize>)> {
    (turns.start / hosts..turns.end.div_ceil(hosts)).map(move |tick| {
        let place = |turn: u64| usize::try_from(turn.saturating_sub(tick * hosts).min(hosts)).unwrap_or(0);
        (tick, place(turns.start)..place(turns.end))
    })
}

impl Devops {
    /// A cursor over a measurement of some hosts, before the first turn.
    ///
    /// # Panics
    /// When there is no such measurement or host: a defect of the caller.
    pub fn cursor(&self, measurement: usize, hosts: Range<u32>) -> Cursor {
        assert!(hosts.end <= self.hosts, "hosts {hosts:?} of {}", self.hosts);
        let movers: Vec<Mover> = MEASUREMENTS[measurement]
            .fields
            .iter()
            .enumerate()
            .filter(|(_, (_, rule))| rule.moves())
            .map(|(field, (_, rule))| Mover::new(self, measurement, field, *rule, hosts.clone()))
            .collect();
        let constant = |host| (self.boot_seconds(host), self.memory_bytes(host));
        let position = Position { turn: 0, states: movers.iter().map(Mover::start).collect() };
        Cursor { measurement, constants: hosts.clone().map(constant).collect(), hosts, movers, position }
    }
}

impl Cursor {
    /// The turns that come next.
    fn next(&self, turns: u64) -> Range<u64> {
        self.position.turn..self.position.turn + turns
    }

    /// Goes on without readings.
    pub fn skip(&mut self, turns: u64) {
        let next = self.next(turns);
        for (mover, states) in self.movers.iter().zip(&mut self.position.states) {
            mover.go(next.clone(), states, &mut Values::I64(Vec::new()), 0);
        }
        self.position.turn = next.end;
    }

    /// Goes on and appends the readings of these turns to a batch of the measurement's table, in the order of time and then of hosts.
    ///
    /// # Panics
    /// When the batch is not of this table.
    pub fn fill(&mut self, turns: u64, batch: &mut Batch) {
        assert_eq!(batch.table, self.measurement, "a batch of this measurement");
        let (next, begin) = (self.next(turns), batch.len());
        for (tick, places) in ticks(next.clone(), self.constants.len() as u64) {
            batch.series.extend(self.hosts.clone().skip(places.start).take(places.len()));
            batch.times_ns.resize(batch.series.len(), time_ns(tick));
        }
        let end = batch.len();
        for column in &mut batch.columns {
            match &mut column.values {
                Values::I64(values) => values.resize(end, 0),
                Values::F64(values) => values.resize(end, 0.0),
                _ => {}
            }
        }
        for (mover, states) in self.movers.iter().zip(&mut self.position.states) {
            mover.go(next.clone(), states, &mut batch.columns[mover.field].values, begin);
        }
        for (field, (_, rule)) in
            MEASUREMENTS[self.measurement].fields.iter().enumerate().filter(|(_, (_, rule))| !rule.moves())
        {
            self.follow(field, *rule, begin, batch);
        }
        self.position.turn = next.end;
    }

    /// Fills a field that has no walk from those that have.
    fn follow(&self, field: usize, rule: Rule, begin: usize, batch: &mut Batch) {
        let mut column = std::mem::replace(&mut batch.columns[field].values, Values::I64(Vec::new()));
        let first = usize::try_from(self.position.turn % self.constants.len() as u64).unwrap_or(0);
        for (row, &(boot, memory)) in (begin..batch.len()).zip(self.constants.iter().cycle().skip(first)) {
            let reading = Reading { batch, row, memory, boot };
            match (&mut column, rule) {
                (Values::I64(values), Follows(value)) => values[row] = value(&reading),
                (Values::F64(values), PercentOfMemory(bytes)) => {
                    values[row] = bytes(&reading) as f64 * (100.0 / memory as f64);
                }
                _ => unreachable!("the other rules move"),
            }
        }
        batch.columns[field].values = column;
    }

    /// The walk of a float field of one of all hosts from a position at the beginning of a tick; none where the field has no such walk.
    pub fn track(&self, at: &Position, field: usize, host: u32) -> Option<Track> {
        let place = host as usize;
        let number = self.movers.iter().position(|mover| mover.field == field)?;
        let Values::F64(states) = &at.states[number] else {
            return None;
        };
        let mover = &self.movers[number];
        Some(Track {
            stream: *mover.streams.get(place)?,
            bounds: mover.bounds[place],
            tick: at.turn / self.constants.len() as u64,
            state: states[place],
        })
    }
}

impl Track {
    /// Goes on to a tick that is not before the next one.
    pub fn skip_to(&mut self, tick: u64) {
        while self.tick < tick {
            self.advance();
        }
    }

    /// The value at the next tick, and on.
    #[inline]
    pub fn advance(&mut self) -> f64 {
        let shown = self.bounds.shown(self.state);
        self.tick += 1;
        self.state = self.bounds.advance(self.state, NORMALS.float(self.stream.word(self.tick)));
        shown
    }
}
