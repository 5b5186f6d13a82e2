//! What is measured, with its name, its unit and the mean that fits it: what tables have as columns, figures as points, and claims compare.

use super::select::{Metric, Results};
use super::table::{self, Column, NOT_MEASURED, Row, column, words};
use crate::claims::{self, Claim, Sample, Values, has};
use crate::field::Arm;
use crate::sections::cells::{counted, geometric_mean, mean};
use crate::tables::{Cell, Table};

/// Something that is measured of an implementation.
#[derive(Clone)]
pub struct Quantity<'a> {
    /// What a column is called.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// How it is found in a trial.
    pub metric: Metric<'a>,
    /// The mean over repetitions, or why there is none.
    mean: fn(&[Option<f64>], &str) -> Cell,
    /// Whether less of it is better.
    is_cost: bool,
    /// Why it is missing where it is.
    missing: String,
}

/// So much a second: the geometric mean, and more is better.
pub fn rate<'a>(name: impl Into<String>, unit: &'static str, metric: Metric<'a>) -> Quantity<'a> {
    Quantity { is_cost: false, ..time(name, unit, metric) }
}

/// A time: the geometric mean, and less is better.
pub fn time<'a>(name: impl Into<String>, unit: &'static str, metric: Metric<'a>) -> Quantity<'a> {
    Quantity { mean: geometric_mean, ..amount(name, unit, metric) }
}

/// What adds up, like space: the arithmetic mean, and less is better.
pub fn amount<'a>(name: impl Into<String>, unit: &'static str, metric: Metric<'a>) -> Quantity<'a> {
    Quantity { name: name.into(), unit, metric, mean, is_cost: true, missing: NOT_MEASURED.to_owned() }
}

/// A quantity for each of some numbers, called after it: "1 client", "16 clients".
pub fn by_number<'a>(
    numbers: &[u64],
    noun: &str,
    quantity: impl Fn(u64) -> Quantity<'a>,
) -> Vec<Quantity<'a>> {
    let named = |&number: &u64| {
        let count = usize::try_from(number).unwrap_or(usize::MAX);
        quantity(number).called(counted(count, noun))
    };
    numbers.iter().map(named).collect()
}

impl Quantity<'_> {
    /// The same by another name.
    pub fn called(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The same with another reason why it is missing.
    pub fn or(mut self, missing: impl Into<String>) -> Self {
        self.missing = missing.into();
        self
    }

    /// Its mean over an implementation's repetitions.
    pub fn cell(&self, results: Results<'_>, arm: &Arm) -> Cell {
        self.mean_of(&results.values(arm, &self.metric))
    }

    /// The mean of these figures.
    pub fn mean_of(&self, values: &Values) -> Cell {
        (self.mean)(values, &self.missing)
    }

    /// The same as a table's column.
    pub fn column(&self, results: Results<'_>, arm: &Arm) -> Column {
        column(&self.name, self.unit, self.cell(results, arm))
    }

    /// A row of figures beside a study's, in rows each with its unit: `of` is what the row is about beside the quantity.
    pub fn beside(&self, results: Results<'_>, of: &str, arm: &Arm, printed: f64) -> Row {
        let mut columns = vec![column("unit", "", Cell::text(self.unit))];
        columns.extend(table::beside("", printed, self.cell(results, arm)));
        (words([of, &self.name]), columns)
    }

    /// Adds to a claim whether one implementation is so many times as good at it as another.
    pub fn judge(&self, claim: &mut Claim, one: &Sample<'_>, factor: f64, other: &Sample<'_>) {
        match self.is_cost {
            true => claim.cheaper(one, factor, other, self.unit),
            false => claim.over(one, factor, other, self.unit),
        }
    }
}

impl<'a> Results<'a> {
    /// The table with a row for each implementation and a column for each quantity.
    pub fn table(self, id: &str, title: &str, quantities: &[Quantity<'_>]) -> Table {
        let rows = self.arms().filter(|_| !quantities.is_empty());
        let rows = rows.map(|arm| (words([&arm.label]), self.columns(arm, quantities)));
        table::table(id, title, &["implementation"], rows)
    }

    /// These quantities of an implementation.
    pub fn columns(self, arm: &Arm, quantities: &[Quantity<'_>]) -> Vec<Column> {
        let columns = quantities.iter();
        columns.map(|one| one.column(self, arm)).collect()
    }

    /// The same; nothing where none of them was measured.
    pub fn columns_if_any(self, arm: &Arm, quantities: &[Quantity<'_>]) -> Option<Vec<Column>> {
        let mut all = quantities.iter();
        let is_any = all.any(|one| has(&self.values(arm, &one.metric)));
        is_any.then(|| self.columns(arm, quantities))
    }

    /// The implementation of a database, as it comes, that is the best at something; none where it was measured with one layout.
    pub fn best(self, title: &str, quantity: &Quantity<'_>) -> Option<Sample<'a>> {
        let own = self.as_it_comes(title).collect::<Vec<_>>();
        let is_alone = own.len() < 2;
        let samples = own.into_iter().filter(|_| !is_alone);
        let known = samples.filter_map(|arm| {
            let sample = self.sample(arm, &quantity.metric);
            let mean = claims::mean(&sample.values)?;
            Some((if quantity.is_cost { mean } else { -mean }, sample))
        });
        let best = known.min_by(|(one, _), (other, _)| one.total_cmp(other));
        best.map(|(_, sample)| sample)
    }
}
