//! Showing statements: each command is noted as it is handed to the driver, and the server is asked to explain it.
//!
//! Commands are shown as text, much as JSON, long lists of documents by their first ones; plans by their stages and indexes. Nothing is noted until
//! it is asked for.

use crate::connection::Link;
use mongodb::bson::{Bson, Document, doc};
use sensormark_store::{Statement, StoreError};

const OPERATION: &str = "show statements of MongoDB";
/// Documents and updates of a command that are shown.
const SHOWN: usize = 2;
/// Characters of a stage's details that are shown.
const DETAILS: usize = 300;

impl Link {
    /// What was sent since the last call, with the server's plans.
    ///
    /// # Errors
    /// When a plan is asked for and the server cannot be reached.
    pub(crate) async fn take_statements(&self, with_plans: bool) -> Result<Vec<Statement>, StoreError> {
        let mut statements = Vec::new();
        for command in self.kept.take() {
            let command = Document::try_from(command)
                .map_err(|error| crate::error::store_error(OPERATION, error.into()))?;
            let mut statement = shown(&command);
            if with_plans && let Some(explained) = explainable(command) {
                let asked = doc! { "explain": explained, "verbosity": "queryPlanner" };
                statement = match self.command(OPERATION, asked).await {
                    Ok(answer) => statement.with_plan(plan(&answer).join("\n")),
                    Err(error) => statement.with_note(format!("no plan: {error}")),
                };
            }
            statements.push(statement);
        }
        Ok(statements)
    }
}

/// The command as people read it.
fn shown(command: &Document) -> Statement {
    let (mut command, mut note) = (command.clone(), None);
    for list in ["documents", "updates"] {
        if let Ok(elements) = command.get_array_mut(list)
            && elements.len() > SHOWN
        {
            note = Some(format!("{} {list}, of which the first {SHOWN} are shown", elements.len()));
            elements.truncate(SHOWN);
        }
    }
    let statement = Statement::new(json(&Bson::Document(command)));
    match note {
        None => statement,
        Some(note) => statement.with_note(note),
    }
}

fn json(value: &Bson) -> String {
    value.to_string()
}

/// The command as `explain` takes it; none for one that the server has no plan of.
fn explainable(mut command: Document) -> Option<Document> {
    let is_planned = ["find", "aggregate", "update"];
    let name = command.keys().next()?.clone();
    if !is_planned.contains(&name.as_str()) {
        return None;
    }
    for further in ["maxTimeMS", "writeConcern", "readConcern", "batchSize"] {
        command.remove(further);
    }
    if let Ok(updates) = command.get_array_mut("updates") {
        updates.truncate(1);
    }
    Some(command)
}

/// The stages of a plan, each under the one that it feeds.
fn plan(answer: &Document) -> Vec<String> {
    let mut lines = Vec::new();
    if let Ok(planner) = answer.get_document("queryPlanner") {
        winner(planner, 0, &mut lines);
    }
    for stage in answer.get_array("stages").into_iter().flatten() {
        let Some((name, details)) = stage.as_document().and_then(|stage| stage.iter().next()) else {
            continue;
        };
        let planner = details.as_document().map(|details| details.get_document("queryPlanner"));
        if let Some(Ok(planner)) = planner {
            winner(planner, 0, &mut lines);
        } else {
            lines.push(format!("then {name} {}", cut(json(details))));
        }
    }
    lines
}

fn winner(planner: &Document, depth: usize, lines: &mut Vec<String>) {
    if let Ok(winning) = planner.get_document("winningPlan") {
        // The newer engine states the same plan under a name of its own, beside its program.
        stage(winning.get_document("queryPlan").unwrap_or(winning), depth, lines);
    }
}

fn stage(plan: &Document, depth: usize, lines: &mut Vec<String>) {
    let mut line = format!("{}{}", "  ".repeat(depth), plan.get_str("stage").unwrap_or("?"));
    if let Ok(index) = plan.get_str("indexName") {
        line.push_str(&format!(" {index}"));
    }
    for name in ["keyPattern", "indexBounds", "filter", "direction"] {
        if let Some(value) = plan.get(name)
            && value.as_str() != Some("forward")
        {
            line.push_str(&format!(" {name} {}", cut(json(value))));
        }
    }
    lines.push(line);
    if let Ok(inner) = plan.get_document("inputStage") {
        stage(inner, depth + 1, lines);
    }
    for inner in plan.get_array("inputStages").into_iter().flatten() {
        if let Some(inner) = inner.as_document() {
            stage(inner, depth + 1, lines);
        }
    }
}

fn cut(text: String) -> String {
    match text.char_indices().nth(DETAILS) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The collections and indexes of the link's database, in the server's words; without `hidden`.
///
/// # Errors
/// When the server cannot be asked.
pub(crate) async fn schema(link: &Link, hidden: &str) -> Result<Vec<String>, StoreError> {
    let listed = link.command(OPERATION, doc! { "listCollections": 1 }).await?;
    let mut texts = Vec::new();
    for collection in first_batch(&listed) {
        let name = collection.get_str("name").unwrap_or_default();
        if name == hidden || name.starts_with("system.") {
            continue;
        }
        let options = collection.get_document("options").cloned().unwrap_or_default();
        let kind = collection.get_str("type").unwrap_or("collection");
        let mut text = format!("{kind} {name} {}", json(&Bson::Document(options)));
        let indexes = link.command(OPERATION, doc! { "listIndexes": name }).await?;
        for index in first_batch(&indexes) {
            text.push_str(&format!("\n  index {}", json(&Bson::Document(index.clone()))));
        }
        texts.push(text);
    }
    texts.sort_unstable();
    Ok(texts)
}

fn first_batch(answer: &Document) -> Vec<&Document> {
    let cursor = answer.get_document("cursor");
    let batch = cursor.and_then(|cursor| cursor.get_array("firstBatch"));
    batch.map_or(Vec::new(), |batch| batch.iter().filter_map(Bson::as_document).collect())
}
