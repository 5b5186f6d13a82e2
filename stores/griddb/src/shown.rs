//! Showing statements: questions in TQL and calls of the C client are noted where they are made; GridDB explains those of TQL.
//!
//! Nothing is noted until it is asked for.

use crate::client::Connection;
use crate::sent::Sent;
use sensormark_store::Statement;

/// What was sent since the last call, with the server's plans of questions.
pub(crate) fn take(connection: &Connection, with_plans: bool) -> Vec<Statement> {
    let kept = connection.kept().take();
    let keeps = kept.is_some();
    let explained = |Sent { statement, asked }| match asked {
        Some(container) if with_plans => match plan(connection, &container, &statement) {
            Ok(plan) => statement.with_plan(plan),
            Err(reason) => statement.with_note(format!("GridDB gave no plan: {reason}")),
        },
        _ => statement,
    };
    let statements = kept.unwrap_or_default().into_iter().map(explained);
    let statements = statements.collect();
    // Plans were asked for over the same connection; they are not kept.
    if keeps {
        connection.kept().start();
    }
    statements
}

/// How the server would carry a question out, without doing it.
fn plan(connection: &Connection, container: &str, statement: &Statement) -> Result<String, String> {
    let found = connection.container(container);
    let found = found.map_err(|failure| failure.to_string())?;
    let container = found.ok_or("its container is gone")?;
    let explained = container.ask(&format!("EXPLAIN {}", statement.text)).and_then(|found| found.plan());
    let lines = explained.map_err(|failure| failure.to_string())?;
    Ok(lines.join("\n"))
}
