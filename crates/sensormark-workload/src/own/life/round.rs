//! A round's tasks, done by each database's own means: texts of its store, rendered with what is due.

use super::{Due, RollupDue};
use minijinja::{Environment, UndefinedBehavior, context};
use sensormark_data::quantity::duration_ns;
use sensormark_engine::lifecycle::{Change, Done, Entry, Site, Task};
use sensormark_store::{Administrator, ErrorKind, Schema, Store, StoreError, TagPlacement};
use serde::Serialize;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// What a task of this kind is called.
const OPERATION: &str = "look after old data";

/// What is done, by the names of the store's means.
const PREPARE: &str = "prepare";
const ROLLUP: &str = "rollup";
const RETENTION: &str = "retention";
const COMPRESSION: &str = "compression";

/// A part of the readings' time that is dropped as a whole.
#[derive(Serialize)]
struct Part {
    number: usize,
    from: i64,
    until: i64,
}

/// A task: what is done before the first reading, or what is due in a round.
pub struct Round {
    pub due: Due,
    /// Whether it is what is done before the first reading.
    pub prepares: bool,
    /// How long clients work before it.
    pub lead: Duration,
}

impl Round {
    /// Parts whose bounds are the instants of retention, from the first reading to the last.
    fn parts(&self) -> Vec<Part> {
        let Due { span, every_ns, keep_ns, .. } = self.due;
        let first = (-keep_ns.unwrap_or(0)).rem_euclid(every_ns.max(1));
        let bounds = (0..).map(|number| span.start_ns + first + number * every_ns);
        let mut bounds: Vec<i64> = bounds.take_while(|bound| *bound < span.end_ns).collect();
        bounds.retain(|bound| *bound > span.start_ns);
        let ends = bounds.iter().copied().chain([span.end_ns]);
        let starts = std::iter::once(span.start_ns).chain(bounds.iter().copied());
        let each = starts.zip(ends).zip(1..);
        each.map(|((from, until), number)| Part { number, from, until }).collect()
    }

    fn render(&self, site: &Site<'_>, text: &str, more: Value) -> Result<Vec<String>, StoreError> {
        let Schema { tables } = site.plan.schema.as_ref();
        let gone_ns = self.due.gone_before_ns.unwrap_or(i64::MIN);
        let parts = self.parts();
        let is_gone = |part: &&Part| part.until <= gone_ns && part.until > gone_ns - self.due.every_ns;
        let rollups: Vec<Value> = self.due.rollups.iter().map(|one| one.names(tables)).collect();
        let iso = |ns: i64| {
            jiff::Timestamp::from_nanosecond(ns.into()).map_or_else(|_| String::new(), |at| at.to_string())
        };
        let tags: Vec<&str> = tables[0].tags.iter().map(|tag| tag.name.as_str()).collect();
        let old_ns = self.due.compressed_before_ns.unwrap_or(i64::MIN);
        let all = context! {
            database => site.plan.database.as_str(),
            table => tables[0].name,
            tags,
            key => if site.plan.layout.tags == TagPlacement::OwnTable { vec!["series"] } else { tags.clone() },
            gone => parts.iter().filter(is_gone).collect::<Vec<_>>(),
            parts, rollups, more,
            every => self.due.every_ns,
            before => gone_ns,
            before_time => iso(gone_ns),
            old => old_ns,
            old_time => iso(old_ns),
            iso => minijinja::Value::from_function(move |ns: i64| iso(ns)),
        };
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        let wrong =
            |error: minijinja::Error| StoreError::new(ErrorKind::Configuration, OPERATION, error.to_string());
        let text = templates.render_str(text, all).map_err(wrong)?;
        let each = text.split(";\n").map(|one| one.trim().trim_end_matches(';'));
        Ok(each.filter(|one| !one.is_empty()).map(str::to_owned).collect())
    }

    /// Does one kind of task, where the store has means for it or needs none.
    async fn perform(
        &self,
        kind: &str,
        (site, more): (&Site<'_>, Value),
        administrator: &mut dyn Administrator,
        done: &mut Done,
    ) -> Result<(), StoreError> {
        let entry = Entry::of(&site.deployment.store().description().name, kind);
        let Ok(entry) = entry else {
            return if [ROLLUP, RETENTION].contains(&kind) { entry.map(drop) } else { Ok(()) };
        };
        let (began, mut rows) = (Instant::now(), more);
        let slack_ns = entry.slack.as_deref().and_then(|text| duration_ns(text).ok());
        done.slack_ns = slack_ns.unwrap_or(done.slack_ns);
        for step in &entry.steps {
            // What a question finds is what the next step gets.
            if let Some(question) = step.strip_prefix("= rows ") {
                let mut found = Vec::new();
                for question in self.render(site, question, rows.clone())? {
                    found.extend(administrator.perform(&question).await?);
                }
                rows = json!(found);
                continue;
            }
            for statement in self.render(site, step, rows.clone())? {
                administrator.perform(&statement).await?;
                done.means.push(statement);
            }
        }
        if !entry.steps.is_empty() {
            done.parts.push((kind.to_owned(), began.elapsed().as_secs_f64()));
        }
        done.means.push([entry.note.as_str(), &entry.not, &entry.link].join(" ").trim().to_owned());
        Ok(())
    }

    /// Does all that is due.
    async fn go(
        &self,
        site: &Site<'_>,
        administrator: &mut dyn Administrator,
        done: &mut Done,
    ) -> Result<(), StoreError> {
        if self.prepares {
            return self.perform(PREPARE, (site, Value::Null), administrator, done).await;
        }
        for rollup in &self.due.rollups {
            let names = rollup.names(&site.plan.schema.tables);
            self.perform(ROLLUP, (site, names), administrator, done).await?;
        }
        if self.due.gone_before_ns.is_some() {
            self.perform(RETENTION, (site, Value::Null), administrator, done).await?;
        }
        if self.due.compressed_before_ns.is_some() {
            self.perform(COMPRESSION, (site, Value::Null), administrator, done).await?;
        }
        Ok(())
    }
}

impl RollupDue {
    fn names(&self, tables: &[sensormark_store::Table]) -> Value {
        let (from, table) = (&tables[0], &tables[self.table]);
        let columns = self.columns.iter().zip(&table.fields).map(|((field, function), column)| {
            let call = if function == "mean" { "avg" } else { function };
            json!({ "name": column.name, "field": from.fields[*field].name, "function": function, "call": call })
        });
        json!({
            "name": table.name, "every": self.every_ns, "from": self.renewed.start_ns, "until": self.renewed.end_ns,
            "columns": columns.collect::<Vec<_>>(),
        })
    }
}

impl Task for Round {
    fn name(&self) -> &str {
        if self.prepares { PREPARE } else { "round" }
    }

    fn missing(&self, store: &dyn Store) -> Option<String> {
        let why = store.one_process().map(|why| format!("it is done beside the clients, and {why}"));
        let means = |kind| Entry::of(&store.description().name, kind).err();
        let none = || means(ROLLUP).or_else(|| means(RETENTION)).map(|error| error.context().to_owned());
        why.or_else(none)
    }

    fn beside(&self) -> Duration {
        self.lead
    }

    fn is_beside_all(&self) -> bool {
        true
    }

    fn run(&self, site: &Site<'_>, done: &mut Done) -> Result<(), StoreError> {
        done.is_proved_later = true;
        site.deployment.administer(site.plan, async |administrator| self.go(site, administrator, done).await)
    }

    fn change(&self) -> Option<Change> {
        self.due.gone_before_ns.filter(|_| !self.prepares).map(|before_ns| Change::Gone(0, before_ns))
    }

    fn fills(&self) -> Vec<usize> {
        self.due.rollups.iter().map(|one| one.table).collect()
    }
}
