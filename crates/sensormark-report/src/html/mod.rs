//! The report of one run or of many as one page that explains itself: no network, no second file, opens from disk.
//!
//! The page's words and tables are the [`Document`] that every format draws from. [`data`] adds what a page can do besides. That is the first screen
//! ([`front`]), the costs behind the ranking, so that a reader's own weights rank again, and [`curves`] and [`time_series`] for its charts.
//!
//! Everything is data in one JSON island, a value a run. The scripts beside this file make elements of the run that is looked at, by text and never by
//! markup, so that a hostile name is shown and not run. A policy in the page forbids it any connection.
//!
//! Charts: Chart.js (MIT), as its makers publish it, in `vendor/`. It is no server of pages: that is the command line's.

mod compact;
mod curves;
mod data;
mod front;
#[cfg(test)]
pub(super) use front::front;
pub(crate) use front::machine;
mod reads;
mod time_series;

use crate::prelude::*;

const PAGE: &str = include_str!("page/page.html");
pub(crate) const STYLE: &str = include_str!("page/page.css");
/// The dark colours of every page.
pub(crate) const DARK: &str = include_str!("page/dark.css");
const CHARTS_LIBRARY: &str = include_str!("vendor/chart.umd.min.js");

/// The version of the data's shape; the page's scripts and it are always of one program.
const FORMAT: &str = "sensormark-page/5";

/// The page's own scripts, in the order in which they run.
const SCRIPTS: [&str; 13] = [
    include_str!("page/elements.js"),
    include_str!("page/colours.js"),
    include_str!("page/costs.js"),
    include_str!("page/tables.js"),
    include_str!("page/charts.js"),
    include_str!("page/times.js"),
    include_str!("page/figures.js"),
    include_str!("page/forest.js"),
    include_str!("page/weights.js"),
    include_str!("../prices/page.js"),
    include_str!("page/rows.js"),
    include_str!("page/front.js"),
    include_str!("page/page.js"),
];

/// A run's report, and its folder, from whose samples time series are read; without it there are none.
pub type Run<'a> = (&'a Report, Option<&'a ResultsFolder>);

/// The whole page, of one run or of many, in this order.
pub fn render(runs: &[Run<'_>]) -> String {
    let title = match runs {
        [(one, _)] => one.document().title.clone(),
        _ => format!("sensormark: {} runs", runs.len()),
    };
    let data = runs.iter().map(|(report, folder)| data::data(report, *folder));
    page(data.collect(), &title)
}

/// A page of a document that is no run's report, a comparison, under this headline.
pub fn render_document(document: &Document, headline: &str) -> String {
    page(vec![data::alone(document, headline)], &document.title)
}

fn page(runs: Vec<Value>, title: &str) -> String {
    let scripts = SCRIPTS.join("\n");
    let style = format!("{STYLE}\n:root[data-theme=\"dark\"] {{ {DARK} }}");
    let data = json!({ "format": FORMAT, "title": title, "runs": runs });
    PAGE.replace("{{title}}", &escaped(title))
        .replace("{{style}}", &style)
        .replace("{{data}}", &island(&data))
        .replace("{{library}}", CHARTS_LIBRARY)
        .replace("{{scripts}}", &scripts)
}

/// JSON that cannot end the element it stands in, nor begin another.
pub(crate) fn island(data: &Value) -> String {
    let text = data.to_string();
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                safe += &format!("\\u{:04x}", u32::from(character));
            }
            other => safe.push(other),
        }
    }
    safe
}

/// Text within an element or an attribute.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_leave_their_element() {
        let hostile = serde_json::json!({ "name": "</script><script>alert(1)</script>&\u{2028}" });
        let text = island(&hostile);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        let read: Value = serde_json::from_str(&text).expect("it is still JSON");
        assert_eq!(read, hostile);
        assert_eq!(escaped("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }

    #[test]
    fn the_page_names_no_other_place() {
        let own = [PAGE, STYLE, DARK].into_iter().chain(SCRIPTS);
        for text in own {
            assert!(!text.contains("http://") && !text.contains("https://"));
        }
        assert!(PAGE.contains("default-src 'none'"));
    }
}
