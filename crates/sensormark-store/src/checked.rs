//! What is known of a question before a database is asked: that its table cannot answer it, or that it finds nothing.

use crate::answer::Answer;
use crate::batch::Batch;
use crate::error::{ErrorKind, StoreError};
use crate::query::{Aggregate, Ask, DaySplit, Derived, Function, Query, Selection};
use crate::schema::{FieldSet, FieldType, Table, TagColumn};

const OPERATION: &str = "plan a question";

/// The largest number of its fields, and those that are computed with.
fn of_derived(derived: &Derived) -> Result<(Option<usize>, FieldSet), StoreError> {
    let all = derived.fields();
    Ok(match *derived {
        Derived::Interpolated { step_ns: ..=0, .. } => {
            let hint = "the grid has no steps; give one over 0 ns";
            return Err(StoreError::new(ErrorKind::Rejected, OPERATION, hint));
        }
        Derived::RowsByValue { fields, .. } if fields.is_empty() => (None, fields),
        Derived::RowsByValue { predicate, .. } => (all.iter().last(), FieldSet::one(predicate.field)),
        _ => (all.iter().last(), all),
    })
}

impl Query {
    /// Refuses what its table does not have.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`]: the table does not have the tag or field.
    /// - [`ErrorKind::Rejected`]: the question names no field, or a grid without steps.
    /// - [`ErrorKind::Unsupported`]: a threshold on text, or a function that the field's type does not have.
    pub fn check(&self, table: &Table) -> Result<(), StoreError> {
        let missing = |what: String| Err(StoreError::new(ErrorKind::NotFound, OPERATION, what));
        let unsupported = |what: &str| Err(StoreError::unsupported(OPERATION, what));
        let (mut grouped, mut is_compared, mut functions) = (None, false, &[][..]);
        let mut numbers = FieldSet::first(0);
        let field = match &self.ask {
            Ask::Point { fields } | Ask::Range { fields, .. } | Ask::LastReading { fields } => {
                fields.iter().last()
            }
            Ask::First(passes) | Ask::Last(passes) | Ask::SeriesMatching(passes) => {
                is_compared = true;
                Some(passes.field)
            }
            Ask::Minimum { field } => {
                is_compared = true;
                Some(*field)
            }
            Ask::Aggregate { aggregates, grouping, .. } => {
                (grouped, functions) = (grouping.by_tag, aggregates);
                aggregates.iter().map(|one| one.field).max()
            }
            Ask::Derived(derived) => {
                let (largest, computed) = of_derived(derived)?;
                numbers = computed;
                largest
            }
        };
        let selected = match &self.series {
            Selection::Tagged { tag, .. } => Some(*tag),
            _ => None,
        };
        if let Some(tag) = selected.into_iter().chain(grouped).find(|&tag| tag >= table.tags.len()) {
            return missing(format!("table {} has no tag number {tag}", table.name));
        }
        let Some(field) = field else {
            return Err(StoreError::new(ErrorKind::Rejected, OPERATION, "the question names no field"));
        };
        match table.fields.get(field) {
            None => return missing(format!("table {} has no field number {field}", table.name)),
            Some(field) if is_compared && field.kind == FieldType::Text => {
                return unsupported("text has no threshold and no minimum");
            }
            Some(_) => {}
        }
        if numbers.iter().any(|field| !table.fields[field].kind.is_number()) {
            return unsupported("only numbers are computed with");
        }
        let is_for = |one: &&Aggregate| match (one.function, table.fields[one.field].kind) {
            (Function::Count | Function::Last | Function::MostFrequent, _) => true,
            (Function::TimeWeightedShare, kind) => kind == FieldType::Bool,
            (_, kind) => kind.is_number(),
        };
        match functions.iter().find(|one| !is_for(one)) {
            Some(one) => unsupported(&format!("{:?} is not for fields of this type", one.function)),
            None => Ok(()),
        }
    }

    /// The answer to a question that finds nothing whatever is stored, so that the database need not be asked; the database keeps times in units of so many ns.
    pub fn finds_nothing(&self, table: &Table, unit_ns: i64) -> Option<Answer> {
        let count = table.series.len();
        let no_time = match self.ask {
            Ask::Point { .. } => self.range.start_ns.rem_euclid(unit_ns) != 0,
            _ => self.range.end_ns <= self.range.start_ns,
        };
        let no_series = match &self.series {
            Selection::One(series) => *series >= count,
            Selection::Set(set) => set.iter().all(|&series| series >= count),
            Selection::Tagged { tag, value } => match &table.series.columns()[*tag] {
                TagColumn::Integer(_) => {
                    value.parse::<i64>().map_or(true, |number| number.to_string() != *value)
                }
                TagColumn::Text(_) => false,
            },
            Selection::All => false,
        };
        let no_other = match self.ask {
            Ask::Derived(Derived::Difference { other, .. }) => other >= count,
            Ask::Derived(Derived::Nearest { count, .. }) => count == 0,
            _ => false,
        };
        (no_time || no_series || no_other).then(|| match self.ask {
            Ask::Point { .. }
            | Ask::Range { .. }
            | Ask::LastReading { .. }
            | Ask::Derived(Derived::RowsByValue { .. }) => Answer::Readings(Batch::new(self.table, table)),
            Ask::First(_) | Ask::Last(_) | Ask::Minimum { .. } => Answer::Moment(None),
            Ask::Aggregate { .. } | Ask::Derived(_) => Answer::Groups(Vec::new()),
            Ask::SeriesMatching(_) => Answer::Series(Vec::new()),
        })
    }

    /// Refuses what sums of these periods and this split of the day do not hold.
    ///
    /// # Errors
    /// Why, in words.
    pub fn check_sums(&self, per_ns: i64, split: DaySplit) -> Result<(), &'static str> {
        let whole = |ns: i64| ns.rem_euclid(per_ns) == 0;
        if !whole(self.range.start_ns) || !whole(self.range.end_ns) {
            return Err("the range does not start and end with the periods of the sums");
        }
        let Ask::Aggregate { grouping, .. } = &self.ask else { return Ok(()) };
        if grouping.window.is_some_and(|window| !whole(window.width_ns) || !whole(window.origin_ns)) {
            return Err("the windows are not made of whole periods of the sums");
        }
        if grouping.by_day_part.is_some_and(|other| other != split) {
            return Err("the sums split the day elsewhere");
        }
        Ok(())
    }
}
