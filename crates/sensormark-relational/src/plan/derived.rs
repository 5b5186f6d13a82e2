//! The statements for what is computed from readings: windows by their values, two series or two fields beside each other, what is near, where a value jumps.

use super::relation::{Builder, Relation};
use super::slot::Slot;
use super::{Form, GroupForm};
use crate::column_type::ColumnType;
use sensormark_store::{
    Aggregate, Derived, FieldSet, FieldType, Function, Grouping, Predicate, StoreError, TimeKey,
};

impl Builder<'_> {
    /// The statement's text and what its rows are.
    pub(super) fn derived(&mut self, derived: &Derived) -> Result<(String, Form), StoreError> {
        if let Derived::RowsByValue { fields, predicate } = *derived {
            return Ok(self.rows_by_value(fields, predicate));
        }
        let grouping = Grouping { window: derived.window(), ..Grouping::default() };
        let window = self.window_shape(grouping);
        let aggregate = |function| Aggregate { function, field: derived.inputs()[0] };
        let relation = self.inputs(derived);
        let start = window.map_or_else(String::new, |shape| self.window_start(&relation, shape));
        let text = match *derived {
            Derived::OutOfRange { field, .. } => {
                let [most, least] = [Function::Max, Function::Min].map(aggregate);
                let [most, least] = [self.plain(most, &relation)?, self.plain(least, &relation)?];
                let readings = readings(&relation);
                let (above, below) = (self.number(0), self.number(1));
                let kind = self.description.fields[field].kind;
                let is_out = |most: &str, least: &str| {
                    format!("{} > {above} OR {} < {below}", real(most, kind), real(least, kind))
                };
                if self.physical.dialect.has_having() {
                    let is_out = is_out(&most, &least);
                    format!("SELECT {start}, {most}, {least} FROM {readings} GROUP BY 1 HAVING {is_out}")
                } else {
                    let groups = format!("SELECT {start} AS w, {most} AS a, {least} AS b FROM {readings}");
                    let is_out = is_out("q.a", "q.b");
                    format!("SELECT q.w, q.a, q.b FROM ({groups} GROUP BY 1) q WHERE {is_out}")
                }
            }
            Derived::Difference { .. } => {
                let mean = self.plain(aggregate(Function::Mean), &relation)?;
                let means = |relation: &Relation| {
                    format!("(SELECT {start} AS w, {mean} AS v FROM {} GROUP BY 1)", readings(relation))
                };
                let these = means(&relation);
                self.is_of_other = true;
                let others = means(&self.inputs(derived));
                format!("SELECT q.w, o.v - q.v FROM {these} q JOIN {others} o ON o.w = q.w")
            }
            _ => self.of_readings(derived, &relation)?,
        };
        let values = derived.kinds(self.description).into_iter().enumerate().collect();
        let form = GroupForm {
            by_series: false,
            by_tag: None,
            window: match self.group_form(&[], &[], grouping, window) {
                Form::Groups(GroupForm { window: Some(time), .. }) => Some(time),
                _ => (!derived.is_of_all()).then_some(TimeKey::Nanoseconds),
            },
            by_day_part: false,
            values,
        };
        Ok((text, Form::Groups(form)))
    }

    /// What has no windows.
    fn of_readings(&mut self, derived: &Derived, relation: &Relation) -> Result<String, StoreError> {
        let value = |field: usize| relation.field(field).to_owned();
        let real = |field: usize| real(relation.field(field), self.description.fields[field].kind);
        let (readings, time, order) = (readings(relation), relation.ns.clone(), relation.order.join(", "));
        Ok(match *derived {
            Derived::Correlation { field, other } => {
                let columns = format!("corr({}, {})", real(field), real(other));
                super::aggregate::grouped(self.physical.dialect, &columns, &readings, 0)
            }
            Derived::CrossMean { field, other } => format!(
                "SELECT {time}, {}, {}, {} / 2.0 + {} / 2.0 FROM {readings} ORDER BY {order}",
                value(field),
                value(other),
                real(field),
                real(other)
            ),
            Derived::Nearest { fields: [field, other], .. } => {
                let [one, another] = [real(field), real(other)];
                let (a, b) = (self.number(0), self.number(1));
                let square =
                    format!("{} + {}", square(&format!("{one} - {a}")), square(&format!("{another} - {b}")));
                let ordered = format!(
                    "SELECT q.t, sqrt(q.d), q.a, q.b \
                     FROM (SELECT {time} AS t, {square} AS d, {} AS a, {} AS b FROM {readings}) q ORDER BY q.d, q.t",
                    relation.field(field),
                    relation.field(other)
                );
                self.physical.dialect.first_rows(&ordered, &self.slot(Slot::Count, ColumnType::I64))
            }
            Derived::Segments { field, .. } => {
                let value = real(field);
                let threshold = self.number(0);
                format!(
                    "SELECT min(q.t), max(q.t), avg(q.v) \
                     FROM (SELECT p.t, p.v, sum(CASE WHEN {} > {threshold} THEN 1 ELSE 0 END) OVER (ORDER BY p.t ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n \
                     FROM (SELECT {time} AS t, {value} AS v, lag({value}) OVER (ORDER BY {order}) AS b FROM {readings}) p) q GROUP BY q.n",
                    square("p.v - p.b")
                )
            }
            Derived::ZScores { field, beyond } => {
                let (value, real) = (value(field), real(field));
                let bound = match beyond {
                    Some(_) => format!(" AND abs(q.x - q.m) > {} * q.d", self.number(0)),
                    None => String::new(),
                };
                let columns = format!("{time} AS t, {value} AS v, {real} AS x");
                let from = if self.physical.dialect.composes_windows() {
                    format!(
                        "(SELECT {columns}, avg({real}) OVER () AS m, stddev_samp({real}) OVER () AS d FROM {readings}) q"
                    )
                } else {
                    let moments =
                        format!("SELECT avg({real}) AS m, stddev_samp({real}) AS d FROM {readings}");
                    format!(
                        "(SELECT p.t, p.v, p.x, o.m, o.d FROM (SELECT {columns} FROM {readings}) p CROSS JOIN ({moments}) o) q"
                    )
                };
                format!("SELECT q.t, q.v, (q.x - q.m) / q.d FROM {from} WHERE q.d > 0{bound} ORDER BY q.t")
            }
            _ => return Err(StoreError::unsupported("plan a question", "the client answers it")),
        })
    }

    fn number(&mut self, place: usize) -> String {
        self.slot(Slot::Number(place), ColumnType::F64)
    }

    /// The readings that have all inputs.
    fn inputs(&mut self, derived: &Derived) -> Relation {
        let mut relation = self.relation(derived.fields());
        for field in derived.fields().iter().filter(|&field| self.description.fields[field].nullable) {
            let present = format!("{} IS NOT NULL", relation.field(field));
            relation.conditions.push(present);
        }
        relation
    }

    fn rows_by_value(&mut self, fields: FieldSet, predicate: Predicate) -> (String, Form) {
        let mut relation = self.relation(fields.with(predicate.field));
        let value = relation.field(predicate.field).to_owned();
        let passes = self.passes(predicate, &value);
        relation.conditions.push(passes);
        self.rows_of(relation, fields)
    }
}

fn readings(relation: &Relation) -> String {
    format!("{}{}", relation.from, relation.filter())
}

/// A number as floating point.
fn real(value: &str, kind: FieldType) -> String {
    if kind == FieldType::F64 { value.to_owned() } else { format!("CAST({value} AS DOUBLE)") }
}

fn square(value: &str) -> String {
    format!("({value}) * ({value})")
}
