//! The list of several runs, each with its page, and any two to be compared: what `sensormark serve` shows first.

use super::{DARK, STYLE, escaped};
use crate::measurement::record::RunRecord;
use crate::report::clean::clean;
use crate::report::sections::cells::counted;
use crate::report::summary::{States, Summary};

/// A run in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// When it was started, and what it came to; or why it cannot be read.
    pub run: Result<(RunRecord, Summary), String>,
    /// The name of its folder.
    pub name: String,
}

/// What the list shows of each run.
const HEADINGS: [&str; 9] =
    ["first", "second", "started", "workload", "winner", "", "stores", "trials", "run"];

/// On a phone each run is a block of lines, so that its winner is seen without scrolling sideways.
const NARROW: &str = "@media (max-width: 40rem) {
  .runs, .runs tbody { display: block; }
  .runs thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .runs tbody tr { display: flex; flex-wrap: wrap; align-items: baseline; gap: .2rem .9rem; padding: .7rem; border-bottom: 1px solid var(--line); }
  .runs tbody td, .runs tbody th { display: block; padding: 0; border: 0; background: none; }
  .runs tbody td:empty { display: none; }
  .runs tbody th { order: -1; flex-basis: 100%; }
  .runs .choice { order: 1; }
  .runs .choice::before { content: attr(data-side) ' '; }
}
";

/// The list as a page: runs by their places are at `runs/PLACE`, a comparison at `compare?first=PLACE&second=PLACE`.
pub fn render(entries: &[Entry]) -> String {
    let rows: String = entries.iter().enumerate().map(|(place, entry)| row(place, entry)).collect();
    let heading = |name: &str| match name {
        "" => "<th scope=\"col\"><span class=\"unseen\">how sure</span></th>".to_owned(),
        name => format!("<th scope=\"col\">{name}</th>"),
    };
    let headings: String = HEADINGS.into_iter().map(heading).collect();
    let main = format!(
        r#"<h1>{count}</h1>
<p class="note">Open a run to see its report. To compare two runs of one workload, choose both: the second is compared with the first.</p>
<form action="compare" method="get">
<div class="scroll" tabindex="0" role="region" aria-label="Runs"><table class="runs">
<caption>Runs, the newest first</caption>
<thead><tr>{headings}</tr></thead>
<tbody>{rows}</tbody>
</table></div>
<div class="tools"><button type="submit">Compare</button></div>
</form>"#,
        count = counted(entries.len(), "run")
    );
    around("runs", &main)
}

/// What is said in place of a page, with the way back to the list.
pub fn refusal(why: &str) -> String {
    let why = escaped(&clean(why));
    let main = format!("<h1>This cannot be shown</h1>\n<p>{why}</p>\n<p><a href=\"/\">All runs</a></p>");
    around("not shown", &main)
}

/// A page of the server, without a script.
fn around(title: &str, main: &str) -> String {
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'">
<title>sensormark: {title}</title>
<style>{STYLE}
@media (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}
{NARROW}</style>
</head>
<body>
<header class="top"><div class="bar"><p class="brand">sensormark</p></div></header>
<main>
{main}
</main>
</body>
</html>
"#
    )
}

fn row(place: usize, entry: &Entry) -> String {
    let name = escaped(&clean(&entry.name));
    let (run, summary) = match &entry.run {
        Ok(run) => run,
        Err(why) => {
            let why = escaped(&clean(why));
            return format!(
                "<tr><td></td><td></td><td></td><td colspan=\"5\">{why}</td><th scope=\"row\">{name}</th></tr>"
            );
        }
    };
    let choice = |side: &str| {
        format!(
            "<td class=\"choice\" data-side=\"{side}\"><input type=\"radio\" name=\"{side}\" value=\"{place}\" required aria-label=\"{name} as {side}\"></td>"
        )
    };
    let started: String = clean(&run.started).chars().take(16).collect();
    let badge = summary.badge();
    format!(
        "<tr>{}{}<td class=\"when\">{}</td><td>{}</td><td class=\"long\">{}</td><td><span class=\"badge {}\">{badge}</span></td><td>{}</td><td>{}</td><th scope=\"row\"><a href=\"runs/{place}\">{name}</a></th></tr>",
        choice("first"),
        choice("second"),
        escaped(&started.replace('T', " ")),
        escaped(&format!("{}, {}", summary.workload, summary.scale)),
        escaped(&summary.winner.clone().unwrap_or_else(|| summary.title())),
        badge.replace(' ', "-"),
        escaped(&clean(&summary.stores.join(", "))),
        states(summary.states),
    )
}

/// Trials by state, those that there are.
fn states(states: States) -> String {
    let all = [(states.valid, "valid"), (states.disturbed, "disturbed"), (states.invalid, "invalid")];
    let some = all.iter().filter(|(count, _)| *count > 0);
    let texts: Vec<String> = some.map(|(count, state)| format!("{count} {state}")).collect();
    match texts.is_empty() {
        true => "none".to_owned(),
        false => texts.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::fixture::{CHEAP, implementation, run, trial};
    use crate::report::{Report, ReportOptions};

    #[test]
    fn hostile_names_stay_text_and_unreadable_runs_are_told() {
        let entry =
            Entry { run: Err("<b>damaged</b>".to_owned()), name: "<script>alert(1)</script>".to_owned() };
        let page = render(&[entry]);
        assert!(!page.contains("<script"), "{page}");
        assert!(page.contains("&lt;b&gt;damaged"), "{page}");
    }

    #[test]
    fn a_run_is_listed_with_its_winner_stores_and_states() {
        let entry = |started: &str| {
            let trials = vec![
                trial(implementation("SQLite", "bulk", None), 0, CHEAP),
                trial(implementation("SQLite", "bulk", Some("bulk")), 0, CHEAP),
            ];
            let run = RunRecord { started: started.to_owned(), ..run() };
            let report = Report::new(run.clone(), trials, &ReportOptions::default());
            Entry { run: Ok((run, report.expect("a report").summary())), name: started.to_owned() }
        };
        let entries = [entry("2026-01-02T00:00:00Z")];
        let page = render(&entries);
        for told in
            ["<td class=\"long\">SQLite bulk</td>", "<td>sqlite</td>", "<td>2 valid</td>", "badge rough"]
        {
            assert!(page.contains(told), "{told}: {page}");
        }
    }
}
