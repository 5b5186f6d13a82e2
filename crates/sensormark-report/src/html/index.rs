//! `index.html`, the list of the runs of a results folder: what each came to, its page, and any two to be compared. It opens from disk.
//!
//! The list keeps its rows as data, too. So a run whose files are as they were is not read again.

use super::{DARK, STYLE, escaped, island};
use crate::clean::clean;
use crate::run_report::Report;
use crate::sections::cells::counted;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A run in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The name of its folder.
    pub name: String,
    /// The same in a link, percent-encoded.
    pub link: String,
    /// Whether its page is there.
    pub has_page: bool,
    /// A number that changes with the run's files.
    pub files: u64,
    /// What it came to; or why it cannot be read.
    pub answer: Result<Answer, String>,
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// The workload and its scale or file.
    workload: String,
    /// Who won; or why nobody did.
    winner: String,
    /// How sure that is.
    badge: String,
    /// What was measured.
    stores: String,
    /// Trials by state.
    trials: String,
}

impl Answer {
    /// What this report says.
    pub fn of(report: &Report) -> Self {
        let (run, summary) = (&report.field().run, report.summary());
        let (states, left_out) = (summary.states, summary.not_measured.len());
        let states = [
            (states.valid, "valid"),
            (states.disturbed, "disturbed"),
            (states.invalid, "invalid"),
            (left_out, "not measured"),
        ];
        let some = states.iter().filter(|(count, _)| *count > 0);
        let mut trials: Vec<String> = some.map(|(count, state)| format!("{count} {state}")).collect();
        let mut winner = summary.winner_or_reason();
        if run.finished.is_none() {
            trials.push("not finished".to_owned());
            if summary.trials == 0 {
                "no winner: the run goes on, or was broken off".clone_into(&mut winner);
            }
        }
        Self {
            started: run.started.clone(),
            workload: format!("{}, {}", summary.workload, summary.scale),
            winner,
            badge: summary.badge().to_owned(),
            stores: summary.stores.join(", "),
            trials: trials.join(", "),
        }
    }
}

/// What makes a page this list, whatever version wrote it.
const MARK: &str = r#"<meta name="generator" content="sensormark, list of runs">"#;
/// The version of the rows' shape.
const FORMAT: &str = "sensormark-runs/1";
/// What stands around the rows as data.
const ROWS: [&str; 2] = [r#"<script type="application/json">"#, "</script>"];

const SCRIPT: &str = include_str!("page/index.js");

/// A choice is for those who run scripts. On a phone each run is a block of lines, so that its winner is seen without scrolling sideways.
const LAYOUT: &str = "
:root:not(.choosing) .choice { display: none; }
@media (max-width: 40rem) {
  .runs, .runs tbody { display: block; }
  .runs thead { display: none; }
  .runs tbody tr { display: flex; flex-wrap: wrap; align-items: baseline; gap: .2rem .9rem; padding: .7rem; border-bottom: 1px solid var(--line); }
  .runs tbody td, .runs tbody th { padding: 0; border: 0; overflow-wrap: anywhere; }
  .runs tbody td:empty { display: none; }
  .runs tbody th { order: -1; flex-basis: 100%; }
}
";

/// The rows of an earlier list; none at all where the page is another one. Rows of another shape are left out.
pub fn rows(page: &str) -> Option<Vec<Row>> {
    let (_, rest) = page.split_once(MARK)?;
    let (text, _) = rest.split_once(ROWS[0])?.1.split_once(ROWS[1])?;
    let mut data: Value = serde_json::from_str(text).unwrap_or_default();
    let is_known = data["format"] == FORMAT;
    let rows = is_known.then(|| serde_json::from_value(data["rows"].take()).ok()).flatten();
    Some(rows.unwrap_or_default())
}

/// The list as a page beside the runs' folders, in this order.
pub fn render(rows: &[Row]) -> String {
    let count = counted(rows.len(), "run");
    let body: String = rows.iter().map(row).collect();
    let data = island(&json!({ "format": FORMAT, "rows": rows }));
    let [begin, end] = ROWS;
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{MARK}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>sensormark: {count}</title>
<style>{STYLE}
@media (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}
{LAYOUT}</style>
</head>
<body>
<header class="top"><div class="bar"><p class="brand">sensormark</p></div></header>
<main>
<h1>{count}</h1>
<p class="note">Open a run to see its report. <span class="choice">Choose two runs of one workload to get the command that compares them.</span></p>
<p class="tools" aria-live="polite" hidden><code></code> <button type="button">Copy</button></p>
<div class="scroll" tabindex="0" role="region" aria-label="Runs"><table class="runs">
<caption>Runs, the newest first</caption>
<thead><tr><th class="choice">compare<th>started, UTC<th>workload<th>winner<th><span class="unseen">how sure</span><th>stores<th>trials<th>run</thead>
<tbody>
{body}</tbody>
</table></div>
</main>
<footer><p>Each run writes this list anew. <code>sensormark compare EARLIER LATER --html FILE</code> compares two runs on a page.</p></footer>
{begin}{data}{end}
<script>{SCRIPT}</script>
</body>
</html>
"#
    )
}

fn row(row: &Row) -> String {
    let text = |text: &str| escaped(&clean(text));
    let (name, link) = (text(&row.name), escaped(&row.link));
    let cells = match &row.answer {
        Err(why) => format!(r#"<td class="choice"><td><td colspan="5">{}"#, text(why)),
        Ok(answer) => {
            let started: String = answer.started.chars().take(16).collect();
            let badge = text(&answer.badge);
            format!(
                r#"<td class="choice"><input type="checkbox" autocomplete="off" value="{link}" aria-label="compare {name}"><td class="when">{}<td>{}<td class="long">{}<td><span class="badge {}">{badge}</span><td>{}<td>{}"#,
                text(&started.replace('T', " ")),
                text(&answer.workload),
                text(&answer.winner),
                badge.replace(' ', "-"),
                text(&answer.stores),
                text(&answer.trials),
            )
        }
    };
    let name = if row.has_page { format!(r#"<a href="{link}/report.html">{name}</a>"#) } else { name };
    format!("<tr>{cells}<th scope=\"row\">{name}</tr>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReportOptions;
    use sensormark_result::measurement::record::RunRecord;
    use sensormark_result::measurement::verdict::ReasonKind;
    use sensormark_result::tests::fixture::{CHEAP, implementation, invalid, run, trial};

    fn report(run: RunRecord) -> Report {
        let trials = vec![
            trial(implementation("SQLite", "bulk", None), 0, CHEAP),
            trial(implementation("SQLite", "bulk", Some("bulk")), 0, CHEAP),
        ];
        Report::new(run, trials, &ReportOptions::default())
    }

    fn listed(name: &str, answer: Result<Answer, String>) -> Row {
        let link = name.replace(|one: char| !one.is_ascii_alphanumeric(), "%");
        Row { name: name.to_owned(), link, has_page: true, files: u64::MAX, answer }
    }

    /// The page without the program's own scripts and the rows as data.
    fn table(page: &str) -> &str {
        let (_, rest) = page.split_once("<tbody>").expect("a table");
        rest.split_once("</tbody>").expect("its end").0
    }

    #[test]
    fn hostile_names_stay_text_and_unreadable_runs_are_told() {
        const HOSTILE: &str = "</script><script>alert(1)</script>\"><img src=x onerror=alert(1)>\u{202e}";
        let hostile = RunRecord { scale: HOSTILE.to_owned(), started: HOSTILE.to_owned(), ..run() };
        let rows = [
            listed(HOSTILE, Err("<b>damaged</b>".to_owned())),
            listed(HOSTILE, Ok(Answer::of(&report(hostile)))),
        ];
        let page = render(&rows);
        let table = table(&page);
        assert!(
            !table.contains("<script") && !table.contains("<img") && !table.contains('\u{202e}'),
            "{table}"
        );
        assert!(table.contains("&lt;b&gt;damaged"), "{table}");
        assert_eq!(page.matches("<script").count(), 2, "the rows and the page's own");
        assert_eq!(super::rows(&page), Some(rows.to_vec()));
    }

    #[test]
    fn a_run_is_listed_with_its_winner_stores_states_and_page() {
        let page = render(&[listed("one", Ok(Answer::of(&report(run()))))]);
        for told in [
            "<td class=\"long\">SQLite bulk<td>",
            "<td>sqlite<td>",
            "<td>2 valid<th",
            "badge rough",
            "<a href=\"one/report.html\">one</a>",
            "<h1>1 run</h1>",
        ] {
            assert!(page.contains(told), "{told}: {page}");
        }
        let going_on = Answer::of(&report(RunRecord { finished: None, ..run() }));
        assert_eq!(going_on.trials, "2 valid, not finished");
    }

    #[test]
    fn who_has_no_winner_says_why() {
        let nothing = Report::new(run(), Vec::new(), &ReportOptions::default());
        let answer = Answer::of(&nothing);
        assert_eq!(answer.winner, "no winner: No trial was finished, so nothing can be ranked.");

        let bulk = trial(implementation("SQLite", "bulk", None), 0, CHEAP);
        let trials = vec![invalid(bulk, ReasonKind::LostData, "3 readings are lost")];
        let lost = Report::new(run(), trials, &ReportOptions::default());
        let answer = Answer::of(&lost);
        assert_eq!(answer.badge, "not decided");
        assert_eq!(answer.trials, "1 invalid");
        let reason = answer.winner.strip_prefix("no winner: SQLite bulk").expect("it is told");
        assert!(reason.contains("invalid: lost data"), "{reason}");
    }

    #[test]
    fn only_a_list_has_rows() {
        let page = render(&[]);
        assert!(page.contains("<h1>0 runs</h1>"));
        assert_eq!(rows(&page), Some(Vec::new()));
        assert_eq!(rows(&page.replace(FORMAT, "sensormark-runs/0")), Some(Vec::new()));
        assert_eq!(rows("<!doctype html><title>mine</title>"), None);
        assert!(
            !page.contains("http://") && !page.contains("https://") && page.contains("default-src 'none'")
        );
    }
}
