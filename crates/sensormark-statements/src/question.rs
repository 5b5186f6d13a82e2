//! From a question of the contract to one of the named questions, and its statements.

use crate::physical::{Physical, wrong_template};
use crate::table::{Context, TableShape};
use crate::text;
use crate::values::Slot;
use minijinja::Value;
use sensormark_store::query::DaySplit;
use sensormark_store::{
    Aggregate, Answer, Ask, Batch, Comparison, ErrorKind, FieldSet, FieldType, Function, Grouping, Predicate,
    Query, Selection, StoreError, Table, TagColumn,
};

const OPERATION: &str = "plan a question";

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

/// All that the texts of a question's statements depend on, the layout apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    table: usize,
    of: OfShape,
    ask: AskShape,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum OfShape {
    One,
    Set,
    Tagged(usize),
    All,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum AskShape {
    Point(FieldSet),
    Range(FieldSet),
    Latest(FieldSet),
    First(usize, Comparison),
    Last(usize, Comparison),
    Matching(usize, Comparison),
    Minimum(usize),
    Aggregate { aggregates: Vec<Aggregate>, windows: bool, grouping: Grouping, from_sums: bool },
}

/// What is done for a question.
#[derive(Debug)]
pub enum Planned {
    /// These statements are sent; where there are several, each gives some of the groups' values.
    Statements(Vec<Statement>),
    /// The client answers it from the readings.
    Client,
}

/// A statement as it is sent.
#[derive(Debug)]
pub struct Statement {
    /// The text, with placeholders.
    pub text: String,
    /// What the placeholders stand for, in the order of their numbers.
    pub slots: Vec<Slot>,
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
    /// Fields of readings: (keys,) time, number of the field, value.
    FieldRows(FieldSet),
    /// Records: (keys,) number of the span, and what holds these fields.
    Records(FieldSet, RecordForm),
    /// Times of readings that are then asked for as points with these fields: (keys,) time.
    Times(FieldSet),
    /// A time and a value of this type.
    Moment(FieldType),
    /// The same and the keys, row by row until another time (or value) comes: of the first ones, the lowest series' counts.
    Ties(FieldType),
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

impl<'a> Asked<'a> {
    /// A question that can be asked.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a table, tag or field that the schema does not have; [`ErrorKind::Rejected`] for a question without a field;
    /// [`ErrorKind::Unsupported`] for a threshold on text.
    pub fn new(physical: &'a Physical, query: &'a Query) -> Result<Self, StoreError> {
        let description = physical.schema.table(query.table)?;
        check(query, description)?;
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

    /// The answer to a question that finds nothing whatever is stored, so that the database need not be asked.
    pub fn nothing_to_find(&self) -> Option<Answer> {
        let query = self.query;
        let count = self.description.series.len();
        let point = matches!(query.ask, Ask::Point { .. });
        let is_empty = !point && query.range.end_ns <= query.range.start_ns;
        let finds_none = match &query.series {
            Selection::Set(set) => set.iter().all(|&series| series >= count),
            Selection::Tagged { tag, value } => match &self.description.series.columns()[*tag] {
                TagColumn::Integer(_) => {
                    value.parse::<i64>().map_or(true, |number| number.to_string() != *value)
                }
                TagColumn::Text(_) => false,
            },
            Selection::One(series) => *series >= count,
            Selection::All => false,
        };
        (is_empty || finds_none).then(|| match query.ask {
            Ask::Point { .. } | Ask::Range { .. } | Ask::LastReading { .. } => {
                Answer::Readings(Batch::new(query.table, self.description))
            }
            Ask::First(_) | Ask::Last(_) | Ask::Minimum { .. } => Answer::Moment(None),
            Ask::Aggregate { .. } => Answer::Groups(Vec::new()),
            Ask::SeriesMatching(_) => Answer::Series(Vec::new()),
        })
    }

    /// The question's shape.
    pub fn shape(&self) -> Shape {
        let of = match &self.query.series {
            Selection::One(_) => OfShape::One,
            Selection::Set(_) => OfShape::Set,
            Selection::Tagged { tag, .. } => OfShape::Tagged(*tag),
            Selection::All => OfShape::All,
        };
        let ask = match &self.query.ask {
            Ask::Point { fields } => AskShape::Point(*fields),
            Ask::Range { fields, .. } => AskShape::Range(*fields),
            Ask::LastReading { fields } => AskShape::Latest(*fields),
            Ask::First(passes) => AskShape::First(passes.field, passes.comparison),
            Ask::Last(passes) => AskShape::Last(passes.field, passes.comparison),
            Ask::SeriesMatching(passes) => AskShape::Matching(passes.field, passes.comparison),
            Ask::Minimum { field } => AskShape::Minimum(*field),
            Ask::Aggregate { aggregates, grouping, from_sums } => AskShape::Aggregate {
                aggregates: aggregates.clone(),
                windows: grouping.window.is_some(),
                grouping: Grouping { window: None, ..*grouping },
                from_sums: *from_sums,
            },
        };
        Shape { table: self.query.table, of, ask }
    }

    /// The word for which series are asked about.
    const fn of(&self) -> &'static str {
        match &self.query.series {
            Selection::One(_) => "one",
            Selection::Set(_) => "set",
            Selection::Tagged { .. } => "tagged",
            Selection::All => "all",
        }
    }

    fn fields(&self, fields: FieldSet) -> Value {
        fields.iter().map(|field| self.table.fields[field].clone()).collect::<Vec<_>>().into()
    }

    /// What templates see: the table, and the question about these fields.
    fn context(&self, chosen: FieldSet, aggregates: &[Aggregate]) -> Context {
        let mut context = self.table.context.clone();
        let mut put = |name: &str, value: Value| {
            context.insert(name.to_owned(), value);
        };
        let grouping = self.grouping();
        let keys = self.table.series.keys().len();
        let by_series = grouping.by_series && keys > 0;
        let tag = |tag: Option<usize>| tag.map_or(Value::from(()), |tag| self.table.tags[tag].clone());
        put("of", self.of().into());
        put("chosen", self.fields(chosen));
        put(
            "tag",
            match &self.query.series {
                Selection::Tagged { tag: number, .. } => tag(Some(*number)),
                _ => tag(None),
            },
        );
        let passes = match &self.query.ask {
            Ask::First(passes) | Ask::Last(passes) | Ask::SeriesMatching(passes) => Some(passes),
            _ => None,
        };
        put("above", passes.is_none_or(|passes| passes.comparison == Comparison::Above).into());
        let is_search = matches!(self.query.ask, Ask::First(_) | Ask::Last(_) | Ask::Minimum { .. });
        let is_one = matches!(self.query.series, Selection::One(_));
        put("in_series_order", (!is_search || is_one || self.table.series.is_in_order()).into());
        let function = |one: &Aggregate| {
            Value::from_iter([
                ("name", Value::from(function_name(one.function))),
                ("field", self.table.fields[one.field].clone()),
            ])
        };
        put("functions", aggregates.iter().map(function).collect::<Vec<_>>().into());
        put("by_series", by_series.into());
        put("by_tag", tag(grouping.by_tag));
        put("windows", grouping.window.is_some().into());
        put("day_parts", grouping.by_day_part.is_some().into());
        let groups = usize::from(grouping.by_tag.is_some())
            + usize::from(grouping.window.is_some())
            + usize::from(grouping.by_day_part.is_some());
        put("group_count", (groups + if by_series { keys } else { 0 }).into());
        let split = grouping.by_day_part.unwrap_or(DaySplit { day_start_ns: 0, day_end_ns: 0 });
        put("day_start", split.day_start_ns.into());
        put("day_end", split.day_end_ns.into());
        context
    }

    /// The statement for everything in the table.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] when its template is wrong, or there is none.
    pub fn scan(&self, fields: FieldSet) -> Result<Statement, StoreError> {
        let scan = self.statement("scan", fields, &[], |words| readings_form(words, fields))?;
        scan.ok_or_else(|| wrong_template("a store has a statement `scan`".to_owned()))
    }

    /// A statement about these fields; none where the layout does not have it.
    fn statement(
        &self,
        name: &str,
        chosen: FieldSet,
        aggregates: &[Aggregate],
        form: impl FnOnce(&str) -> Form,
    ) -> Result<Option<Statement>, StoreError> {
        let templates = &self.physical.templates;
        if !templates.defines(name) {
            return Ok(None);
        }
        let context = self.context(chosen, aggregates);
        let text = templates.render(name, &context).map_err(wrong_template)?;
        if text.is_empty() {
            return Ok(None);
        }
        let (text, names) = text::numbered(&text, &self.physical.files.config.slots.style);
        let slots = names.iter().map(|name| Slot::of(name, self.table, self.description));
        let slots: Vec<Slot> = slots.collect::<Result<_, _>>()?;
        let types = slots.iter().map(|slot| slot.type_name(self)).collect();
        let mut context = context;
        let words = templates.form_for(name, &context).map_err(wrong_template)?;
        context.insert("statement".to_owned(), name.into());
        let before = templates.render("before", &context).map_err(wrong_template)?;
        Ok(Some(Statement { text, slots, types, form: form(&words), before }))
    }
}

/// A function's name in templates.
const fn function_name(function: Function) -> &'static str {
    match function {
        Function::Count => "count",
        Function::Sum => "sum",
        Function::Min => "min",
        Function::Max => "max",
        Function::Mean => "mean",
        Function::Last => "last",
        Function::TimeWeightedShare => "share",
        Function::MostFrequent => "most_frequent",
    }
}

/// The type of an aggregate's value.
const fn value_type(function: Function, kind: FieldType) -> FieldType {
    match (function, kind) {
        (Function::Count, _) => FieldType::I64,
        (Function::Sum, FieldType::F64) | (Function::Mean | Function::TimeWeightedShare, _) => FieldType::F64,
        (Function::Sum, _) => FieldType::I64,
        _ => kind,
    }
}

/// The fields that are aggregated.
fn fields_of(aggregates: &[Aggregate]) -> FieldSet {
    aggregates.iter().fold(FieldSet::first(0), |set, one| set.with(one.field))
}

impl Planned {
    /// The statements for a question.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for what cannot be answered.
    pub fn new(asked: &Asked<'_>) -> Result<Self, StoreError> {
        let of_readings = |fields: FieldSet| move |words: &str| readings_form(words, fields);
        let search = |name: &str, field: usize| {
            let kind = asked.description.fields[field].kind;
            let one = matches!(asked.query.series, Selection::One(_)) || asked.table.series.is_in_order();
            let form = if one { Form::Moment(kind) } else { Form::Ties(kind) };
            asked.statement(name, FieldSet::one(field), &[], |_| form)
        };
        let statement = match &asked.query.ask {
            Ask::Point { fields } => asked.statement("point", *fields, &[], of_readings(*fields))?,
            Ask::Range { fields, .. } => asked.statement("range", *fields, &[], of_readings(*fields))?,
            Ask::LastReading { fields } => {
                match asked.statement("latest", *fields, &[], of_readings(*fields))? {
                    None => asked.statement("latest_times", *fields, &[], |_| Form::Times(*fields))?,
                    found => found,
                }
            }
            Ask::First(passes) => search("first", passes.field)?,
            Ask::Last(passes) => search("last", passes.field)?,
            Ask::Minimum { field } => search("minimum", *field)?,
            Ask::SeriesMatching(Predicate { field, .. }) => {
                asked.statement("matching", FieldSet::one(*field), &[], |_| Form::Series)?
            }
            Ask::Aggregate { aggregates, grouping, from_sums } => {
                check_functions(asked, aggregates)?;
                return if *from_sums {
                    of_sums(asked, aggregates, *grouping)
                } else {
                    of_readings_in_groups(asked, aggregates, *grouping)
                };
            }
        };
        Ok(statement.map_or(Self::Client, |statement| Self::Statements(vec![statement])))
    }
}

/// What rows of readings are, by the words of a statement's form.
fn readings_form(words: &str, fields: FieldSet) -> Form {
    match words {
        "field rows" => Form::FieldRows(fields),
        "json records" | "packed" => Form::Records(fields, RecordForm::Document),
        "json columns" => Form::Records(fields, RecordForm::JsonArrays),
        "columns" => Form::Records(fields, RecordForm::Arrays),
        _ => Form::Readings(fields),
    }
}

fn groups_form(asked: &Asked<'_>, aggregates: &[Aggregate], numbers: &[usize]) -> Form {
    let value = |&number: &usize| {
        let Aggregate { function, field } = aggregates[number];
        (number, value_type(function, asked.description.fields[field].kind))
    };
    Form::Groups(numbers.iter().map(value).collect())
}

/// Aggregates over readings: one statement, or one for what GROUP BY computes by itself and one for each of the others.
fn of_readings_in_groups(
    asked: &Asked<'_>,
    aggregates: &[Aggregate],
    grouping: Grouping,
) -> Result<Planned, StoreError> {
    let all: Vec<usize> = (0..aggregates.len()).collect();
    let special = |number: &usize| match aggregates[*number].function {
        Function::Last => Some("last_values"),
        Function::TimeWeightedShare => Some("shares"),
        Function::MostFrequent => Some("most_frequent_values"),
        _ => None,
    };
    let by_series_alone =
        grouping.by_series && Grouping { by_series: true, ..Grouping::default() } == grouping;
    if by_series_alone
        && !asked.table.series.keys().is_empty()
        && all.iter().any(|one| special(one).is_some())
    {
        let form = |_: &str| groups_form(asked, aggregates, &all);
        if let Some(one) = asked.statement("statistics", fields_of(aggregates), aggregates, form)? {
            return Ok(Planned::Statements(vec![one]));
        }
    }
    let plain: Vec<usize> = all.iter().copied().filter(|number| special(number).is_none()).collect();
    let mut parts: Vec<(&str, Vec<usize>)> = Vec::new();
    if !plain.is_empty() {
        parts.push(("aggregate", plain));
    }
    parts.extend(all.iter().filter_map(|&number| Some((special(&number)?, vec![number]))));
    let mut statements = Vec::new();
    for (name, numbers) in parts {
        let some: Vec<Aggregate> = numbers.iter().map(|&number| aggregates[number]).collect();
        let form = |_: &str| groups_form(asked, aggregates, &numbers);
        let Some(statement) = asked.statement(name, fields_of(&some), &some, form)? else {
            return Ok(Planned::Client);
        };
        statements.push(statement);
    }
    Ok(Planned::Statements(statements))
}

/// Aggregates over sums that were kept at write time.
fn of_sums(asked: &Asked<'_>, aggregates: &[Aggregate], grouping: Grouping) -> Result<Planned, StoreError> {
    let operation = format!("aggregate in {}", asked.physical.files.config.title);
    let refuse = |text: &str| Err(StoreError::unsupported(operation.as_str(), text));
    let Some((per_ns, split)) = asked.physical.summary() else {
        return refuse(NO_SUMS);
    };
    let whole = |ns: i64| ns.rem_euclid(per_ns) == 0;
    let range = asked.query.range;
    if !whole(range.start_ns) || !whole(range.end_ns) {
        return refuse("the range does not start and end with the periods of the sums");
    }
    if grouping.window.is_some_and(|window| !whole(window.width_ns) || !whole(window.origin_ns)) {
        return refuse("the windows are not made of whole periods of the sums");
    }
    if grouping.by_day_part.is_some_and(|other| other != split) {
        return refuse("the sums split the day elsewhere");
    }
    let kept = |one: &Aggregate| {
        let is_kept =
            !matches!(one.function, Function::Last | Function::TimeWeightedShare | Function::MostFrequent);
        is_kept && !matches!(asked.description.fields[one.field].kind, FieldType::Bool | FieldType::Text)
    };
    if !aggregates.iter().all(kept) {
        return refuse("sums are kept for count, sum, min, max and mean of numeric fields");
    }
    let all: Vec<usize> = (0..aggregates.len()).collect();
    let form = |_: &str| groups_form(asked, aggregates, &all);
    match asked.statement("sums", fields_of(aggregates), aggregates, form)? {
        Some(statement) => Ok(Planned::Statements(vec![statement])),
        None => refuse(NO_SUMS),
    }
}

/// Why a layout without sums refuses to answer from sums.
pub const NO_SUMS: &str = "only the layout with a summary keeps sums";

/// Refuses functions of fields that they are not for.
fn check_functions(asked: &Asked<'_>, aggregates: &[Aggregate]) -> Result<(), StoreError> {
    let fits = |one: &&Aggregate| {
        let kind = asked.description.fields[one.field].kind;
        match one.function {
            Function::Count | Function::Last | Function::MostFrequent => true,
            Function::TimeWeightedShare => kind == FieldType::Bool,
            _ => !matches!(kind, FieldType::Bool | FieldType::Text),
        }
    };
    match aggregates.iter().find(|one| !fits(one)) {
        None => Ok(()),
        Some(one) => Err(StoreError::unsupported(
            format!("aggregate in {}", asked.physical.files.config.title),
            format!("{:?} is not for fields of this type", one.function),
        )),
    }
}

/// Refuses what the schema does not have.
fn check(query: &Query, description: &Table) -> Result<(), StoreError> {
    let missing = |what: String| Err(StoreError::new(ErrorKind::NotFound, OPERATION, what));
    let selected = match &query.series {
        Selection::Tagged { tag, .. } => Some(*tag),
        _ => None,
    };
    let mut grouped = None;
    let field = match &query.ask {
        Ask::Point { fields } | Ask::Range { fields, .. } | Ask::LastReading { fields } => {
            fields.iter().last()
        }
        Ask::First(passes) | Ask::Last(passes) | Ask::SeriesMatching(passes) => Some(passes.field),
        Ask::Minimum { field } => Some(*field),
        Ask::Aggregate { aggregates, grouping, .. } => {
            grouped = grouping.by_tag;
            aggregates.iter().map(|one| one.field).max()
        }
    };
    let mut tags = selected.into_iter().chain(grouped);
    if let Some(tag) = tags.find(|&tag| tag >= description.tags.len()) {
        return missing(format!("table {} has no tag number {tag}", description.name));
    }
    let is_compared =
        matches!(query.ask, Ask::First(_) | Ask::Last(_) | Ask::SeriesMatching(_) | Ask::Minimum { .. });
    match field.map(|field| (field, description.fields.get(field))) {
        Some((_, Some(field))) if is_compared && field.kind == FieldType::Text => {
            Err(StoreError::unsupported(OPERATION, "text has no threshold and no minimum"))
        }
        Some((_, Some(_))) => Ok(()),
        Some((field, None)) => missing(format!("table {} has no field number {field}", description.name)),
        None => Err(StoreError::new(ErrorKind::Rejected, OPERATION, "the question names no field")),
    }
}
