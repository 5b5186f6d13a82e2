//! What the hosts' processors did, from which come the answers that are due. Values are made again from the walks, from a position kept for every hour on. So
//! memory holds 8 bytes an hour and walk and no data.
//!
//! It knows the table cpu alone, the one that is asked about; a test compares its answers with the contract's reference over all readings.

use sensormark_data::devops::fields::{CPU, MEASUREMENTS};
use sensormark_data::devops::hosts::{DATACENTER, HOSTNAME};
use sensormark_data::devops::{Cursor, Devops, Position, TICKS_AN_HOUR, Track, tick_from, time_ns};
use sensormark_store::{
    Aggregate, Answer, Ask, Batch, Column, FieldSet, Function, Group, Grouping, Predicate, Query, Schema,
    Selection, TimeRange, Value, Values, Window,
};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The processors' walks over some ticks.
#[derive(Debug)]
pub struct History {
    data: Devops,
    schema: Arc<Schema>,
    ticks: u64,
    /// Where all walks stand at each hour, as far as it was needed.
    hours: Mutex<Vec<Position>>,
}

impl History {
    /// Of the first `ticks` ticks.
    pub const fn new(data: Devops, schema: Arc<Schema>, ticks: u64) -> Self {
        Self { data, schema, ticks, hours: Mutex::new(Vec::new()) }
    }

    /// The hosts.
    pub const fn hosts(&self) -> u32 {
        self.data.hosts
    }

    /// A cursor before the start of an hour that is not after the tick.
    fn hour_before(&self, tick: u64) -> Cursor {
        let hour = usize::try_from(tick.min(self.ticks) / TICKS_AN_HOUR).unwrap_or(usize::MAX);
        let mut cursor = self.data.cursor(CPU, 0..self.data.hosts);
        let mut positions = self.hours.lock().unwrap_or_else(PoisonError::into_inner);
        if positions.is_empty() {
            positions.push(cursor.position.clone());
        }
        while positions.len() <= hour {
            cursor.position.clone_from(&positions[positions.len() - 1]);
            cursor.skip(TICKS_AN_HOUR);
            positions.push(cursor.position.clone());
        }
        cursor.position.clone_from(&positions[hour]);
        cursor
    }

    /// The walks of a field of some hosts, from a tick on.
    fn tracks(&self, field: usize, hosts: &[u32], tick: u64) -> Vec<Track> {
        let cursor = self.hour_before(tick);
        let track = |host: &u32| {
            let mut track = cursor.track(field, *host)?;
            track.skip_to(tick);
            Some(track)
        };
        hosts.iter().filter_map(track).collect()
    }

    /// The ticks in a range of time, of those that there are.
    pub fn ticks(&self, range: TimeRange) -> Range<u64> {
        let end = tick_from(range.end_ns).min(self.ticks);
        tick_from(range.start_ns).min(end)..end
    }

    /// The site of a host.
    pub fn datacenter(&self, host: u32) -> String {
        self.schema.tables[CPU].series.columns()[DATACENTER].text(host)
    }

    /// The hosts that a question is about.
    pub fn chosen(&self, selection: &Selection) -> Vec<u32> {
        let series = &self.schema.tables[CPU].series;
        match selection {
            Selection::One(one) => vec![*one],
            Selection::Set(set) => set.clone(),
            Selection::Tagged { tag, value } => series.with_tag(*tag, value),
            Selection::All => (0..series.len()).collect(),
        }
    }

    /// The answer that is due to one of the workload's questions; none to others.
    pub fn answer(&self, query: &Query) -> Option<Answer> {
        if query.table != CPU {
            return None;
        }
        let hosts = self.chosen(&query.series);
        let ticks = self.ticks(query.range);
        match &query.ask {
            Ask::Aggregate { aggregates, grouping, from_sums: false } => {
                self.groups(&hosts, ticks, aggregates, *grouping)
            }
            Ask::LastReading { fields } => Some(Answer::Readings(self.last(&hosts, ticks, *fields))),
            Ask::SeriesMatching(predicate) => Some(Answer::Series(self.matching(&hosts, ticks, *predicate))),
            _ => None,
        }
    }

    /// Aggregates by window, of all hosts together or of each by its name.
    fn groups(
        &self,
        hosts: &[u32],
        ticks: Range<u64>,
        aggregates: &[Aggregate],
        grouping: Grouping,
    ) -> Option<Answer> {
        let ([aggregate], Some(window)) = (aggregates, grouping.window) else {
            return None;
        };
        let by_host = match grouping.by_tag {
            None => false,
            Some(HOSTNAME) => true,
            Some(_) => return None,
        };
        let mut tracks = self.tracks(aggregate.field, hosts, ticks.start);
        let mut groups = Vec::new();
        for (start_ns, ticks) in windows(window, ticks) {
            let mut all = Fold::default();
            for (track, host) in tracks.iter_mut().zip(hosts) {
                let mut own = Fold::default();
                ticks.clone().for_each(|_| own.add(track.advance()));
                if by_host {
                    groups.push(group(Some(*host), start_ns, own.value(aggregate.function)?));
                }
                all.merge(&own);
            }
            if !by_host && all.count > 0 {
                groups.push(group(None, start_ns, all.value(aggregate.function)?));
            }
        }
        Some(Answer::groups(groups))
    }

    /// How many groups there are, without their values.
    pub fn group_count(&self, hosts: usize, range: TimeRange, grouping: Grouping) -> Option<usize> {
        let window = grouping.window?;
        let ticks = self.ticks(range);
        if ticks.is_empty() {
            return Some(0);
        }
        let of = |tick: u64| window.start_of(time_ns(tick)) / window.width_ns;
        // Readings are every 10 s and windows at least a minute, so that none between the first and the last is empty.
        let count = usize::try_from(of(ticks.end - 1) - of(ticks.start) + 1).ok()?;
        Some(if grouping.by_tag.is_some() { count * hosts } else { count })
    }

    fn last(&self, hosts: &[u32], ticks: Range<u64>, fields: FieldSet) -> Batch {
        let table = &self.schema.tables[CPU];
        let mut batch = Batch::new(CPU, table);
        if let Some(tick) = ticks.end.checked_sub(1).filter(|tick| ticks.contains(tick)) {
            batch.times_ns = vec![time_ns(tick); hosts.len()];
            batch.series = hosts.to_vec();
            for field in 0..MEASUREMENTS[CPU].fields.len() {
                let mut tracks = self.tracks(field, hosts, tick);
                let values = tracks.iter_mut().map(Track::advance).collect();
                batch.columns[field].values = Values::F64(values);
            }
        }
        for (field, column) in batch.columns.iter_mut().enumerate() {
            if !fields.contains(field) {
                *column = Column::absent(table.fields[field].kind);
            }
        }
        batch
    }

    fn matching(&self, hosts: &[u32], ticks: Range<u64>, predicate: Predicate) -> Vec<u32> {
        let tracks = self.tracks(predicate.field, hosts, ticks.start);
        let matches = |track: &mut Track| ticks.clone().any(|_| predicate.passes(track.advance()));
        let both = hosts.iter().zip(tracks);
        both.filter_map(|(host, mut track)| matches(&mut track).then_some(*host)).collect()
    }
}

/// The windows that hold ticks, each with its start and its ticks.
fn windows(window: Window, ticks: Range<u64>) -> impl Iterator<Item = (i64, Range<u64>)> {
    let mut next = ticks.start;
    std::iter::from_fn(move || {
        if next >= ticks.end {
            return None;
        }
        let start_ns = window.start_of(time_ns(next));
        let end = tick_from(start_ns.saturating_add(window.width_ns)).min(ticks.end);
        let own = next..end.max(next + 1);
        next = own.end;
        Some((start_ns, own))
    })
}

fn group(series: Option<u32>, start_ns: i64, value: Value) -> Group {
    Group { series, window_start_ns: Some(start_ns), day: None, values: vec![value] }
}

/// Values, folded.
#[derive(Debug, Default)]
struct Fold {
    count: u64,
    sum: f64,
    most: f64,
}

impl Fold {
    #[inline]
    fn add(&mut self, value: f64) {
        self.most = if self.count == 0 { value } else { self.most.max(value) };
        self.count += 1;
        self.sum += value;
    }

    fn merge(&mut self, other: &Self) {
        if other.count > 0 {
            self.most = if self.count == 0 { other.most } else { self.most.max(other.most) };
        }
        self.count += other.count;
        self.sum += other.sum;
    }

    /// All terms are of one sign, so that sums lose nothing that is compared.
    fn value(&self, function: Function) -> Option<Value> {
        match function {
            Function::Max => Some(Value::F64(self.most)),
            Function::Mean => Some(Value::F64(self.sum / self.count as f64)),
            _ => None,
        }
    }
}
