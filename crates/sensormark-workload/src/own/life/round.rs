//! A round's tasks, done by each database's own means: texts of its store, rendered with what is due.

use super::{LifePart, RollupPart, SeriesPart, function};
use minijinja::{Environment, UndefinedBehavior, context};
use sensormark_data::quantity::duration_ns;
use sensormark_engine::lifecycle::{Change, Done, Entry, Site, Task};
use sensormark_store::{Administrator, ErrorKind, Plan, Store, StoreError, TagPlacement};
use serde::Serialize;
use serde_json::{Value, json};
use std::iter;
use std::time::{Duration, Instant};

/// What a task of this kind is called.
const OPERATION: &str = "look after old data";

/// So many statements of a step are shown.
const MOST_SHOWN: usize = 5;

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

/// A task: what is due in a round, or what is done before the first reading.
pub struct Round {
    pub life: LifePart,
    pub series: SeriesPart,
    /// The round's number; 0 is before the first reading.
    pub number: u32,
    /// How long clients work before it.
    pub lead: Duration,
}

impl Round {
    fn old_ns(&self, age_ns: Option<i64>) -> Option<i64> {
        self.life.old_ns(&self.series, self.number, age_ns)
    }

    /// Parts whose bounds are the instants of retention, from the first reading to the last.
    fn parts(&self) -> Vec<Part> {
        let (start_ns, every_ns) = (self.series.start_ns, self.life.every_ns.max(1));
        let end_ns = start_ns + self.series.duration_ns;
        let first_ns = start_ns + (-self.life.keep_ns.unwrap_or(0)).rem_euclid(every_ns);
        let between = (0..).map(|number| first_ns + number * every_ns).skip_while(|bound| *bound <= start_ns);
        let between = between.take_while(|bound| *bound < end_ns);
        let bounds: Vec<i64> = iter::once(start_ns).chain(between).chain([end_ns]).collect();
        let each = bounds.windows(2).zip(1..);
        each.map(|(ends, number)| Part { number, from: ends[0], until: ends[1] }).collect()
    }

    /// Rollups, by their tables' numbers.
    fn rollups(&self) -> impl Iterator<Item = (usize, &RollupPart)> {
        (1..).zip(&self.life.rollups)
    }

    /// A rollup as templates see it.
    fn names(&self, (number, rollup): (usize, &RollupPart), plan: &Plan, entry: &Entry) -> Value {
        let (from, table) = (&plan.schema.tables[0], &plan.schema.tables[number]);
        let renewed = self.life.renewed(&self.series, self.number, rollup);
        let columns = rollup.columns.iter().zip(&table.fields).map(|((field, kind), column)| {
            let (field, function) = (&from.fields[*field].name, function(*kind).0);
            let call = if function == "mean" { "avg" } else { function };
            let column = json!({ "name": column.name, "field": field, "function": function, "call": call });
            (column, format!("{call}({})", entry.column(field)))
        });
        let (columns, calls): (Vec<Value>, Vec<String>) = columns.unzip();
        json!({
            "name": table.name, "table": entry.table(plan, &table.name),
            "every": rollup.every_ns, "from": renewed.start_ns, "until": renewed.end_ns,
            "names": joined(table.fields.iter().map(|field| entry.column(&field.name))),
            "calls": calls.join(", "), "columns": columns,
        })
    }

    fn render(
        &self,
        (site, entry): (&Site<'_>, &Entry),
        text: &str,
        more: &Value,
    ) -> Result<Vec<String>, StoreError> {
        let (plan, tables) = (site.plan, &site.plan.schema.tables);
        let gone_ns = self.old_ns(self.life.keep_ns).unwrap_or(i64::MIN);
        let parts = self.parts();
        let is_gone = |part: &&Part| part.until <= gone_ns && part.until > gone_ns - self.life.every_ns;
        let rollups: Vec<Value> = self.rollups().map(|one| self.names(one, plan, entry)).collect();
        let keys: Vec<&str> = match plan.layout.tags {
            TagPlacement::OwnTable => vec!["series"],
            _ => tables[0].tags.iter().map(|tag| tag.name.as_str()).collect(),
        };
        let all = context! {
            database => plan.database.as_str(),
            name => tables[0].name,
            table => entry.table(plan, &tables[0].name),
            time => entry.names[1],
            keys => joined(keys.iter().map(|key| entry.column(key))),
            tags => keys,
            groups => joined((1..keys.len() + 2).map(|place| place.to_string())),
            gone => parts.iter().filter(is_gone).collect::<Vec<_>>(),
            parts, rollups, more,
            every => self.life.every_ns,
            before => gone_ns,
            old => self.old_ns(self.life.compress_after_ns),
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
        (kind, rollup): (&str, Option<(usize, &RollupPart)>),
        site: &Site<'_>,
        administrator: &mut dyn Administrator,
        done: &mut Done,
    ) -> Result<(), StoreError> {
        // What has to be there is looked for before: the others may lack.
        let Ok(entry) = Entry::of(&site.deployment.store().description().name, kind) else { return Ok(()) };
        let began = Instant::now();
        let mut more = rollup.map_or(Value::Null, |rollup| self.names(rollup, site.plan, &entry));
        let slack_ns = entry.slack.as_deref().and_then(|text| duration_ns(text).ok());
        done.slack_ns = slack_ns.unwrap_or(done.slack_ns);
        for step in &entry.steps {
            // What a question finds is what the next step gets.
            if let Some(question) = step.strip_prefix("= rows ") {
                let mut found = Vec::new();
                for question in self.render((site, &entry), question, &more)? {
                    found.extend(administrator.perform(&question).await?);
                }
                more = json!(found);
                continue;
            }
            for (place, statement) in self.render((site, &entry), step, &more)?.into_iter().enumerate() {
                administrator.perform(&statement).await?;
                // The first of many stand for all.
                if place < MOST_SHOWN {
                    done.means.push(statement);
                }
            }
        }
        if !entry.steps.is_empty() {
            done.parts.push((kind.to_owned(), began.elapsed().as_secs_f64()));
        }
        done.means.push([entry.note.as_str(), &entry.not, &entry.link].join(" ").trim().to_owned());
        Ok(())
    }
}

/// A list in a statement.
fn joined(all: impl Iterator<Item = String>) -> String {
    all.collect::<Vec<_>>().join(", ")
}

impl Task for Round {
    fn name(&self) -> &str {
        if self.number == 0 { PREPARE } else { "round" }
    }

    fn missing(&self, store: &dyn Store) -> Option<String> {
        let kinds = [(RETENTION, self.life.keep_ns.is_some()), (ROLLUP, !self.life.rollups.is_empty())];
        let needed = kinds.into_iter().filter(|(_, is_needed)| *is_needed);
        let mut lacking = needed.map(|(kind, _)| Entry::of(&store.description().name, kind));
        lacking.find_map(|entry| match entry {
            Ok(entry) => entry.steps.is_empty().then_some(entry.not),
            Err(error) => Some(error.context().to_owned()),
        })
    }

    fn beside(&self) -> Duration {
        self.lead
    }

    fn is_beside_all(&self) -> bool {
        true
    }

    fn run(&self, site: &Site<'_>, done: &mut Done) -> Result<(), StoreError> {
        done.is_proved_later = true;
        let prepared = (self.number == 0).then_some((PREPARE, None));
        let rollups = self.rollups().filter(|_| self.number > 0).map(|rollup| (ROLLUP, Some(rollup)));
        let gone = self.old_ns(self.life.keep_ns).map(|_| (RETENTION, None));
        let old = self.old_ns(self.life.compress_after_ns).map(|_| (COMPRESSION, None));
        let all = prepared.into_iter().chain(rollups).chain(gone).chain(old);
        site.deployment.administer(site.plan, async |administrator| {
            for one in all {
                self.perform(one, site, administrator, done).await?;
            }
            Ok(())
        })
    }

    fn change(&self) -> Option<Change> {
        self.old_ns(self.life.keep_ns).map(|before_ns| Change::Gone(0, before_ns))
    }

    fn fills(&self) -> Vec<usize> {
        self.rollups().map(|(table, _)| table).collect()
    }
}
