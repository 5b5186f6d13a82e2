//! The statements of an aggregate as text.

use super::{GroupShape, Part};
use crate::design::SeriesKey;
use crate::relation::{Bind, Choice, Relation, Statement, filter, window};
use sensormark_store::{Aggregate, FieldSet, FieldType, Function};

/// The type of an aggregate's value.
pub const fn output_type(function: Function, kind: FieldType) -> FieldType {
    match (function, kind) {
        (Function::Count, _) => FieldType::I64,
        (Function::Mean | Function::TimeWeightedShare, _) => FieldType::F64,
        (Function::Sum, FieldType::Bool | FieldType::U16) => FieldType::I64,
        _ => kind,
    }
}

/// The statements that answer these aggregates.
pub fn plan(
    relation: &Relation<'_>,
    choice: Choice,
    aggregates: &[Aggregate],
    shape: GroupShape,
) -> Vec<Part> {
    let mut parts = Vec::new();
    let simple: Vec<usize> = (0..aggregates.len())
        .filter(|&number| simple(relation, aggregates[number]).is_some())
        .collect();
    if !simple.is_empty() {
        parts.push(simple_part(relation, choice, aggregates, &simple, shape));
    }
    for (number, aggregate) in aggregates.iter().enumerate() {
        let output = (
            number,
            output_type(
                aggregate.function,
                relation.table.fields[aggregate.field].kind,
            ),
        );
        let from = From::new(relation, choice, shape, FieldSet::one(aggregate.field));
        match aggregate.function {
            Function::Last => {
                parts.push(last_part(relation, choice, from, output, aggregate.field))
            }
            Function::TimeWeightedShare => {
                parts.push(share_part(relation, from, output, aggregate.field));
            }
            Function::MostFrequent => {
                parts.push(frequent_part(relation, from, output, aggregate.field))
            }
            _ => {}
        }
    }
    parts
}

/// The aggregates that SQL has as functions of their own.
fn simple(relation: &Relation<'_>, aggregate: Aggregate) -> Option<String> {
    let value = relation.field(aggregate.field);
    match aggregate.function {
        Function::Count => Some(format!("count({value})")),
        Function::Sum => Some(format!("sum({value})")),
        Function::Min => Some(format!("min({value})")),
        Function::Max => Some(format!("max({value})")),
        Function::Mean => Some(format!("avg({value})")),
        Function::Last | Function::TimeWeightedShare | Function::MostFrequent => None,
    }
}

/// What all parts of an aggregate begin with.
struct From {
    statement: Statement,
    /// The columns that tell groups apart.
    groups: Vec<String>,
    /// From which tables, and which readings.
    readings: String,
    shape: GroupShape,
}

impl From {
    fn new(relation: &Relation<'_>, choice: Choice, shape: GroupShape, fields: FieldSet) -> Self {
        let mut statement = Statement::default();
        let groups = shape.columns(relation, &relation.time(), None, &mut statement);
        let mut conditions = relation.chosen(choice, &mut statement);
        conditions.extend(relation.in_range(&mut statement));
        conditions.extend(relation.has_any(fields));
        let readings = format!(
            "{}{}{}",
            relation.from(),
            shape.tags(relation),
            filter(&conditions)
        );
        Self {
            statement,
            groups,
            readings,
            shape,
        }
    }

    /// The groups' columns with something more behind them.
    fn columns(&self, more: &[String]) -> String {
        self.groups
            .iter()
            .chain(more)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The groups' columns under names of their own, with something more behind them.
    fn named_columns(&self, more: &[String]) -> String {
        let named = self
            .groups
            .iter()
            .zip(self.names())
            .map(|(column, name)| format!("{column} AS {name}"));
        named
            .chain(more.iter().cloned())
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn names(&self) -> Vec<String> {
        (0..self.groups.len())
            .map(|place| format!("g{place}"))
            .collect()
    }

    /// A clause that names the groups' columns; nothing where there is one group.
    fn clause(&self, word: &str) -> String {
        if self.groups.is_empty() {
            String::new()
        } else {
            format!("{word} {}", self.groups.join(", "))
        }
    }
}

fn simple_part(
    relation: &Relation<'_>,
    choice: Choice,
    aggregates: &[Aggregate],
    numbers: &[usize],
    shape: GroupShape,
) -> Part {
    let fields = numbers.iter().fold(FieldSet::first(0), |set, &number| {
        set.with(aggregates[number].field)
    });
    let mut from = From::new(relation, choice, shape, fields);
    let columns: Vec<String> = numbers
        .iter()
        .filter_map(|&number| simple(relation, aggregates[number]))
        .collect();
    let text = format!(
        "SELECT {} FROM {}{} HAVING count(*) > 0",
        from.columns(&columns),
        from.readings,
        from.clause(" GROUP BY")
    );
    from.statement.push(&text);
    let output = |&number: &usize| {
        let Aggregate { function, field } = aggregates[number];
        (
            number,
            output_type(function, relation.table.fields[field].kind),
        )
    };
    Part {
        statement: from.statement,
        outputs: numbers.iter().map(output).collect(),
        ties: false,
    }
}

fn last_part(
    relation: &Relation<'_>,
    choice: Choice,
    mut from: From,
    output: (usize, FieldType),
    field: usize,
) -> Part {
    let (value, time) = (relation.field(field), relation.time());
    let ordered = choice == Choice::One || relation.in_series_order() || from.shape.by_series;
    let text = if from.groups.is_empty() && choice == Choice::One {
        let span = relation
            .coarse()
            .map_or_else(String::new, |span| format!("{span} DESC, "));
        format!(
            "SELECT {value} FROM {} ORDER BY {span}{time} DESC, {} LIMIT 1",
            from.readings,
            relation.copy_descending()
        )
    } else {
        let mut order = vec![format!("{time} DESC")];
        let mut more = vec![format!("{value} AS v")];
        let mut wanted = from.names();
        wanted.push("v".to_owned());
        let number = if ordered {
            order.extend(relation.series());
            order.push(relation.copy_descending());
            "row_number"
        } else {
            for (place, column) in relation.series().iter().enumerate() {
                more.push(format!("{column} AS s{place}"));
                wanted.push(format!("s{place}"));
            }
            more.push(format!(
                "row_number() OVER (ORDER BY {}) AS c",
                relation.copy()
            ));
            "rank"
        };
        more.push(format!(
            "{number}() OVER ({} ORDER BY {}) AS n",
            from.clause("PARTITION BY"),
            order.join(", ")
        ));
        format!(
            "SELECT {} FROM (SELECT {} FROM {}) WHERE n = 1{}",
            wanted.join(", "),
            from.named_columns(&more),
            from.readings,
            if ordered { "" } else { " ORDER BY c" }
        )
    };
    from.statement.push(&text);
    Part {
        statement: from.statement,
        outputs: vec![output],
        ties: !ordered,
    }
}

fn share_part(
    relation: &Relation<'_>,
    mut from: From,
    output: (usize, FieldType),
    field: usize,
) -> Part {
    let time = relation.time();
    let end = from.statement.parameter(Bind::End);
    let series = match relation.design.key {
        SeriesKey::Only => String::new(),
        _ => format!("PARTITION BY {} ", relation.series().join(", ")),
    };
    let next = format!(
        "lead({time}, 1, {end}) OVER ({series}ORDER BY {time}, {})",
        relation.copy()
    );
    let until = if from.shape.window {
        let start = window(&time, from.shape.after_origin, &mut from.statement);
        let width = from.statement.parameter(Bind::Width);
        format!("min({next}, {start} + {width})")
    } else {
        next
    };
    let more = [
        format!("{} AS v", relation.field(field)),
        format!("{until} - {time} AS held"),
    ];
    let mut columns = from.names();
    columns.push("total(CASE WHEN v THEN held END) / total(held)".to_owned());
    let groups = from.names().join(", ");
    let text = format!(
        "SELECT {} FROM (SELECT {} FROM {}){} HAVING count(*) > 0",
        columns.join(", "),
        from.named_columns(&more),
        from.readings,
        if groups.is_empty() {
            groups
        } else {
            format!(" GROUP BY {groups}")
        }
    );
    from.statement.push(&text);
    Part {
        statement: from.statement,
        outputs: vec![output],
        ties: false,
    }
}

fn frequent_part(
    relation: &Relation<'_>,
    mut from: From,
    output: (usize, FieldType),
    field: usize,
) -> Part {
    let value = relation.field(field);
    let more = [
        format!("{value} AS v"),
        format!(
            "row_number() OVER ({} ORDER BY count(*) DESC, {value}) AS n",
            from.clause("PARTITION BY")
        ),
    ];
    let mut wanted = from.names();
    wanted.push("v".to_owned());
    let mut within = from.groups.clone();
    within.push(value);
    let text = format!(
        "SELECT {} FROM (SELECT {} FROM {} GROUP BY {}) WHERE n = 1",
        wanted.join(", "),
        from.named_columns(&more),
        from.readings,
        within.join(", ")
    );
    from.statement.push(&text);
    Part {
        statement: from.statement,
        outputs: vec![output],
        ties: false,
    }
}
