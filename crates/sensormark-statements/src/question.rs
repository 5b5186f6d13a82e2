//! From a question of the contract to one of the named questions, and its statements.

use crate::physical::{Physical, wrong_template};
use crate::slots::Bound;
use crate::table::TableShape;
use crate::text;
use minijinja::{Value, context};
use sensormark_store::{
    Aggregate, Ask, Comparison, Derived, FieldSet, FieldType, Function, Grouping, Operation, Predicate,
    Query, Selection, StoreError, Table, TimeRange, Window,
};

/// A question with its table.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The plan's tables.
    pub physical: &'a Physical,
    /// The question's table.
    pub table: &'a TableShape,
    /// The same, as the schema describes it.
    pub description: &'a Table,
    /// The question.
    pub query: &'a Query,
}

/// A statement as it is sent.
#[derive(Debug)]
pub struct Statement {
    /// The text, with placeholders.
    pub text: String,
    /// What the placeholders stand for, in the order of their numbers.
    pub slots: Vec<Bound>,
    /// The names of their types.
    pub types: Vec<String>,
    /// What its rows are.
    pub form: Form,
    /// A session's setting that it wants; empty where it wants none.
    pub before: String,
}

/// What a statement's rows are made of, in the order of their columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// Readings: (keys,) time and these fields.
    Readings(FieldSet),
    /// Fields of readings: (keys,) time, number of the field, then its value: in the only column, or in that of its type.
    FieldRows(FieldSet, Vec<FieldType>),
    /// Records: (keys,) number of the span, and what holds these fields.
    Records(FieldSet, RecordForm),
    /// Readings or records of each series in the order of time, or backwards, of which no more are wanted once one answers the question about these fields.
    Walked(FieldSet),
    /// Times of readings that are then asked for as points with these fields: (keys,) time.
    Times(FieldSet),
    /// A time and a value of this type.
    Moment(FieldType),
    /// Keys alone.
    Series,
    /// Aggregates: the parts of the group that are there, then these values (the number of the aggregate, and the value's type).
    Groups(Vec<(usize, FieldType)>),
}

/// How a record comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordForm {
    /// As a document: JSON or packed bytes.
    Document,
    /// As JSON arrays, one of offsets and one a field.
    JsonArrays,
    /// As arrays of the database's own.
    Arrays,
}

/// A question without its values: all that the texts of its statements depend on, the layout apart. What texts depend on besides stands in the place of its range.
pub fn shape(query: &Query, range: TimeRange) -> Query {
    let series = match &query.series {
        Selection::One(_) => Selection::One(0),
        Selection::Set(set) => Selection::Set(vec![0; set.len()]),
        Selection::Tagged { tag, .. } => Selection::Tagged { tag: *tag, value: String::new() },
        Selection::All => Selection::All,
    };
    let mut ask = query.ask.clone();
    match &mut ask {
        Ask::First(passes) | Ask::Last(passes) | Ask::SeriesMatching(passes) => passes.threshold = 0.0,
        Ask::Range { coarse_filter, .. } => *coarse_filter = false,
        Ask::Aggregate { grouping: Grouping { window: Some(window), .. }, .. } => {
            *window = Window { width_ns: 0, origin_ns: 0 };
        }
        Ask::Derived(derived) => *derived = derived.without_values(),
        _ => {}
    }
    Query { table: query.table, series, range, ask }
}

/// What computes this function by itself, where it does not go together with others in one GROUP BY (`-> aggregate`).
const fn own_statement(function: Function) -> Option<&'static str> {
    match function {
        Function::Last => Some("last_values"),
        Function::TimeWeightedShare => Some("shares"),
        Function::MostFrequent => Some("most_frequent_values"),
        Function::StandardDeviation => Some("standard_deviation"),
        _ => None,
    }
}

/// The statement of what is derived bears the operation's name.
pub fn derived_statement(operation: Operation) -> String {
    serde_json::to_value(operation).ok().and_then(|name| Some(name.as_str()?.to_owned())).unwrap_or_default()
}

/// The type of an aggregate's value.
const fn value_type(function: Function, kind: FieldType) -> FieldType {
    match (function, kind) {
        (Function::Count, _) => FieldType::I64,
        (Function::Sum, FieldType::F64)
        | (Function::Mean | Function::StandardDeviation | Function::TimeWeightedShare, _) => FieldType::F64,
        (Function::Sum, _) => FieldType::I64,
        _ => kind,
    }
}

impl<'a> Asked<'a> {
    /// A question that can be asked.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::NotFound`] for a table that the schema does not have; as [`Query::check`].
    pub fn new(physical: &'a Physical, query: &'a Query) -> Result<Self, StoreError> {
        let description = physical.schema.table(query.table)?;
        query.check(description)?;
        Ok(Self { physical, table: &physical.tables[query.table], description, query })
    }

    /// Whether rows of the answer say which series they are of.
    pub fn has_keys(&self) -> bool {
        !matches!(self.query.series, Selection::One(_)) && !self.table.series.keys().is_empty()
    }

    /// The groups of an aggregate.
    pub fn grouping(&self) -> Grouping {
        match &self.query.ask {
            Ask::Aggregate { grouping, .. } => *grouping,
            _ => Grouping::default(),
        }
    }

    /// The aggregates; none of another question.
    pub fn aggregates(&self) -> &'a [Aggregate] {
        match &self.query.ask {
            Ask::Aggregate { aggregates, .. } => aggregates,
            _ => &[],
        }
    }

    /// The windows, or the times, of groups.
    pub fn window(&self) -> Option<Window> {
        match &self.query.ask {
            Ask::Derived(derived) => derived.window(),
            _ => self.grouping().window,
        }
    }

    /// The windows that templates print, from the first origin after 1970; none where they are bound.
    pub fn printed(&self) -> Option<Window> {
        let mut window = self.window().filter(|_| self.physical.files.config.slots.printed_windows)?;
        window.origin_ns = window.origin_ns.rem_euclid(window.width_ns.max(1));
        Some(window)
    }

    /// What the question's range and windows are like, where templates see it. In this order: the range begins and ends with spans; windows are not counted from the
    /// epoch; each window is a span; a span is compared with the range at all.
    pub fn likeness(&self) -> [bool; 4] {
        if !self.physical.files.config.slots.by_likeness {
            return [false; 4];
        }
        let (range, window, span_ns) = (self.query.range, self.window(), self.physical.span_ns());
        let is_whole = |ns: i64| span_ns.is_some_and(|span_ns| ns.rem_euclid(span_ns) == 0);
        let is_point = matches!(self.query.ask, Ask::Point { .. });
        let of_span = |window: &Window| Some(window.width_ns) == span_ns && is_whole(window.origin_ns);
        [
            !is_point && is_whole(range.start_ns) && is_whole(range.end_ns),
            window.is_some_and(|window| window.origin_ns != 0),
            window.as_ref().is_some_and(of_span),
            matches!(self.query.ask, Ask::Range { coarse_filter: false, .. }),
        ]
    }

    /// What texts depend on beside the question's form: windows that are printed, and what it is like.
    pub fn variant(&self) -> TimeRange {
        let window = self.printed().unwrap_or(Window { width_ns: 0, origin_ns: 0 });
        let bits = self.likeness().iter().fold(0, |bits, &is| bits << 1 | i64::from(is));
        TimeRange { start_ns: window.width_ns, end_ns: window.origin_ns << 4 | bits }
    }

    /// Whether groups have a time.
    pub fn has_times(&self) -> bool {
        match &self.query.ask {
            Ask::Derived(derived) => !derived.is_of_all(),
            _ => self.grouping().window.is_some(),
        }
    }

    /// What templates see: the table, and the question about these fields and aggregates.
    fn context(&self, statement: &str, chosen: FieldSet, numbers: &[usize]) -> Value {
        let grouping = self.grouping();
        let keys = if grouping.by_series { self.table.series.keys().len() } else { 0 };
        let (of, named, tag) = match &self.query.series {
            Selection::One(_) => ("one", 0, None),
            Selection::Set(set) => ("set", set.len(), None),
            Selection::Tagged { tag, .. } => ("tagged", 0, Some(&self.table.tags[*tag])),
            Selection::All => ("all", self.description.series.len() as usize, None),
        };
        let is_below = match &self.query.ask {
            Ask::First(passes)
            | Ask::Last(passes)
            | Ask::SeriesMatching(passes)
            | Ask::Derived(Derived::RowsByValue { predicate: passes, .. }) => {
                passes.comparison == Comparison::Below
            }
            _ => false,
        };
        let (inputs, shown, is_bounded) = match &self.query.ask {
            Ask::Derived(derived @ Derived::RowsByValue { fields, .. }) => (derived.inputs(), *fields, false),
            Ask::Derived(derived) => {
                let is_bounded = matches!(derived, Derived::ZScores { beyond: Some(_), .. });
                (derived.inputs(), chosen, is_bounded)
            }
            _ => (chosen.iter().collect(), chosen, false),
        };
        let fields = |numbers: Vec<usize>| {
            numbers.into_iter().map(|field| &self.table.fields[field]).collect::<Vec<_>>()
        };
        let function = |&number: &usize| {
            let Aggregate { function, field } = self.aggregates()[number];
            context! { name => function, field => self.table.fields[field] }
        };
        let [whole_spans, displaced, of_span, fine] = self.likeness();
        let groups = [grouping.by_tag.is_some(), grouping.window.is_some(), grouping.by_day_part.is_some()];
        context! {
            statement,
            of,
            named,
            tag,
            chosen => fields(chosen.iter().collect()),
            inputs => fields(inputs),
            shown => fields(shown.iter().collect()),
            is_bounded,
            above => !is_below,
            functions => numbers.iter().map(function).collect::<Vec<_>>(),
            by_series => keys > 0,
            by_tag => grouping.by_tag.map(|tag| &self.table.tags[tag]),
            windows => groups[1],
            printed => self.printed(),
            day_parts => groups[2],
            whole_spans,
            displaced,
            of_span,
            fine,
            group_count => keys + groups.into_iter().filter(|&is_there| is_there).count(),
            day_start => grouping.by_day_part.map(|split| split.day_start_ns),
            day_end => grouping.by_day_part.map(|split| split.day_end_ns),
            ..self.table.context.clone()
        }
    }

    /// The statement of this name for everything in the table.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::Configuration`] when its template is wrong, or there is none.
    pub fn all(&self, name: &str) -> Result<Statement, StoreError> {
        let scan = self.statement(name, self.description.all_fields(), &[])?;
        scan.ok_or_else(|| wrong_template(format!("a store has a statement `{name}`")))
    }

    /// A statement about these fields and aggregates; none where the layout does not have it.
    fn statement(
        &self,
        name: &str,
        chosen: FieldSet,
        numbers: &[usize],
    ) -> Result<Option<Statement>, StoreError> {
        let templates = &self.physical.templates;
        let context = self.context(name, chosen, numbers);
        let text = templates.render(name, &context).map_err(wrong_template)?;
        if text.is_empty() {
            return Ok(None);
        }
        let (text, names) = text::numbered(&text, &self.physical.files.config.slots.style);
        let (mut slots, mut types) = (Vec::new(), Vec::new());
        for name in &names {
            // The n-th of the series that are named.
            let nth = name.strip_prefix("nth").and_then(|rest| rest.split_once('_'));
            let slot = self.table.slots.get(nth.map_or(name.as_str(), |(_, slot)| slot));
            let Some((value, type_name)) = slot.and_then(|slot| Some((slot.value?, &slot.type_name))) else {
                return Err(wrong_template(format!("a question has no value :{name}")));
            };
            slots.push(match (nth.and_then(|(nth, _)| nth.parse().ok()), value) {
                (Some(nth), Bound::Key(key)) => Bound::Nth(nth, key),
                _ => value,
            });
            types.push(match &self.query.series {
                Selection::Tagged { tag, .. } if value == Bound::Tag => {
                    let column = &self.description.series.columns()[*tag];
                    self.physical.files.config.tag_type(column)
                }
                _ => type_name.clone(),
            });
        }
        let words = templates.form_for(name, &context).map_err(wrong_template)?;
        let before = templates.render("before", &context).map_err(wrong_template)?;
        Ok(Some(Statement { text, slots, types, form: self.form(&words, chosen, numbers), before }))
    }

    /// What a statement's rows are, by the question and the words behind `->`.
    fn form(&self, words: &str, fields: FieldSet, numbers: &[usize]) -> Form {
        let kind = |field: usize| self.description.fields[field].kind;
        let value = |&number: &usize| {
            let Aggregate { function, field } = self.aggregates()[number];
            (number, value_type(function, kind(field)))
        };
        match (&self.query.ask, words) {
            (_, "walked") => Form::Walked(fields),
            (_, "readings") => Form::Readings(fields),
            (
                Ask::First(Predicate { field, .. })
                | Ask::Last(Predicate { field, .. })
                | Ask::Minimum { field },
                _,
            ) => Form::Moment(kind(*field)),
            (Ask::SeriesMatching(_), _) => Form::Series,
            (Ask::Derived(Derived::RowsByValue { fields, .. }), _) => Form::Readings(*fields),
            (Ask::Derived(derived), _) => {
                Form::Groups(derived.kinds(self.description).into_iter().enumerate().collect())
            }
            (Ask::Aggregate { .. }, _) => Form::Groups(numbers.iter().map(value).collect()),
            (_, "times") => Form::Times(fields),
            (_, "field rows") => Form::FieldRows(fields, Vec::new()),
            (_, "typed field rows") => {
                let mut kinds: Vec<FieldType> = Vec::new();
                for kind in fields.iter().map(kind) {
                    if !kinds.contains(&kind) {
                        kinds.push(kind);
                    }
                }
                Form::FieldRows(fields, kinds)
            }
            (_, "json records" | "packed") => Form::Records(fields, RecordForm::Document),
            (_, "json columns") => Form::Records(fields, RecordForm::JsonArrays),
            (_, "columns") => Form::Records(fields, RecordForm::Arrays),
            _ => Form::Readings(fields),
        }
    }

    /// A statement of some of the aggregates.
    fn groups(&self, name: &str, numbers: &[usize]) -> Result<Option<Statement>, StoreError> {
        let aggregates = self.aggregates();
        let fields =
            numbers.iter().fold(FieldSet::first(0), |set, &number| set.with(aggregates[number].field));
        self.statement(name, fields, numbers)
    }

    /// Aggregates over readings: one statement, or one for what GROUP BY computes by itself and one for each of the others.
    fn of_readings(&self) -> Result<Vec<Statement>, StoreError> {
        let templates = &self.physical.templates;
        let alone = |name: &&str| templates.form(name) != "aggregate";
        let own = |number: &usize| own_statement(self.aggregates()[*number].function).filter(alone);
        let all: Vec<usize> = (0..self.aggregates().len()).collect();
        let (special, plain): (Vec<usize>, Vec<usize>) = all.iter().partition(|number| own(number).is_some());
        if !special.is_empty()
            && let Some(one) = self.groups("statistics", &all)?
        {
            return Ok(vec![one]);
        }
        let mut parts = vec![("aggregate", plain)];
        parts.extend(special.iter().filter_map(|number| Some((own(number)?, vec![*number]))));
        let parts = parts.iter().filter(|(_, numbers)| !numbers.is_empty());
        let statements = parts.map(|(name, numbers)| self.groups(name, numbers).transpose());
        statements.collect::<Option<Result<_, _>>>().unwrap_or_else(|| Ok(Vec::new()))
    }

    /// Aggregates over sums that were kept at write time.
    fn of_sums(&self) -> Result<Vec<Statement>, StoreError> {
        let operation = format!("aggregate in {}", self.physical.files.config.title);
        let refuse = |text: &str| StoreError::unsupported(operation.as_str(), text);
        let (per_ns, split) = self.physical.summary().ok_or_else(|| refuse(NO_SUMS))?;
        self.query.check_sums(per_ns, split).map_err(refuse)?;
        let sums = self.groups("sums", &(0..self.aggregates().len()).collect::<Vec<_>>())?;
        Ok(vec![sums.ok_or_else(|| refuse(NO_SUMS))?])
    }

    /// The statements for the question; where there are several, each gives some of the groups' values. Where there is none, the client answers from the
    /// readings.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::Unsupported`] for what cannot be answered.
    pub fn planned(&self) -> Result<Vec<Statement>, StoreError> {
        let (name, fields) = match &self.query.ask {
            Ask::Aggregate { from_sums: true, .. } => return self.of_sums(),
            Ask::Aggregate { .. } => return self.of_readings(),
            Ask::Point { fields } => ("point", *fields),
            Ask::Range { fields, .. } => ("range", *fields),
            Ask::LastReading { fields } => ("latest", *fields),
            Ask::First(passes) => ("first", FieldSet::one(passes.field)),
            Ask::Last(passes) => ("last", FieldSet::one(passes.field)),
            Ask::Minimum { field } => ("minimum", FieldSet::one(*field)),
            Ask::SeriesMatching(passes) => ("matching", FieldSet::one(passes.field)),
            Ask::Derived(derived) => (&*derived_statement(Operation::of(derived)), derived.fields()),
        };
        let found = match self.statement(name, fields, &[])? {
            None if name == "latest" => self.statement("latest_times", fields, &[])?,
            found => found,
        };
        Ok(found.into_iter().collect())
    }
}

/// Why a layout without sums refuses to answer from sums.
pub const NO_SUMS: &str = "only the layout with a summary keeps sums";
