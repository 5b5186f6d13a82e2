//! The six questions, each asked many times about random windows and hosts: question i of a kind is a pure function of seed, kind, i and what is loaded.

use super::history::History;
use super::parameters::Parameters;
use super::writes::Plan;
use sensormark_data::devops::fields::{CPU, USAGE_USER};
use sensormark_data::devops::hosts::{DATACENTER, HOSTNAME};
use sensormark_data::devops::time_ns;
use sensormark_data::random::Stream;
use sensormark_engine::operations::{Extent, Operations, Slot};
use sensormark_store::{
    Aggregate, Answer, Ask, Comparison, FieldSet, Function, Grouping, Predicate, Query, Selection, TimeRange,
    Window,
};
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

/// The series number of questions' streams; data sets use small ones.
const STREAM: u64 = u64::MAX - 2;
const MINUTE_NS: i64 = 60_000_000_000;
const SECOND_NS: i64 = 1_000_000_000;
/// Questions are not asked before so many ticks are there: a minute.
const LEAST_TICKS: u64 = 6;
/// Readings of a host in a minute.
const READINGS_A_MINUTE: u64 = 6;
/// Fields of the table that is asked about.
const FIELDS: usize = 10;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum QuestionKind {
    /// Maximum of usage_user by minute of one host in a short window: the study's question.
    MaximumShort,
    /// The same in a long window.
    MaximumLong,
    /// The same of several hosts together in a short window.
    MaximumSeveral,
    /// Mean of usage_user by hour and host, of all hosts.
    MeanAll,
    /// Last reading of every host.
    LastReading,
    /// Hosts whose usage_user was over the threshold in a short window.
    Busy,
    /// Last reading of every host of a datacenter, while data come.
    LastOfSite,
}

impl QuestionKind {
    /// All of data at rest, in the order in which they are asked.
    pub const ALL: [Self; 6] = [
        Self::MaximumShort,
        Self::MaximumLong,
        Self::MaximumSeveral,
        Self::MeanAll,
        Self::LastReading,
        Self::Busy,
    ];

    /// Its name in phases and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        [
            "max-1-host",
            "max-1-host-long",
            "max-several-hosts",
            "mean-all-hosts",
            "last-reading",
            "busy-hosts",
            "last-of-site",
        ][self as usize]
    }

    /// What it asks, in words.
    #[must_use]
    pub fn words(self, parameters: &Parameters) -> String {
        let short = span(parameters.short_minutes);
        match self {
            Self::MaximumShort => format!("maximum by minute, 1 host, {short}"),
            Self::MaximumLong => {
                format!("maximum by minute, 1 host, {}", span(parameters.long_minutes))
            }
            Self::MaximumSeveral => {
                format!("maximum by minute, {} hosts, {short}", several(parameters))
            }
            Self::MeanAll => format!(
                "mean by {} and host, all hosts, {}",
                span(parameters.mean_step_minutes),
                span(parameters.mean_minutes)
            ),
            Self::LastReading => "last reading of every host".to_owned(),
            Self::LastOfSite => "last reading of every host of a datacenter".to_owned(),
            Self::Busy => format!("hosts over {} %, {short}", parameters.threshold),
        }
    }
}

/// Minutes as a person says them.
fn span(minutes: u64) -> String {
    match minutes {
        minutes if minutes.is_multiple_of(60) => format!("{} h", minutes / 60),
        minutes => format!("{minutes} min"),
    }
}

fn several(parameters: &Parameters) -> u32 {
    parameters.several_hosts.min(parameters.hosts)
}

/// Questions of one kind.
pub struct Questions {
    kind: QuestionKind,
    parameters: Arc<Parameters>,
    history: Arc<History>,
    /// What the load that is asked about writes.
    plan: Arc<Plan>,
    seed: u64,
    /// Whether it is about what is newest, and not about any time of the load.
    pub is_newest: bool,
    classes: [String; 1],
}

impl Questions {
    /// Questions about what a plan writes.
    pub fn new(
        kind: QuestionKind,
        parameters: Arc<Parameters>,
        history: Arc<History>,
        plan: Arc<Plan>,
        seed: u64,
    ) -> Self {
        let classes = [kind.name().to_owned()];
        Self { kind, parameters, history, plan, seed, is_newest: false, classes }
    }

    fn draws(&self, index: u64) -> Draws {
        let kind = (self.kind as u64) << 48;
        Draws { stream: Stream::new(self.seed, STREAM, kind | (index & ((1 << 48) - 1))), next: 0 }
    }

    fn hosts(&self, draws: &mut Draws) -> Selection {
        let hosts = self.history.hosts();
        match self.kind {
            QuestionKind::MaximumShort | QuestionKind::MaximumLong => {
                Selection::Tagged { tag: HOSTNAME, value: format!("host_{}", draws.below(u64::from(hosts))) }
            }
            QuestionKind::MaximumSeveral => {
                let mut missing = u64::from(several(&self.parameters));
                let chosen = (0..hosts).filter(|host| {
                    // So that every set of that size is as likely as any other.
                    let is_chosen = draws.below(u64::from(hosts - host)) < missing;
                    missing -= u64::from(is_chosen);
                    is_chosen
                });
                Selection::Set(chosen.collect())
            }
            QuestionKind::LastOfSite => {
                let host = u32::try_from(draws.below(hosts.into())).unwrap_or(0);
                Selection::Tagged { tag: DATACENTER, value: self.history.datacenter(host) }
            }
            QuestionKind::MeanAll | QuestionKind::LastReading | QuestionKind::Busy => Selection::All,
        }
    }

    fn range(&self, draws: &mut Draws, ticks: Range<u64>) -> TimeRange {
        let (start_ns, end_ns) = (time_ns(ticks.start), time_ns(ticks.end));
        if self.kind == QuestionKind::LastOfSite {
            return TimeRange::new(start_ns, end_ns);
        }
        if self.kind == QuestionKind::LastReading {
            // As somebody would have asked some time in the later half of the data.
            let half = (end_ns - start_ns) / 2;
            let seconds = (half / SECOND_NS).unsigned_abs();
            let before = draws.below(seconds.max(1)).cast_signed() * SECOND_NS;
            return TimeRange::new(start_ns, end_ns - before);
        }
        let length = i64::try_from(self.minutes()).unwrap_or(i64::MAX).saturating_mul(MINUTE_NS);
        if length >= end_ns - start_ns {
            return TimeRange::new(start_ns, end_ns);
        }
        if self.is_newest {
            return TimeRange::new(end_ns - length, end_ns);
        }
        let room = ((end_ns - start_ns - length) / SECOND_NS).unsigned_abs();
        let first = start_ns + draws.below(room + 1).cast_signed() * SECOND_NS;
        TimeRange::new(first, first + length)
    }

    /// How long the stretch is that it asks about.
    fn minutes(&self) -> u64 {
        match self.kind {
            QuestionKind::MaximumLong => self.parameters.long_minutes,
            QuestionKind::MeanAll => self.parameters.mean_minutes,
            _ => self.parameters.short_minutes,
        }
    }

    fn ask(&self) -> Ask {
        let minutes = |count: u64| Window {
            width_ns: i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(MINUTE_NS),
            origin_ns: 0,
        };
        let aggregate = |function, window, by_tag| Ask::Aggregate {
            aggregates: vec![Aggregate { function, field: USAGE_USER }],
            grouping: Grouping { window: Some(window), by_tag, ..Grouping::default() },
            from_sums: false,
        };
        match self.kind {
            QuestionKind::MaximumShort | QuestionKind::MaximumLong | QuestionKind::MaximumSeveral => {
                aggregate(Function::Max, minutes(1), None)
            }
            QuestionKind::MeanAll => {
                let window = minutes(self.parameters.mean_step_minutes);
                aggregate(Function::Mean, window, Some(HOSTNAME))
            }
            QuestionKind::LastReading | QuestionKind::LastOfSite => {
                Ask::LastReading { fields: FieldSet::first(FIELDS) }
            }
            QuestionKind::Busy => Ask::SeriesMatching(Predicate {
                field: USAGE_USER,
                comparison: Comparison::Above,
                threshold: self.parameters.threshold,
            }),
        }
    }
}

/// Random numbers of one question, one after the other.
struct Draws {
    stream: Stream,
    next: u64,
}

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        let index = self.next;
        self.next += 1;
        let bound = NonZeroU64::new(bound).unwrap_or(NonZeroU64::MIN);
        self.stream.below(index, bound)
    }
}

impl Operations for Questions {
    fn len(&self) -> u64 {
        self.parameters.queries
    }

    fn extent(&self) -> Extent {
        let all = f64::from(self.history.hosts());
        let hosts = match self.kind {
            QuestionKind::MaximumShort | QuestionKind::MaximumLong => 1.0,
            QuestionKind::MaximumSeveral => several(&self.parameters).into(),
            QuestionKind::MeanAll | QuestionKind::Busy => all,
            // One each, where an index leads to it.
            QuestionKind::LastReading | QuestionKind::LastOfSite => return Extent::of(all),
        };
        Extent::of(hosts * (self.minutes() * READINGS_A_MINUTE) as f64)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn least_watermark(&self) -> u64 {
        self.plan.writes_for(LEAST_TICKS)
    }

    fn fill(&self, index: u64, watermark: u64, slot: &mut Slot) {
        let mut ticks = self.plan.complete(watermark);
        if self.is_newest {
            ticks.start = 0;
        }
        let mut draws = self.draws(index);
        let query = slot.ask();
        query.table = CPU;
        query.series = self.hosts(&mut draws);
        query.range = self.range(&mut draws, ticks);
        query.ask = self.ask();
    }

    fn answer_len(&self, _index: u64, query: &Query) -> Option<usize> {
        match &query.ask {
            Ask::Aggregate { grouping, .. } => {
                let hosts = self.history.hosts() as usize;
                self.history.group_count(hosts, query.range, *grouping)
            }
            Ask::LastReading { .. } => {
                let any = !self.history.ticks(query.range).is_empty();
                Some(if any { self.history.chosen(&query.series).len() } else { 0 })
            }
            _ => None,
        }
    }

    fn expected(&self, _index: u64, query: &Query) -> Option<Answer> {
        self.history.answer(query)
    }
}
