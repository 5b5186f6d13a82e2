//! The list of several runs, each with its page, and any two to be compared: what `sensormark serve` shows first.

use super::{STYLE, escaped};
use crate::measurement::record::RunRecord;
use crate::report::clean::clean;

/// A run in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its record; or why it cannot be read.
    pub run: Result<RunRecord, String>,
    /// The name of its folder.
    pub name: String,
    /// Trials in it, and how many of them are valid.
    pub trials: (usize, usize),
}

/// The list as a page: runs by their places are at `runs/PLACE`, a comparison at `compare?first=PLACE&second=PLACE`.
pub fn render(entries: &[Entry]) -> String {
    let rows: String = entries
        .iter()
        .enumerate()
        .map(|(place, entry)| row(place, entry))
        .collect();
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'">
<title>sensormark: runs</title>
<style>{STYLE}
@media (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; --paper: #14171b; --ink: #e8eaed; --soft: #a5adb8; --line: #343a42; --panel: #1d2127; --accent: #7ab8ff; }} }}
</style>
</head>
<body>
<header><h1>Runs</h1><p class="note">Choose a run for its report, or two to compare: the first is what the second is held against.</p></header>
<main>
<form action="compare" method="get">
<div class="scroll" tabindex="0" role="region" aria-label="Runs"><table>
<caption>Runs</caption>
<thead><tr><th scope="col">first</th><th scope="col">second</th><th scope="col">run</th><th scope="col">workload</th><th scope="col">scale</th><th scope="col">started</th><th scope="col" class="number">repetitions</th><th scope="col" class="number">valid trials</th></tr></thead>
<tbody>{rows}</tbody>
</table></div>
<div class="tools"><button type="submit">Compare</button></div>
</form>
</main>
</body>
</html>
"#
    )
}

fn row(place: usize, entry: &Entry) -> String {
    let name = escaped(&clean(&entry.name));
    let run = match &entry.run {
        Ok(run) => run,
        Err(why) => {
            let why = escaped(&clean(why));
            return format!(
                "<tr><td></td><td></td><th scope=\"row\">{name}</th><td colspan=\"5\">{why}</td></tr>"
            );
        }
    };
    let choice = |side: &str| {
        format!(
            "<td><input type=\"radio\" name=\"{side}\" value=\"{place}\" required aria-label=\"{name} as {side}\"></td>"
        )
    };
    let (valid, trials) = (entry.trials.1, entry.trials.0);
    let started: String = clean(&run.started).chars().take(19).collect();
    format!(
        "<tr>{}{}<th scope=\"row\"><a href=\"runs/{place}\">{name}</a></th><td>{}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{valid} of {trials}</td></tr>",
        choice("first"),
        choice("second"),
        escaped(&clean(run.title())),
        escaped(&clean(&run.scale)),
        escaped(&started.replace('T', " ")),
        run.repetitions,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_text_and_unreadable_runs_are_told() {
        let entry = Entry {
            run: Err("<b>damaged</b>".to_owned()),
            name: "<script>alert(1)</script>".to_owned(),
            trials: (0, 0),
        };
        let page = render(&[entry]);
        assert!(!page.contains("<script"), "{page}");
        assert!(page.contains("&lt;b&gt;damaged"), "{page}");
    }
}
