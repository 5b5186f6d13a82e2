//! What a run of the collection came to, as its page keeps it.

use crate::{html::machine, prelude::*};

/// What this report says: the run, who won and how sure that is, what was measured where, and who is ranked, best first.
pub fn answer(report: &Report) -> Value {
    let (field, summary) = (report.field(), report.summary());
    let (run, states) = (&field.run, summary.states);
    let counts = [
        (states.valid, "valid"),
        (states.disturbed, "disturbed"),
        (states.invalid, "invalid"),
        (summary.not_measured.len(), "not measured"),
    ];
    let some = counts.iter().filter(|(count, _)| *count > 0).map(|(count, state)| format!("{count} {state}"));
    let unfinished = run.finished.is_none().then(|| "not finished".to_owned());
    let winner = match &summary.winner {
        // What survives a kill ranks nobody.
        _ if !report.has_answer() => "none: it asks what survives".to_owned(),
        Some(winner) if summary.ranked.len() == 1 => format!("{winner}, alone in its ranking"),
        _ if summary.trials == 0 && run.finished.is_none() => {
            "no winner: the run goes on, or was broken off".to_owned()
        }
        _ => summary.winner_or_reason(),
    };
    let columns = summary.columns.iter().map(|one| {
        let [name, of] = one.heading;
        format!("{name}{} [{}]", if of.starts_with('/') { of } else { "" }, one.unit)
    });
    let columns = ["cost".to_owned()].into_iter().chain(columns).collect_vec();
    json!({
        "started": run.started,
        "workload": summary.workload,
        "scale": summary.scale,
        "readings": Readings::text(summary.readings),
        "winner": winner,
        "badge": if report.has_answer() { summary.badge() } else { "" },
        "databases": databases(field),
        "machine": machine(&run.environment),
        "program": clean(&run.sensormark),
        "trials": some.chain(unfinished).join(", "),
        "columns": columns,
        "layouts": if report.has_answer() { layouts(field, &summary) } else { vec![] },
    })
}

/// Every database with its version: what the server says, or an embedded one's own setting.
fn databases(field: &Field) -> Vec<Value> {
    let version = |trial: &TrialRecord| {
        let setting = || trial.settings.iter().find(|one| one.name.ends_with("version"));
        let known = trial.server.as_ref().map(|server| &server.version);
        let text = known.or_else(|| setting().map(|one| &one.value))?;
        Some(clean(text.split(['-', ' ', '+']).next()?))
    };
    each_once(field.trials.iter().map(|trial| {
        json!({ "title": clean(&trial.implementation.title), "version": version(trial).unwrap_or_default() })
    }))
}

/// Who is ranked, with its figures in words, one a column.
fn layouts(field: &Field, summary: &Summary) -> Vec<Value> {
    let layout = |one: &SummaryRow| {
        let arm = field.contestants().iter().find(|arm| arm.label == one.label);
        let figures =
            one.figures.iter().map(|figure| figure.map_or("–".to_owned(), |value| significant(value, 3)));
        let figures = [times(one.ratio)].into_iter().chain(figures).collect_vec();
        json!({
            "label": one.label,
            "database": arm.map(|arm| clean(&arm.implementation.title)),
            "group": one.ranking.title(),
            "rank": one.rank,
            "ratio": one.ratio,
            "figures": figures,
        })
    };
    summary.ranked.iter().map(layout).collect()
}
