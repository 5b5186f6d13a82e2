//! Whether what was measured was steady: from when on an operation's latency had come to rest, by how much it drifted after, and how much
//! repetitions differ. A database that is still settling (compaction, caches that fill) is measured in two states at once, and a mean
//! of these says little. The report leaves out trials that are too short to tell, under 40 s.

use crate::prelude::*;
use sensormark_result::statistics::{
    SteadyState, WithinTrialLogarithms, steady_state, within_trial_logarithms,
};

/// Repetitions whose means have a larger standard deviation than this, as a share, are noisy.
const NOISY: f64 = 0.1;
/// The largest share of seconds in which no operation ended.
const EMPTY: f64 = 0.1;
/// Rows up to this many are shown to people.
const MOST_SHOWN: usize = 30;

/// What was seen of one operation in one trial.
pub struct Seen {
    /// Implementation and side.
    arm: String,
    operation: String,
    repetition: u32,
    seconds: usize,
    state: SteadyState,
    /// The mean over the steady part, in ns.
    mean: Option<WithinTrialLogarithms>,
}

/// Looks at every operation of every valid trial that was long enough.
pub fn look(field: &Field) -> Vec<Seen> {
    let mut all = vec![];
    for (side, arm) in field.all() {
        for trial in field.valid_of(arm) {
            for one in timed(trial).filter(|one| !one.warm_up) {
                let Some(series) = series(&one.record.seconds) else {
                    continue;
                };
                let state = steady_state(&series).unwrap_or(SteadyState::TooShort);
                let discard = match state {
                    SteadyState::TooShort => continue,
                    SteadyState::Steady { discard } => discard,
                    SteadyState::Settling | SteadyState::Drifting { .. } => 0,
                };
                all.push(Seen {
                    arm: format!("{} ({side})", arm.label),
                    operation: one.operation(),
                    repetition: trial.repetition.saturating_add(1),
                    seconds: series.len(),
                    state,
                    mean: within_trial_logarithms(&series[discard..]).ok(),
                });
            }
        }
    }
    all
}

/// The mean latency of each whole second, in ns; none where too many seconds had no operation. The last second, which is not whole, is left out.
fn series(seconds: &[SecondHistogram]) -> Option<Vec<f64>> {
    let last = seconds.iter().map(|second| second.second).max()?;
    let mut means: BTreeMap<u64, f64> = BTreeMap::new();
    for second in seconds.iter().filter(|second| second.second < last) {
        means.insert(second.second, decode(&second.v2).ok()?.mean());
    }
    let (first, found) = (*means.keys().next()?, means.len());
    let mut values = vec![];
    for second in first..last {
        // A second in which nothing ended goes on as the one before it.
        values.push(means.get(&second).copied().or(values.last().copied())?);
    }
    let empty = 1.0 - found as f64 / values.len().max(1) as f64;
    (empty <= EMPTY).then_some(values)
}

/// The section.
pub fn section(all: &[Seen]) -> Section {
    let mut table = Table::new(
        "steadiness",
        "From when on latencies were steady, and their mean within a repetition",
        "implementation; operation; repetition | seen for [s]; steady; latency then [ms]",
    );
    for one in all {
        table.row(row![
            &one.arm,
            &one.operation,
            u64::from(one.repetition),
            one.seconds as u64,
            words(one.state),
            mean(one),
        ]);
    }
    table.is_detail = table.rows.len() > MOST_SHOWN;
    table.note("Means of seconds: warm-up cut off by MSER-5; then a drift over 5 % that is significant at 1 % is not steady. The mean is geometric, over the steady part or else the whole, with its 95 % interval from batch means. The interval allows for seconds that depend on each other, and needs 60 s.");
    Section::of("steadiness", "Steadiness", [table])
}

fn words(state: SteadyState) -> String {
    match state {
        SteadyState::Steady { discard: 0 } => "from the start".to_owned(),
        SteadyState::Steady { discard } => format!("after {discard} s"),
        SteadyState::Settling => "no: still settling at the end".to_owned(),
        SteadyState::Drifting { drift } => {
            let sign = if drift > 0.0 { "+" } else { "" };
            format!("no: drifts by {sign}{} %", fixed(drift * 100.0, 0))
        }
        SteadyState::TooShort => "too short to tell".to_owned(),
    }
}

fn mean(one: &Seen) -> Cell {
    let Some(mean) = &one.mean else {
        return Cell::missing("under 60 s, or a trend");
    };
    let mut interval = mean.interval;
    interval.low /= 1e6;
    interval.high /= 1e6;
    number(mean.geometric_mean / 1e6, Spread::Range(interval))
}

/// A warning for each operation that was not steady in some repetition, and for each implementation whose repetitions differ much.
pub fn warnings(field: &Field, all: &[Seen]) -> Vec<String> {
    let mut counts: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for one in all {
        let (unsteady, seen) = counts.entry((&one.arm, &one.operation)).or_default();
        *unsteady += usize::from(!matches!(one.state, SteadyState::Steady { .. }));
        *seen += 1;
    }
    let unsteady = counts.into_iter().filter(|(_, (unsteady, _))| *unsteady > 0);
    let mut items = unsteady
        .map(|((arm, operation), (unsteady, seen))| {
            let of = counted(seen, "repetition");
            format!("{arm}: {operation} was not steady in {unsteady} of {of}: its figures are of a database that had not come to rest; measure longer")
        })
        .collect_vec();
    items.extend(noisy(field));
    items
}

fn noisy(field: &Field) -> Vec<String> {
    let mut items = vec![];
    for (side, arm) in field.all() {
        let mut means: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for trial in field.valid_of(arm) {
            for one in timed(trial).filter(|one| !one.warm_up && one.record.summary.count > 0) {
                means.entry(one.operation()).or_default().push(one.record.summary.mean_ns);
            }
        }
        let spreads = means
            .iter()
            .filter_map(|(operation, means)| {
                let summary = summarize_logarithms(means).ok()?;
                let error = summary.log_standard_error?;
                let enough = summary.count >= SMALLEST_REPETITIONS;
                enough.then(|| (operation, error * (summary.count as f64).sqrt()))
            })
            .filter(|(_, spread)| *spread > NOISY)
            .collect_vec();
        let widest = spreads.iter().max_by(|one, other| one.1.total_cmp(&other.1));
        if let Some((operation, spread)) = widest {
            items.push(format!(
                "{} ({side}): noisy repetitions: the mean of {} of {} varies by more than {} %, most that of {operation}, by {} % (standard deviation)",
                arm.label,
                spreads.len(),
                counted(means.len(), "operation"),
                fixed(NOISY * 100.0, 0),
                fixed(spread * 100.0, 0)
            ));
        }
    }
    items
}
