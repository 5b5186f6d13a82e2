//! What of a run is looked at: loads by their operation and labels.

use super::*;

/// The label of a load that says which operation it is; every workload of phases has it.
const OPERATION: &str = "operation";

/// What tells loads of a phase apart: their names.
const NAME: &str = "load";

/// Loads of a trial by their labels.
pub struct Loads {
    labels: Vec<(String, Value)>,
}

/// Whether two labels say the same; 24 and 24.0 do.
fn same(one: &Value, other: &Value) -> bool {
    one == other || one.as_f64().is_some_and(|one| Some(one) == other.as_f64())
}

impl Loads {
    /// The loads that a text names: an operation, if it is one, and labels: `extract devices=1600`. A label that is `null` is not there.
    pub fn parse(text: &str) -> Self {
        let (labels, operation): (Vec<&str>, Vec<&str>) =
            text.split_whitespace().partition(|word| word.contains('='));
        let labels = labels.into_iter().filter_map(|label| label.split_once('='));
        let mut labels = labels.map(|(label, text)| (label.to_owned(), value(text))).collect_vec();
        if !operation.is_empty() {
            labels.push((OPERATION.to_owned(), operation.join(" ").into()));
        }
        Self { labels }
    }

    /// Whether a load is one of them.
    pub fn has(&self, load: &LoadRecord) -> bool {
        self.labels.iter().all(|(name, value)| match name.as_str() {
            NAME => *value == load.name,
            name => same(load.labels.get(name).unwrap_or(&Value::Null), value),
        })
    }

    /// Those of a trial, in order.
    pub fn all<'t>(&self, trial: &'t TrialRecord) -> impl Iterator<Item = &'t LoadRecord> {
        trial.loads.iter().filter(|load| self.has(load))
    }

    /// Those of a trial that the database supports and of which operations were finished.
    pub fn finished<'t>(&self, trial: &'t TrialRecord) -> impl Iterator<Item = &'t LoadRecord> {
        self.all(trial).filter(|load| load.not_supported.is_none() && load.operations() > 0)
    }

    /// The first of a trial.
    pub fn first<'t>(&self, trial: &'t TrialRecord) -> Option<&'t LoadRecord> {
        self.all(trial).next()
    }

    /// The first, if operations of it were finished.
    pub fn first_done<'t>(&self, trial: &'t TrialRecord) -> Option<&'t LoadRecord> {
        self.first(trial).filter(|load| load.operations() > 0)
    }

    /// Operations a second, over all of them.
    pub fn operations_a_second(&self, trial: &TrialRecord) -> Known {
        let (all, seconds) = self
            .finished(trial)
            .map(LoadRecord::counted)
            .fold((0.0, 0.0), |(all, seconds), one| (all + one.operations, seconds + one.seconds));
        (seconds > 0.0 && all > 0.0).then(|| all / seconds)
    }

    /// What samples say of their phases, each with how long that lasted.
    pub fn over_phases(
        &self,
        trial: &TrialRecord,
        get: impl Fn(&PhaseTotals) -> Known,
    ) -> Option<Vec<(f64, f64)>> {
        let totals =
            self.finished(trial).filter_map(|load| criteria::phase(trial, &load.phase)?.totals.as_ref());
        let totals = totals.filter(|totals| totals.span_ns > 0);
        totals.map(|totals| Some((get(totals)?, totals.span_ns as f64))).collect()
    }

    /// Why there is no figure of the first of them: the database does not support it, or it was not measured.
    pub fn why_missing(&self, field: &Field, arm: &Arm) -> String {
        let reason = field.valid_of(arm).find_map(|trial| self.first(trial)?.not_supported.as_ref());
        reason.map_or_else(|| NOT_MEASURED.to_owned(), |reason| format!("not supported: {reason}"))
    }

    /// Why one of them was cut, in some valid trial of an implementation.
    pub fn cut(&self, field: &Field, arm: &Arm) -> Option<String> {
        field.valid_of(arm).flat_map(|trial| self.all(trial)).find_map(|load| load.cut.clone())
    }
}
