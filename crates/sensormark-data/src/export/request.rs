//! Which stretch of a workload's data is wanted, beside its numbers: `--start` and `--for` of `sensormark generate`.

use crate::{prelude::*, quantity::length_text, recording::shown};

/// Which of a workload's data is wanted.
#[derive(Debug, Clone, Copy)]
pub struct DataRequest {
    /// The seed.
    pub seed: u64,
    /// When the data begins, in ns since the Unix epoch; when the workload says where none is given.
    pub start_ns: Option<i64>,
    /// How much time it spans, in ns; what the workload's numbers say where none is given.
    pub duration_ns: Option<i64>,
}

impl DataRequest {
    /// The data that the workload itself writes.
    pub fn of(seed: u64) -> Self {
        Self { seed, start_ns: None, duration_ns: None }
    }

    /// How many steps of this length the data has, where that is said.
    ///
    /// # Errors
    /// That it is no whole number of steps, in words.
    pub fn steps(&self, workload: &str, step_ns: i64) -> Result<Option<u64>, String> {
        let Some(duration_ns) = self.duration_ns else {
            return Ok(None);
        };
        let steps = duration_ns / step_ns;
        if steps < 1 || steps * step_ns != duration_ns {
            return Err(format!(
                "--for {}: the data of {workload} comes in steps of {}; write a multiple of that",
                length_text(duration_ns),
                length_text(step_ns)
            ));
        }
        Ok(Some(steps.unsigned_abs()))
    }

    /// Refuses another start than the workload's own.
    ///
    /// # Errors
    /// That the data always begins then, in words.
    pub fn begins(&self, workload: &str, start_ns: i64) -> Result<(), String> {
        if self.start_ns.is_none_or(|wanted| wanted == start_ns) {
            return Ok(());
        }
        Err(format!(
            "--start: the data of {workload} always begins at {}, because its values depend on the time; leave --start out",
            shown(start_ns)
        ))
    }

    /// When so many steps end that begin at a time.
    ///
    /// # Errors
    /// That times would lie outside of [`TimeRange::OF_READINGS`], in words.
    pub fn end_ns(start_ns: i64, steps: u64, step_ns: i64) -> Result<i64, String> {
        let steps = i64::try_from(steps).ok();
        let end_ns = steps.and_then(|steps| steps.checked_mul(step_ns)?.checked_add(start_ns));
        let TimeRange { start_ns: first_ns, end_ns: last_ns } = TimeRange::OF_READINGS;
        end_ns.filter(|end_ns| start_ns >= first_ns && *end_ns <= last_ns).ok_or_else(|| {
            "times lie in the years 1970 to 2261: take another --start, or less with --for".to_owned()
        })
    }
}
