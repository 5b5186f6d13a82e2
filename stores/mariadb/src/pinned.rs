//! Every statement that this store sends, pinned in files: for each schema, question and write its text and values, and the layouts that have it.
//!
//! A change of a statement shows in these files, so that it is reviewed. `SENSORMARK_PIN=1 cargo test -p sensormark-mariadb pinned` writes them anew.

mod cases;

use self::cases::{BASE, layouts, questions, schemas, writes};
use crate::connection::Link;
use crate::query::Reader;
use crate::schema::Model;
use crate::{query, write};
use mysql_async::Value;
use sensormark_store::{Atomicity, Batch, EntityReading, Query, Schema, StoreError, WriteMethod};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

type Sent = Vec<(String, Vec<Vec<Value>>)>;

/// Runs something on a link that keeps what it is sent.
fn heard<T>(run: impl AsyncFnOnce(&mut Link) -> Result<T, StoreError>) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let mut link = Link::listening();
    let ran = runtime.block_on(run(&mut link));
    let mut text = shown(&link.sent.take().unwrap());
    if let Err(error) = ran {
        writeln!(text, "    refused: {error}").unwrap();
    }
    text
}

fn shown(sent: &Sent) -> String {
    let mut text = String::new();
    for (sql, rows) in sent {
        writeln!(text, "    {sql}").unwrap();
        for row in rows.iter().filter(|row| !row.is_empty()) {
            let values: Vec<String> = row.iter().map(value).collect();
            writeln!(text, "      <- {}", values.join(", ")).unwrap();
        }
    }
    text
}

/// A value with the type that it is bound as.
fn value(value: &Value) -> String {
    match value {
        Value::NULL => "null".to_owned(),
        Value::Int(number) => format!("int {number}"),
        Value::UInt(number) => format!("uint {number}"),
        Value::Double(number) => format!("double {number:?}"),
        Value::Bytes(bytes) => format!("text {:?}", String::from_utf8_lossy(bytes)),
        other => format!("{other:?}"),
    }
}

/// What a question sends after another of its shape was asked: other values, the same statements.
fn question(model: &Model, query: &Query) -> String {
    let mut statements = query::Statements::default();
    let mut ask = |query: &Query| {
        heard(async |link: &mut Link| {
            let statements = &mut statements;
            let mut reader = Reader {
                link,
                statements,
                model,
            };
            reader.answer(query).await
        })
    };
    ask(&cases::another(query));
    let sent = ask(query);
    assert!(statements.len() <= 1, "two shapes for {query:?}");
    sent
}

fn scan(model: &Model, table: usize) -> String {
    let one =
        heard(async |link: &mut Link| query::readings::scan(link, model, table, &mut |_| {}).await);
    if model.schema.tables[table].entity.is_none() {
        return one;
    }
    let entities = heard(async |link: &mut Link| {
        query::readings::scan_entities(link, model, table, &mut |_, _, _| {}).await
    });
    one + &entities
}

fn written(model: &Model, batch: &Batch) -> String {
    let mut compounds = write::Compounds::default();
    heard(async |link: &mut Link| write::write(link, &mut compounds, model, batch).await)
}

fn upserted(model: &Model, reading: &Batch, atomicity: Atomicity) -> String {
    let entity = cases::entity();
    let write = EntityReading {
        reading,
        entity: &entity,
        atomicity,
    };
    let mut compounds = write::Compounds::default();
    heard(async |link: &mut Link| write::upsert(link, &mut compounds, model, write).await)
}

/// Layouts with equal texts, told once.
fn told(text: &mut String, title: &str, models: &[(String, Model)], of: impl Fn(&Model) -> String) {
    let mut kinds: Vec<(Vec<&str>, String)> = Vec::new();
    for (name, model) in models {
        let sent = of(model);
        match kinds.iter_mut().find(|(_, known)| *known == sent) {
            Some((names, _)) => names.push(name),
            None => kinds.push((vec![name], sent)),
        }
    }
    writeln!(text, "\n{title}").unwrap();
    for (names, sent) in kinds {
        write!(text, "  {}\n{sent}", names.join(", ")).unwrap();
    }
}

fn all_of(schema: &Arc<Schema>) -> String {
    let models: Vec<(String, Model)> = layouts(schema)
        .into_iter()
        .map(|(name, layout)| (name, Model::new(schema, layout).unwrap()))
        .collect();
    let mut text = format!("Statements about times in ns, from {BASE} on.\n");
    for (title, batch) in writes(schema) {
        told(&mut text, &title, &models, |model| written(model, &batch));
    }
    let usual: Vec<(String, Model)> = models
        .into_iter()
        .filter(|(_, model)| model.layout.write == WriteMethod::Usual)
        .collect();
    if schema.tables[0].entity.is_some() {
        let (_, one) = writes(schema).swap_remove(0);
        for atomicity in [Atomicity::Separate, Atomicity::Atomic] {
            let title = format!("upsert, {atomicity:?}");
            told(&mut text, &title, &usual, |model| {
                upserted(model, &one, atomicity)
            });
        }
    }
    for (title, query) in questions(schema) {
        told(&mut text, &title, &usual, |model| question(model, &query));
    }
    told(&mut text, "scan", &usual, |model| scan(model, 0));
    text
}

#[test]
fn statements_are_as_pinned() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/statements");
    for (name, schema) in schemas() {
        let file = folder.join(format!("{name}.txt"));
        let now = all_of(&Arc::new(schema));
        if std::env::var_os("SENSORMARK_PIN").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &now).unwrap();
        }
        let pinned = std::fs::read_to_string(&file).unwrap();
        let differs = pinned
            .lines()
            .zip(now.lines())
            .find(|(old, new)| old != new);
        assert_eq!(differs, None, "{name}: pinned line, line now");
        assert_eq!(pinned.len(), now.len(), "{name}: one ends earlier");
    }
}
