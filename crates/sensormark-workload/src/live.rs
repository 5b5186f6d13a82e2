//! Questions while data come: writers keep a rate, and what is newest is asked for.

use sensormark_data::units::round_u64;
use sensormark_engine::answers::Checking;
use sensormark_engine::judge::work::Work;
use sensormark_engine::operations::Operations;
use sensormark_engine::pacing::Schedule;
use sensormark_engine::phase::Pacing;
use sensormark_engine::trial::script::{About, LoadSpec, PhaseSpec, Step};
use sensormark_result::measurement::record::LoadRecord;
use std::num::NonZeroU64;
use std::sync::Arc;

/// The phase, and its operation.
pub const LIVE: &str = "live";
/// Questions of each kind a second.
const ASKED: f64 = 2.0;

/// What a load has to do: questions that end with the writers are as many as those leave time for.
pub fn work(load: &LoadRecord) -> Work {
    let work = Work::of(load);
    if load.phase == LIVE { Work { fewest: 0, ..work } } else { work }
}

fn paced(load: LoadSpec, a_second: f64) -> LoadSpec {
    let ticks = NonZeroU64::new(round_u64(a_second)).unwrap_or(NonZeroU64::MIN);
    LoadSpec { pacing: Pacing::Open(Schedule::per_second(ticks)), ..load }
}

/// Writes at so many a second until all are done, and questions without an end about what is complete. They follow a load that was not cut.
pub fn live(
    operation: &str,
    after: About,
    writing: LoadSpec,
    a_second: f64,
    asked: impl IntoIterator<Item = (&'static str, Arc<dyn Operations>)>,
) -> Step {
    let about = Some(About { phase: LIVE.to_owned(), load: writing.name.clone() });
    let asking = |(name, questions)| LoadSpec {
        accompanies: true,
        about: about.clone(),
        ..paced(LoadSpec::asking(name, questions, 1, Checking::All), ASKED)
    };
    let asking: Vec<LoadSpec> = asked.into_iter().map(asking).collect();
    let loads = std::iter::once(paced(writing, a_second)).chain(asking).collect();
    let phase = PhaseSpec { needs: vec![after], ..PhaseSpec::new(LIVE, loads) };
    Step::Run(phase.label(operation, LIVE))
}
