//! Pins of statements. Text beside a store's tests keeps all that the store sends: each layout, each kind of question, each write.
//!
//! They know the contract alone ([`Session::keep_statements`](sensormark_store::store::Session::keep_statements)), so they stay as they are when a store's
//! inside changes. A change of a statement shows in the kept text, and is reviewed. The server is real: what is kept is what it was sent.

mod cases;

use super::check::{Broken, Check, While};
use super::client::Client;
use super::pins;
use super::suite::{Suite, administer};
use cases::{BASE, another, entity, layouts, questions, schemas, writes};
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::layout::WriteMethod;
use sensormark_store::query::Query;
use sensormark_store::schema::Schema;
use sensormark_store::statement::Statement;
use sensormark_store::store::{Atomicity, EntityReading, Plan};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// The database's name in what is kept: the real one is another in each run.
const DATABASE: &str = "sensormark_pins";

/// A schema whose statements are kept in a file of its own.
pub(super) struct Pinned {
    name: &'static str,
    schema: Arc<Schema>,
}

/// What was sent, by title, in the order in which titles first came.
#[derive(Default)]
struct Kept(Vec<(String, Vec<Kind>)>);

/// A text, and the layouts that sent it.
struct Kind {
    layouts: Vec<String>,
    text: String,
}

/// A client that is listened to.
struct Listener {
    client: Client,
    plan: Plan,
}

/// The schemas whose statements are kept.
pub(super) fn all() -> Vec<Pinned> {
    let pinned = |(name, schema)| Pinned { name, schema: Arc::new(schema) };
    schemas().into_iter().map(pinned).collect()
}

impl Pinned {
    /// The test's name.
    pub(super) fn title(&self) -> String {
        format!("pins [{}] statements are as kept", self.name)
    }

    /// Compares what the store sends with `tests/statements/NAME.txt` in its crate's folder.
    pub(super) async fn check(&self, suite: &Suite, crate_folder: &Path) -> Check {
        let mut kept = Kept::default();
        for (name, layout) in layouts(&*suite.store, &self.schema) {
            let plan = suite.plan_of(&self.schema, layout);
            let heard = self.hear(suite, &plan, &name, &mut kept).await;
            let dropped = suite.drop_database(&plan).await;
            heard.and(dropped).while_doing(|| name.clone())?;
        }
        let file = crate_folder.join(format!("tests/statements/{}.txt", self.name));
        pins::hold(&file, &kept.text()).map_err(Broken)
    }

    /// Everything, in one layout. A layout that does not fit the schema is left out.
    async fn hear(&self, suite: &Suite, plan: &Plan, name: &str, kept: &mut Kept) -> Check {
        let mut administrator = suite.administrator(plan).await?;
        match administer("create", administrator.create()).await? {
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
            created => created?,
        }
        let mut listener =
            Listener { client: Client::connect(&*suite.store, plan).await?, plan: plan.clone() };
        listener.client.keep_statements()?;
        let is_usual = plan.layout.write == WriteMethod::Usual;
        // First, because a reading may refer to its entity.
        if is_usual && self.schema.tables[0].entity.is_some() {
            self.hear_upserts(&mut listener, name, kept).await?;
        }
        for (title, batch) in writes(&self.schema) {
            let written = listener.client.try_write(&batch).await?;
            kept.note(title, name, listener.sent(written.map(drop)).await?.text);
        }
        if is_usual {
            self.hear_questions(&mut listener, name, kept).await?;
        }
        listener.client.close().await
    }

    async fn hear_upserts(&self, listener: &mut Listener, name: &str, kept: &mut Kept) -> Check {
        let readings = cases::earlier(&self.schema);
        for (atomicity, reading) in [Atomicity::Separate, Atomicity::Atomic].into_iter().zip(readings) {
            let entity = entity();
            let write = EntityReading { reading: &reading, entity: &entity, atomicity };
            let done = listener.client.try_upsert(write).await?;
            let sent = listener.sent(done.map(drop)).await?;
            kept.note(format!("upsert, {atomicity:?}"), name, sent.text);
        }
        Ok(())
    }

    /// What does not depend on the way of writing batches.
    async fn hear_questions(&self, listener: &mut Listener, name: &str, kept: &mut Kept) -> Check {
        for (title, query) in questions(&self.schema) {
            let sent = listener.question(&query).await?;
            kept.note(title, name, sent);
        }
        let read = listener.client.readings(&self.schema, 0).await;
        let mut scan = listener.sent(Ok(())).await?.text;
        read?;
        if self.schema.tables[0].entity.is_some() {
            let entities = listener.client.entities(0).await?;
            scan += &listener.sent(entities.map(drop)).await?.text;
        }
        kept.note("scan".to_owned(), name, scan);
        Ok(())
    }
}

/// What was sent for one operation.
struct Sent {
    text: String,
    /// The texts of statements to which values are bound.
    bound: Vec<String>,
}

impl Listener {
    /// What was sent since the last call, and why the operation was refused, if it was.
    async fn sent(&mut self, done: Result<(), StoreError>) -> Check<Sent> {
        let statements = self.client.statements(false).await?;
        let is_bound = |one: &&Statement| !one.values.is_empty();
        let bound = statements.iter().filter(is_bound);
        let mut sent = Sent { text: String::new(), bound: bound.map(|one| one.text.clone()).collect() };
        for statement in &statements {
            self.write(statement, &mut sent.text);
        }
        match done {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                writeln!(sent.text, "    refused: {error}").expect("text grows");
            }
            Err(error) => return Err(error.into()),
        }
        Ok(sent)
    }

    fn write(&self, statement: &Statement, text: &mut String) {
        let statement_text = statement.text.replace(self.plan.database.as_str(), DATABASE);
        for line in statement_text.lines() {
            writeln!(text, "    {line}").expect("text grows");
        }
        if !statement.values.is_empty() {
            let values = statement.values.join(", ");
            let values = values.replace(self.plan.database.as_str(), DATABASE);
            writeln!(text, "      <- {values}").expect("text grows");
        }
        if let Some(note) = &statement.note {
            writeln!(text, "      ({note})").expect("text grows");
        }
    }

    /// What a question sends after another of its shape was asked; and whether a text that is prepared was another one then.
    async fn question(&mut self, query: &Query) -> Check<String> {
        let done = self.client.try_ask(&another(query)).await?;
        let before = self.sent(done.map(drop)).await?;
        let done = self.client.try_ask(query).await?;
        let mut sent = self.sent(done.map(drop)).await?;
        let asked = !before.bound.is_empty() && !sent.bound.is_empty();
        if asked && before.bound != sent.bound {
            writeln!(sent.text, "    other statements for other values").expect("text grows");
        }
        Ok(sent.text)
    }
}

impl Kept {
    fn note(&mut self, title: String, layout: &str, sent: String) {
        let place = self.0.iter().position(|(known, _)| *known == title);
        let place = place.unwrap_or_else(|| {
            self.0.push((title, Vec::new()));
            self.0.len() - 1
        });
        let kinds = &mut self.0[place].1;
        match kinds.iter_mut().find(|known| known.text == sent) {
            Some(known) => known.layouts.push(layout.to_owned()),
            None => kinds.push(Kind { layouts: vec![layout.to_owned()], text: sent }),
        }
    }

    fn text(&self) -> String {
        let mut text = format!("Statements about times in ns, from {BASE} on.\n");
        for (title, kinds) in &self.0 {
            writeln!(text, "\n{title}").expect("text grows");
            for kind in kinds {
                let layouts = kind.layouts.join(", ");
                write!(text, "  {layouts}\n{}", kind.text).expect("text grows");
            }
        }
        text
    }
}
