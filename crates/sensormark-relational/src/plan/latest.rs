//! The latest reading of each series, by the dialect's way.

use super::relation::{Builder, filter};
use super::slot::Slot;
use super::{Form, with_keys};
use crate::column_type::ColumnType;
use crate::dialect::{SeriesSet, Walk};
use crate::physical_schema::PhysicalSchema;
use crate::table::{Content, joined};
use sensormark_store::{Ask, Encoding, FieldSet, Query, Selection};

/// How many series there are whose latest readings a question asks for one by one. Each has a part of the statement, which ends at the first reading that it
/// finds. None where one statement is about all of them, or the question is another.
pub(super) fn one_by_one(query: &Query, physical: &PhysicalSchema) -> Option<usize> {
    let Ask::LastReading { fields } = query.ask else {
        return None;
    };
    let (description, table) = physical.table(query.table).ok()?;
    let known = description.series.len();
    let count = match &query.series {
        Selection::Set(set) => set.iter().filter(|&&series| series < known).count(),
        Selection::All => known as usize,
        Selection::One(_) | Selection::Tagged { .. } => 0,
    };
    let is_condition =
        !physical.is_row_per_field() && fields.iter().all(|field| description.fields[field].nullable);
    let dialect = physical.dialect;
    let most = dialect.most_one_by_one(&physical.layout, table, is_condition);
    let is_so = !table.keys.is_empty() && (1..=most).contains(&count);
    is_so.then_some(count)
}

impl Builder<'_> {
    /// The latest reading of each chosen series that has any of these fields.
    pub(super) fn latest(&mut self, fields: FieldSet) -> (String, Form) {
        let Some(count) = one_by_one(self.query, self.physical) else {
            return self.latest_of(fields);
        };
        let (mut parts, mut form) = (Vec::new(), Form::Readings(fields));
        for member in 0..count {
            self.member = Some(member);
            let (part, its) = self.latest_of(fields);
            parts.push(format!("({part})"));
            form = its;
        }
        (parts.join(" UNION ALL "), form)
    }

    /// The same by one statement: of all chosen series, or of the one that is being written about.
    fn latest_of(&mut self, fields: FieldSet) -> (String, Form) {
        let walk = self.physical.dialect.walk(self.physical.layout.index);
        match walk {
            Walk::Lateral if self.physical.is_row_per_field() => self.latest_fields(fields),
            Walk::Lateral => self.latest_each(fields),
            _ if self.physical.span().is_some() => self.latest_times(fields, walk),
            _ if self.is_single() && !self.physical.is_row_per_field() => {
                let keys = self.leading_keys();
                (self.latest_row(fields, keys), Form::Readings(fields))
            }
            Walk::LatestOn if !self.physical.is_row_per_field() => self.latest_on(fields),
            Walk::Grouped | Walk::LatestOn if !self.is_single() => self.at_grouped_times(fields),
            _ => self.at_latest_times(fields),
        }
    }

    /// For each series, one step down the index.
    fn latest_each(&mut self, fields: FieldSet) -> (String, Form) {
        let inner = match self.physical.span() {
            Some((span_ns, encoding)) => self.latest_in_records(fields, span_ns, encoding),
            None => self.latest_row(fields, Vec::new()),
        };
        if self.table.keys.is_empty() {
            return (inner, Form::Readings(fields));
        }
        let (series, keys) = (self.chosen_series(), self.answer_keys("s"));
        let text = format!("SELECT {keys}l.* FROM {series} CROSS JOIN LATERAL ({inner}) l");
        (text, Form::Readings(fields))
    }

    /// The latest row: of the series `s` where readings are looked at series by series, else of the one series. It begins with these columns.
    fn latest_row(&mut self, fields: FieldSet, keys: Vec<String>) -> String {
        let mut relation = self.relation_of_all(fields);
        if self.physical.dialect.walk(self.physical.layout.index) == Walk::Lateral {
            relation.conditions.extend(self.of_this_series());
        } else {
            relation.conditions.extend(self.selected());
        }
        let present = self.any_present(&relation, fields);
        relation.conditions.extend(present);
        let values = fields.iter().map(|field| relation.field(field).to_owned());
        let time = self.physical.dialect.answered_time(&relation.time);
        let columns = joined(keys.into_iter().chain([time]).chain(values));
        let (filter, order) = (relation.filter(), relation.ordered(" DESC").join(", "));
        format!("SELECT {columns} FROM {}{filter} ORDER BY {order} LIMIT 1", relation.from)
    }

    /// Records are opened one after the other, the latest first, until one holds such a reading.
    fn latest_in_records(&mut self, fields: FieldSet, span_ns: i64, encoding: Encoding) -> String {
        let expansion = self.expansion(fields, span_ns, encoding);
        let span = format!("r.{}", self.table.time);
        let length = self.physical.dialect.whole(span_ns);
        let time = format!("{span} * {length} + {}", expansion.offset);
        let mut within = Vec::from(self.time_limits(&time));
        if fields.iter().all(|field| self.description.fields[field].nullable) {
            let present: Vec<String> =
                expansion.fields.iter().map(|(_, text)| format!("{text} IS NOT NULL")).collect();
            within.push(format!("({})", present.join(" OR ")));
        }
        let mut conditions = self.of_this_series();
        conditions.push(self.spans());
        format!(
            "SELECT o.* FROM {table} r CROSS JOIN LATERAL (SELECT {columns} FROM {from} WHERE {within} \
             ORDER BY 1 DESC LIMIT 1) o WHERE {filter} ORDER BY {span} DESC, o.t DESC LIMIT 1",
            table = self.table.name,
            columns = joined(
                [format!("{time} AS t")]
                    .into_iter()
                    .chain(expansion.fields.iter().map(|(field, text)| format!("{text} AS f{field}"))),
            ),
            from = expansion.from,
            within = within.join(" AND "),
            filter = conditions.join(" AND "),
        )
    }

    /// The latest row of each series, by the database's own clause. It names columns without the table.
    ///
    /// Named keys of one column end the search when all of them are found. Any other condition would be tried on every row, so it comes after the search where it
    /// is about whole series. QuestDB 9.3.4 may besides answer with another series' row where one symbol with an index is asked for with a further condition
    /// (<https://github.com/questdb/questdb/pull/7333>).
    fn latest_on(&mut self, fields: FieldSet) -> (String, Form) {
        let mut relation = self.relation_of_all(fields);
        let present = self.any_present(&relation, fields);
        let names = self.table.key_names();
        let is_tagged = matches!(self.query.series, Selection::Tagged { .. });
        let chosen = self.selected();
        let (before, after) = if names.len() == 1 && !is_tagged && present.is_none() {
            (chosen, None)
        } else {
            (present, chosen)
        };
        relation.conditions.extend(before);
        let values = fields.iter().map(|field| relation.field(field).to_owned());
        let time = self.physical.dialect.answered_time(&relation.time);
        let columns = joined(self.leading_keys().into_iter().chain([time]).chain(values));
        let (time, names) = (&self.table.time, names.join(", "));
        let (from, filter) = (&relation.from, relation.filter());
        let latest = format!("{from}{filter} LATEST ON {time} PARTITION BY {names}");
        let text = match after {
            None => format!("SELECT {columns} FROM {latest}"),
            Some(chosen) => {
                format!("SELECT {columns} FROM (SELECT * FROM {latest}) r WHERE {chosen}")
            }
        };
        (text, Form::Readings(fields))
    }

    /// In rows of one field: the latest time at which a series has any of the fields, then its rows of that time.
    fn latest_fields(&mut self, fields: FieldSet) -> (String, Form) {
        let time = self.table.time.clone();
        let mut conditions = Vec::from(self.time_limits(&format!("r.{time}")));
        conditions.push(self.field_condition(fields));
        conditions.extend(self.of_this_series());
        let latest = format!(
            "SELECT r.{time} AS t FROM {} r WHERE {} ORDER BY r.{time} DESC LIMIT 1",
            self.table.name,
            conditions.join(" AND ")
        );
        let series = if self.table.keys.is_empty() {
            format!("({latest}) l")
        } else {
            format!("{} CROSS JOIN LATERAL ({latest}) l", self.chosen_series())
        };
        let mut matches = self.of_this_series();
        matches.push(format!("r.{time} = l.t"));
        let from = format!("{series} JOIN {} r ON {}", self.table.name, matches.join(" AND "));
        self.field_rows(fields, &from, Vec::new())
    }

    /// Where a reading is not a row: each series and the time of its latest reading. The readings are points that follow.
    fn latest_times(&mut self, fields: FieldSet, walk: Walk) -> (String, Form) {
        let form = Form::Times(fields);
        let is_walked = walk == Walk::Correlated && !self.is_single();
        let mut relation = self.relation_of_all(fields);
        if is_walked {
            relation.conditions.extend(self.of_this_series());
        } else {
            relation.conditions.extend(self.selected());
        }
        let present = self.any_present(&relation, fields);
        relation.conditions.extend(present);
        let (from, filter, time) = (&relation.from, relation.filter(), &relation.time);
        let mut order = self.coarse_order(" DESC");
        order.extend(relation.order.iter().map(|term| format!("{term} DESC")));
        let order = order.join(", ");
        let latest = format!("{time} FROM {from}{filter} ORDER BY {order} LIMIT 1");
        if self.is_single() {
            let keys = self.leading_keys().into_iter();
            let columns: String = keys.map(|key| format!("{key}, ")).collect();
            return (format!("SELECT {columns}{latest}"), form);
        }
        let text = if is_walked {
            let (series, keys) = (self.chosen_series(), self.answer_keys("s"));
            format!("SELECT {keys}(SELECT {latest}) FROM {series}")
        } else {
            let keys = relation.keys.join(", ");
            format!("SELECT {keys}, max({time}) FROM {from}{filter} GROUP BY {keys}")
        };
        (text, form)
    }

    /// What records are in the order of before time: their spans, in this direction (`""` or `" DESC"`).
    pub(super) fn coarse_order(&self, direction: &str) -> Vec<String> {
        let span = self.physical.span();
        let terms = span.map(|_| format!("r.{}{direction}", self.table.time));
        terms.into_iter().collect()
    }

    /// The rows at the latest time of each series, which a subquery finds series by series; with repeated writes, all of them.
    fn at_latest_times(&mut self, fields: FieldSet) -> (String, Form) {
        let is_single = self.is_single();
        let driver = if is_single { String::new() } else { format!("{} CROSS JOIN ", self.chosen_series()) };
        let mut relation = self.relation_of_all(fields);
        let chosen: Vec<String> =
            if is_single { self.selected().into_iter().collect() } else { self.of_this_series() };
        let present = self.any_present(&relation, fields);
        relation.conditions.extend(chosen.clone());
        relation.conditions.extend(present.clone());
        let latest = format!("SELECT max({}) FROM {}{}", relation.time, relation.from, relation.filter());
        let mut conditions = chosen;
        conditions.push(format!("{} = ({latest})", relation.time));
        conditions.extend(present);
        let from = format!("{driver}{}", relation.from);
        self.rows_at(fields, &from, conditions)
    }

    /// The latest time of each series, which an index on (series, time) gives by itself, then the rows of these times.
    fn at_grouped_times(&mut self, fields: FieldSet) -> (String, Form) {
        let mut relation = self.relation(fields);
        let present = self.any_present(&relation, fields);
        relation.conditions.extend(present.clone());
        let (keys, time) = (relation.keys.join(", "), &relation.time);
        let filter = relation.filter();
        if !self.physical.dialect.joins_latest() {
            let from = &relation.from;
            let mut conditions = vec![format!(
                "({keys}, {time}) IN (SELECT {keys}, max({time}) FROM {from}{filter} GROUP BY {keys})"
            )];
            conditions.extend(present);
            return self.rows_at(fields, from, conditions);
        }
        let mut matches: Vec<String> = self
            .table
            .key_columns()
            .map(|column| format!("r.{name} = m.{name}", name = column.name))
            .collect();
        matches.push(format!("{time} = m.t"));
        let from = format!(
            "(SELECT {keys}, max({time}) AS t FROM {from}{filter} GROUP BY {keys}) m JOIN {from} ON {}",
            matches.join(" AND "),
            from = relation.from,
        );
        self.rows_at(fields, &from, present.into_iter().collect())
    }

    /// Rows of readings (or of fields) from these tables.
    fn rows_at(&mut self, fields: FieldSet, from: &str, conditions: Vec<String>) -> (String, Form) {
        if self.physical.is_row_per_field() {
            return self.field_rows(fields, from, conditions);
        }
        let names = fields.iter().map(|field| format!("r.{}", self.table.field_names[field]));
        let mut columns = self.leading_keys();
        let time = format!("r.{}", self.table.time);
        columns.push(self.physical.dialect.answered_time(&time));
        let order = self
            .repeat()
            .map_or_else(String::new, |repeat| format!(" ORDER BY {}, {repeat}", columns.join(", ")));
        columns.extend(names);
        let text = format!("SELECT {} FROM {from}{}{order}", columns.join(", "), filter(&conditions));
        (text, Form::Readings(fields))
    }

    /// The conditions that a reading is of the series `s`.
    pub(super) fn of_this_series(&self) -> Vec<String> {
        self.table.key_columns().map(|column| format!("r.{name} = s.{name}", name = column.name)).collect()
    }

    fn answer_keys(&self, alias: &str) -> String {
        if !with_keys(&self.query.series, self.description) {
            return String::new();
        }
        self.table.key_columns().map(|column| format!("{alias}.{}, ", column.name)).collect()
    }

    /// The chosen series' keys as a relation `s`.
    pub(super) fn chosen_series(&mut self) -> String {
        let dialect = self.physical.dialect;
        let names = self.table.key_names();
        match (&self.query.series, &self.table.tags) {
            (Selection::One(_), _) => {
                let kinds: Vec<ColumnType> = self.table.key_columns().map(|column| column.kind).collect();
                let values = joined(names.iter().zip(kinds).enumerate().map(|(number, (name, kind))| {
                    let value = self.slot(Slot::Key(number), kind);
                    format!("{} AS {name}", dialect.typed(&value, kind))
                }));
                format!("(SELECT {values}) s")
            }
            (Selection::Set(_), _) => {
                let parameters = self.set_parameters(Slot::KeySet);
                dialect.set_as_relation(&names, &parameters)
            }
            (Selection::All, Some(tags)) => format!("{tags} s"),
            (Selection::All, None) => {
                if let ([key], SeriesSet::Json) = (names.as_slice(), dialect.series_set())
                    && let Some(scan) = dialect.skip_scan(self.table, key)
                {
                    return scan;
                }
                let parameters = self.set_parameters(Slot::KeyAll);
                dialect.set_as_relation(&names, &parameters)
            }
            (Selection::Tagged { tag, .. }, own) => {
                let kind = ColumnType::of_tag(&self.description.series.columns()[*tag]);
                let name = &self.table.tag_names[*tag];
                let value = self.slot(Slot::TagValue, kind);
                let from = own.as_ref().unwrap_or(&self.table.name);
                if own.is_none()
                    && names.len() == 1
                    && self.table.columns[self.table.keys[0]].content == Content::Tag(*tag)
                {
                    return format!("(SELECT {} AS {name}) s", dialect.typed(&value, kind));
                }
                let names = names.join(", ");
                format!("(SELECT DISTINCT {names} FROM {from} WHERE {name} = {value}) s")
            }
        }
    }
}
