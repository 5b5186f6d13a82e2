//! A round's tasks, done by each database's own means: which are due, and what their statements are told.

use super::{LifePart, RollupPart, SeriesPart, word};
use minijinja::value::merge_maps;
use minijinja::{Value, context};
use sensormark_engine::lifecycle::{Change, Entry, Task};
use sensormark_engine::trial::Subject;
use sensormark_store::{Schema, TagPlacement};

/// What is done, by the names of the store's means.
const ROLLUP: &str = "rollup";
const RETENTION: &str = "retention";

/// What is due in a round, or what is done before the first reading.
pub struct Round<'a> {
    pub life: &'a LifePart,
    pub series: &'a SeriesPart,
    /// All tables: of the readings, and of the rollups.
    pub schema: &'a Schema,
    pub subject: Subject<'a>,
    /// The round's number; 0 is before the first reading.
    pub number: u32,
}

impl Round<'_> {
    /// What statements are told of a rollup.
    fn rollup(&self, (number, rollup): (usize, &RollupPart)) -> Value {
        let (from, table) = (&self.schema.tables[0], &self.schema.tables[number]);
        let renewed = self.life.renewed(self.series, self.number, rollup);
        let columns = rollup.columns.iter().zip(&table.fields).map(|((field, kind), of)| {
            let (field, function) = (&from.fields[*field].name, word(*kind));
            let call = if function == "mean" { "avg" } else { &function };
            let called = format!("{call}(\"{field}\")");
            (context! { name => of.name, field, function, call }, called)
        });
        let (columns, calls): (Vec<Value>, Vec<String>) = columns.unzip();
        context! {
            rollup => table.name, number, window => rollup.every_ns, from => renewed.start_ns, until => renewed.end_ns,
            names => quoted(&table.fields.iter().map(|field| &*field.name).collect::<Vec<_>>()), calls => calls.join(", "), columns
        }
    }

    /// The task. Clients work so long before it.
    pub fn task(&self, beside_ns: u64) -> Task {
        let (life, store) = (self.life, &self.subject.store.description().name);
        let keys = match self.subject.layout.tags {
            TagPlacement::OwnTable => vec!["series"],
            _ => self.schema.tables[0].tags.iter().map(|tag| tag.name.as_str()).collect(),
        };
        let old_ns = |age_ns| life.old_ns(self.series, self.number, age_ns);
        let [gone_ns, old_ns] = [life.keep_ns, life.compress_after_ns].map(old_ns);
        let (start_ns, every_ns) = (self.series.start_ns, life.every_ns);
        let first_ns = start_ns - life.keep_ns.unwrap_or(0).rem_euclid(every_ns);
        // They end at the instants of retention.
        let starts = first_ns..start_ns + self.series.duration_ns;
        let starts: Vec<i64> = starts.step_by(usize::try_from(every_ns).unwrap_or(usize::MAX)).collect();
        let rollups: Vec<Value> = (1..).zip(&life.rollups).map(|one| self.rollup(one)).collect();
        let told = context! {
            keys => quoted(&keys), tags => keys, rollups, starts, every => every_ns, before => gone_ns, old => old_ns
        };
        let is_first = self.number == 0;
        let renewed = rollups.iter().filter(|_| !is_first);
        let renewed = renewed.map(|rollup| (ROLLUP, merge_maps([rollup.clone(), told.clone()])));
        let lacks = |kind: &&str| Entry::of(store, kind).err();
        let first = ["prepare", "indexes"].into_iter().filter(|kind| is_first && lacks(kind).is_none());
        let old = [gone_ns.map(|_| RETENTION), old_ns.map(|_| "compression")];
        let due = first.chain(old.into_iter().flatten()).map(|kind| (kind, told.clone()));
        let needed = [life.keep_ns.map(|_| RETENTION), rollups.first().map(|_| ROLLUP)];
        Task {
            name: if is_first { "prepare" } else { "round" }.to_owned(),
            parts: renewed.chain(due).map(|(kind, told)| (kind.to_owned(), told)).collect(),
            beside_ns,
            is_round: true,
            missing: needed.iter().flatten().find_map(lacks).map(|error| error.context().to_owned()),
            change: gone_ns.map(|before_ns| Change::Gone(0, before_ns)),
            ..Task::default()
        }
    }
}

/// Names in a statement.
fn quoted(names: &[&str]) -> String {
    format!("\"{}\"", names.join("\", \""))
}
