//! The collection: one page of many runs, with filters. Of each run it has what it came to, on which machine, with which databases, and what its ranking says.
//!
//! The page keeps its rows as data, too. So a run whose files are as they were is not read again. It opens from disk, and without scripts it is a table.

mod answer;

pub use answer::answer;

use crate::{
    html::{DARK, STYLE, escaped, island},
    prelude::*,
};

/// What a run came to, as [`answer`] makes it.
pub type Answer = Value;

/// A run in the collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its folder, seen from that of the page.
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

/// What makes a page a collection, whatever version wrote it.
const MARK: &str = r#"<meta name="generator" content="sensormark, list of runs">"#;
/// The version of the rows' shape.
const FORMAT: &str = "sensormark-runs/2";
/// What stands around the rows as data.
const ROWS: [&str; 2] = [r#"<script type="application/json">"#, "</script>"];

const PAGE: &str = include_str!("page.html");
const LAYOUT: &str = include_str!("page.css");
const SCRIPT: &str = concat!(include_str!("../html/page/elements.js"), include_str!("page.js"));

/// The rows of an earlier page; none at all where the page is another one. Rows of another shape are left out.
pub fn rows(page: &str) -> Option<Vec<Row>> {
    let (_, rest) = page.split_once(MARK)?;
    let (text, _) = rest.split_once(ROWS[0])?.1.split_once(ROWS[1])?;
    let mut data: Value = serde_json::from_str(text).unwrap_or_default();
    let is_known = data["format"] == FORMAT;
    Some(is_known.then(|| serde_json::from_value(data["rows"].take()).ok()).flatten().unwrap_or_default())
}

/// The page of these runs, in this order.
pub fn render(rows: &[Row]) -> String {
    let body: String = rows.iter().map(row).collect();
    // Rows come last, because a name may look like a place of the template.
    let page = PAGE
        .replace("{{mark}}", MARK)
        .replace("{{count}}", &counted(rows.len(), "run"))
        .replace(
            "{{style}}",
            &format!("{STYLE}\n@media (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}\n{LAYOUT}"),
        )
        .replace("{{script}}", SCRIPT);
    let (head, rest) = page.split_once("{{rows}}").expect("the template has rows");
    let (middle, end) = rest.split_once("{{data}}").expect("the template has data");
    let data = island(&json!({ "format": FORMAT, "rows": rows }));
    format!("{head}{body}{middle}{}{data}{}{end}", ROWS[0], ROWS[1])
}

fn text(text: &str) -> String {
    escaped(&clean(text))
}

/// The items of a list of an answer.
fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// The words of an answer under this name.
fn words<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn row(row: &Row) -> String {
    let (name, link) = (text(&row.name), escaped(&row.link));
    let cells = match &row.answer {
        Err(why) => format!(r#"<td class="choice"><td><td colspan="6">{}"#, text(why)),
        Ok(answer) => {
            let of = |key: &str| text(words(answer, key));
            let started: String = of("started").chars().take(16).collect();
            let badge = of("badge");
            let databases = list(answer, "databases").iter();
            let databases =
                databases.map(|one| format!("{} {}", words(one, "title"), words(one, "version"))).join(", ");
            format!(
                r#"<td class="choice"><input type="checkbox" autocomplete="off" value="{link}" aria-label="compare {name}"><td class="when">{}<td>{}, {}<br><small>{}</small><td class="long">{}{}<td><span class="badge {}">{badge}</span><td>{}<td>{}<br><small>sensormark {}</small><td>{}"#,
                started.replace('T', " "),
                of("workload"),
                of("scale"),
                of("readings"),
                of("winner"),
                ranking(answer),
                badge.replace(' ', "-"),
                text(&databases),
                of("machine"),
                of("program"),
                of("trials"),
            )
        }
    };
    let name = if row.has_page { format!(r#"<a href="{link}/report.html">{name}</a>"#) } else { name };
    format!("<tr>{cells}<th scope=\"row\">{name}</tr>\n")
}

/// The ranking of a run, folded; nothing where nobody is ranked.
fn ranking(answer: &Answer) -> String {
    let layouts = list(answer, "layouts");
    if layouts.is_empty() {
        return String::new();
    }
    let numbers = |of: &Value, key: &str, kind: &str| {
        let cell =
            |one: &Value| format!(r#"<{kind} class="number">{}"#, text(one.as_str().unwrap_or_default()));
        list(of, key).iter().map(cell).join("")
    };
    let mut lines = layouts.iter().map(|one| {
        let [group, label] = ["group", "label"].map(|key| text(words(one, key)));
        let figures = numbers(one, "figures", "td");
        format!(r#"<tr><td>{group}<td class="number">{}<th scope="row">{label}{figures}"#, one["rank"])
    });
    format!(
        r#"<details><summary>ranking of {}</summary><div class="scroll" tabindex="0" role="region" aria-label="Ranking"><table><thead><tr><th>ranking<th class="number">rank<th>layout{}</thead><tbody>{}</tbody></table></div></details>"#,
        counted(layouts.len(), "layout"),
        numbers(answer, "columns", "th"),
        lines.join("")
    )
}
