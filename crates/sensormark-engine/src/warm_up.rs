//! A server on a Java virtual machine is warm before anything counts.
//!
//! Such a server interprets its code first and compiles what is used often while it works, so a new one takes about twice the time for its first seconds. A
//! short run would measure the compiler, a long one the database. So the case's own operations are done here first: in the case's database, which is dropped
//! and made anew afterwards, until their rate no longer rises. No client that is measured takes part, and nothing of it is in a ledger or a figure.

use super::context::{RunContext, RunEvent};
use super::deployment::{Deployment, block_on};
use super::explain::issue;
use super::failure::TrialFailure;
use super::operations::Slot;
use super::role::RoleError;
use super::trial::place::{drop_database, make_database};
use super::trial::script::{LoadSpec, TrialSpec, phases};
use super::trial::support::{Support, support};
use sensormark_store::{Plan, Session, Store, StoreError};
use std::time::{Duration, Instant};

/// How long writes are done at most, and then questions.
const AT_MOST: Duration = Duration::from_secs(4);
/// How long a round takes, in which each kind of operation has its share.
const ROUND: Duration = Duration::from_millis(250);
/// After so many rounds whose rate is no higher, it is level.
const LEVEL_ROUNDS: u32 = 4;
/// A rate is higher that is this many times what was the highest.
const HIGHER: f64 = 1.05;
/// What was dropped is gone when the data's folder did not shrink for so long.
const AT_REST: Duration = Duration::from_millis(1_500);
/// How long that is waited for at most.
const REST_AT_MOST: Duration = Duration::from_secs(10);

/// Warms the server up where it runs on a Java virtual machine, with the operations of these trials; the plan's database is gone again afterwards.
///
/// # Errors
/// When the database cannot be made or reached, or the user breaks the run off.
pub fn warm_up(
    context: &RunContext<'_>,
    deployment: &mut Deployment,
    plan: &Plan,
    trials: &[TrialSpec],
) -> Result<(), TrialFailure> {
    if !deployment.store().runs_on_java() {
        return Ok(());
    }
    context.observer.event(RunEvent::Phase { name: "warm up the server".to_owned() });
    let began = Instant::now();
    make_database(deployment, plan)?;
    let mut warming = Warming::new(deployment.store(), plan, trials);
    let warmed = block_on(warming.warm(&|| context.is_interrupted()));
    drop_database(context, deployment, plan);
    if context.is_interrupted() {
        return Err(RoleError::Interrupted.into());
    }
    warmed?;
    come_to_rest(deployment)?;
    deployment.note_warm_up(began.elapsed());
    Ok(())
}

/// Waits until the files of what was dropped are gone: else a trial's disk would begin with them. Where the folder is not known, as long as that takes.
fn come_to_rest(deployment: &Deployment) -> Result<(), TrialFailure> {
    let bytes =
        || -> Result<u64, TrialFailure> { Ok(deployment.disk()?.map_or(0, |disk| disk.allocated_bytes)) };
    let until = Instant::now() + REST_AT_MOST;
    let (mut least, mut since) = (bytes()?, Instant::now());
    while since.elapsed() < AT_REST && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(100));
        let now = bytes()?;
        if now < least {
            (least, since) = (now, Instant::now());
        }
    }
    Ok(())
}

/// One kind of operations, and how far it is.
struct Kind<'a> {
    load: &'a LoadSpec,
    /// The kind that writes what is asked about, by its place.
    about: Option<usize>,
    /// The number of the next operation.
    next: u64,
    /// Whether all operations were done once.
    is_whole: bool,
    /// Whether one of them failed: the trial will say so.
    has_failed: bool,
}

/// A server that is being warmed up.
struct Warming<'a> {
    store: &'a dyn Store,
    plan: &'a Plan,
    kinds: Vec<Kind<'a>>,
    slot: Slot,
}

impl<'a> Warming<'a> {
    fn new(store: &'a dyn Store, plan: &'a Plan, trials: &'a [TrialSpec]) -> Self {
        Self { store, plan, kinds: kinds(store, plan, trials), slot: Slot::new(&plan.schema) }
    }

    /// Does writes until their rate is level, then questions.
    async fn warm(&mut self, stop: &dyn Fn() -> bool) -> Result<(), StoreError> {
        let mut session = self.store.connect(self.plan).await?;
        for writes in [true, false] {
            let until = Instant::now() + AT_MOST;
            let mut rising = Rising::default();
            while Instant::now() < until && !stop() {
                let Some(rate) = self.round(session.as_mut(), writes, stop).await else {
                    break;
                };
                if !rising.is_rising(rate) && !self.lacks_readings(writes) {
                    break;
                }
            }
        }
        session.close().await
    }

    /// Whether too little is written by now to be asked about.
    fn lacks_readings(&self, writes: bool) -> bool {
        let lacks = |kind: &Kind<'_>| {
            kind.load.writes && !kind.is_whole && kind.next < kind.load.operations.fewest_shown()
        };
        writes && self.kinds.iter().any(lacks)
    }

    /// Has each kind of one side do operations in its share of a round. Gives their rate, the geometric mean of the kinds'; none where there is nothing to do.
    async fn round(
        &mut self,
        session: &mut dyn Session,
        writes: bool,
        stop: &dyn Fn() -> bool,
    ) -> Option<f64> {
        let is_due = |kind: &Kind<'_>| kind.load.writes == writes && !kind.has_failed;
        let places = 0..self.kinds.len();
        let due: Vec<usize> = places.filter(|&one| is_due(&self.kinds[one])).collect();
        let share = ROUND.checked_div(u32::try_from(due.len()).ok()?)?;
        let mut logarithms = Vec::new();
        for place in due {
            let began = Instant::now();
            let mut done = 0.0;
            while began.elapsed() < share && !stop() && self.one(session, place).await {
                done += 1.0;
            }
            if done > 0.0 {
                logarithms.push(f64::ln(done / began.elapsed().as_secs_f64()));
            }
        }
        let count = logarithms.len() as f64;
        (count > 0.0).then(|| f64::exp(logarithms.iter().sum::<f64>() / count))
    }

    /// Does the next operation of a kind. Whether it was done.
    async fn one(&mut self, session: &mut dyn Session, place: usize) -> bool {
        let about = self.kinds[place].about.map(|about| &self.kinds[about]);
        let watermark = about.filter(|kind| !kind.is_whole);
        let watermark = watermark.map_or(u64::MAX, |kind| kind.next);
        let kind = &mut self.kinds[place];
        let operations = kind.load.operations.as_ref();
        if watermark < operations.least_watermark() || operations.is_empty() {
            return false;
        }
        operations.fill(kind.next, watermark, &mut self.slot);
        let done = issue(session, kind.load, kind.next, &self.slot).await;
        kind.next += 1;
        if kind.next >= operations.len() {
            (kind.next, kind.is_whole) = (0, true);
        }
        kind.has_failed = done.is_err();
        !kind.has_failed
    }
}

/// The kinds of operations that these trials have, each once, and what is asked about.
fn kinds<'a>(store: &dyn Store, plan: &Plan, trials: &'a [TrialSpec]) -> Vec<Kind<'a>> {
    let mut kinds: Vec<Kind<'a>> = Vec::new();
    let mut add = |load: &'a LoadSpec, about, is_same: &dyn Fn(&LoadSpec) -> bool| {
        let known = kinds.iter().position(|kind| is_same(kind.load));
        known.unwrap_or_else(|| {
            kinds.push(Kind { load, about, next: 0, is_whole: false, has_failed: false });
            kinds.len() - 1
        })
    };
    for trial in trials {
        for load in phases(&trial.steps).flat_map(|phase| &phase.loads) {
            if let Support::Not(_) = support(store, &plan.layout, &plan.schema, load) {
                continue;
            }
            let about = load.about.as_ref().and_then(|about| {
                let written = phases(&trial.steps).find(|phase| phase.name == about.phase)?;
                written.loads.iter().find(|one| one.name == about.load)
            });
            let about = about.map(|written| add(written, None, &|known| std::ptr::eq(known, written)));
            add(load, about, &|known| {
                known.writes == load.writes && known.operations.classes() == load.operations.classes()
            });
        }
    }
    kinds
}

/// Whether a rate still rises, round by round.
#[derive(Debug, Default)]
struct Rising {
    highest: f64,
    level_rounds: u32,
}

impl Rising {
    fn is_rising(&mut self, rate: f64) -> bool {
        if rate > self.highest * HIGHER {
            (self.highest, self.level_rounds) = (rate, 0);
        } else {
            self.level_rounds += 1;
        }
        self.level_rounds < LEVEL_ROUNDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(rates: impl IntoIterator<Item = f64>) -> usize {
        let mut rising = Rising::default();
        let rises = |rate: &f64| rising.is_rising(*rate);
        rates.into_iter().take_while(rises).count() + 1
    }

    #[test]
    fn it_goes_on_while_the_rate_rises_and_ends_when_it_is_level() {
        assert_eq!(rounds([100.0; 20]), 5, "the first, and four that are no higher");
        let doubled = [10.0, 20.0, 40.0, 80.0].into_iter().chain([80.0; 20]);
        assert_eq!(rounds(doubled), 8);
        let slowly = (0..20).map(|round| 100.0 * 1.03_f64.powi(round));
        assert_eq!(rounds(slowly), 21, "3 % a round is a rise");
        let noise = [100.0, 96.0, 104.0, 98.0, 103.0, 101.0, 99.0];
        assert_eq!(rounds(noise), 5);
    }
}
