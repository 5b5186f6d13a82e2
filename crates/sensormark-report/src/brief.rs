//! A report's last screen: the answer, the ranking and what to do next, in few lines. It draws what the [`Summary`] says.

use crate::{
    prelude::*,
    summary::{NotRanked, SummaryColumn, SummaryRow},
    text::{left_padded, right_padded},
};

/// The narrowest that is drawn.
const NARROWEST: usize = 40;
/// The widest: a table of few columns is easier to read close together.
const WIDEST: usize = 100;
/// What stands before every line of the answer.
const INDENT: &str = "  ";
/// Between columns.
const GAP: usize = 2;
/// A space at which no line ends.
const NO_BREAK: &str = "\u{a0}";
/// The least rows of a ranking.
const LEAST_ROWS: usize = 3;
/// The least width of a name.
const LEAST_NAME: usize = 20;

/// What a reader may do next.
#[derive(Default)]
pub struct Paths {
    /// The page, where there is one.
    pub page: Option<String>,
    /// The list of runs, where there are others.
    pub list: Option<String>,
    /// The command that prints everything.
    pub everything: Option<String>,
    /// The command that measures again, surer.
    pub firmer: Option<String>,
    /// What acknowledgements promised.
    pub promise: Option<String>,
    /// The command that tries the promise.
    pub power_cut: Option<String>,
}

/// The room that a terminal has.
#[derive(Clone, Copy)]
pub struct Room {
    /// Columns.
    pub width: usize,
    /// Lines; none where nothing scrolls away.
    pub height: Option<usize>,
}

/// The last screen. Where the ranking does not fit, its end is left out, and a line says so.
pub fn render(summary: &Summary, paths: &Paths, room: Room) -> String {
    let width = room.width.clamp(NARROWEST, WIDEST);
    let mut head = title(summary, width);
    head.push(String::new());
    head.extend(headline(summary, width, room.height));
    if let Some(text) = summary.how_sure() {
        head.extend(wrap(&text, width - INDENT.len()).into_iter().map(indent));
    }
    let tail = tail(summary, paths, width);
    // One line is left for the prompt that follows, and a terminal wraps a path that is too long.
    let drawn = |line: &String| line.width().div_ceil(room.width.max(1)).max(1);
    let fixed_lines = head.len() + tail.iter().map(drawn).sum::<usize>() + 1;
    let left = room.height.map(|height| height.saturating_sub(fixed_lines));
    let table = table(summary, width, left);
    let mut lines = head.into_iter().chain(table).chain(tail).collect_vec();
    // The ranking has its least rows in any case. Where that is too much, blank lines make room.
    while room.height.is_some_and(|height| lines.iter().map(drawn).sum::<usize>() >= height)
        && let Some(blank) = lines.iter().position(String::is_empty)
    {
        lines.remove(blank);
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The answer; where it would take the room of the ranking, its last sentences are left out, and a line says so.
fn headline(summary: &Summary, width: usize, height: Option<usize>) -> Vec<String> {
    let most = height.map_or(usize::MAX, |height| (height / 4).max(3));
    let mut lines = vec![];
    let sentences = &summary.headline;
    for (number, sentence) in sentences.iter().enumerate() {
        let wrapped = wrap(sentence, width - INDENT.len());
        let is_last = number + 1 == sentences.len();
        if number > 0 && lines.len() + wrapped.len() + usize::from(!is_last) > most {
            lines.push(more(sentences.len() - number));
            break;
        }
        lines.extend(wrapped.into_iter().map(indent));
    }
    lines
}

fn indent(line: String) -> String {
    format!("{INDENT}{line}")
}

fn title(summary: &Summary, width: usize) -> Vec<String> {
    // The first line is to have what was measured, so of many databases it has their number.
    let stores = match summary.stores.len() {
        0..=2 => summary.stores.join(", "),
        more => format!("{more} databases"),
    };
    // A time stays in one line.
    let time = summary.seconds.map_or_else(|| "not finished".to_owned(), span).replace(' ', NO_BREAK);
    let (workload, scale) = (summary.workload.clone(), summary.scale.clone());
    let parts =
        [workload, scale, stores, Readings::text(summary.readings), counted(summary.trials, "trial"), time];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    wrap(&parts.collect_vec().join(" · "), width).iter().map(|line| line.replace(NO_BREAK, " ")).collect()
}

/// A span of time, in the units that people would say it in.
pub fn span(seconds: f64) -> String {
    let seconds = sensormark_data::units::round_u64(seconds);
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) if minutes < 10 => format!("{minutes} min {seconds} s"),
        (0, minutes, _) => format!("{minutes} min"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

fn tail(summary: &Summary, paths: &Paths, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for text in [Some(&summary.checks), paths.promise.as_ref()].into_iter().flatten() {
        lines.extend(wrap(text, width - INDENT.len()).into_iter().map(indent));
    }
    lines.push(String::new());
    let paths = [
        ("page", &paths.page),
        ("all runs", &paths.list),
        ("everything", &paths.everything),
        ("firmer", &paths.firmer),
        ("power cut", &paths.power_cut),
    ];
    for (name, path) in paths {
        // A path is copied, so it is never wrapped.
        lines.extend(path.iter().map(|path| format!("{INDENT}{name:<12}{path}")));
    }
    lines
}

/// A row of the table: rank, name, cost and figures.
type Line = Vec<String>;

/// How wide the parts of a row are: as wide as the rows need, the name as far as there is room.
fn widths(rows: &[Line], heads: &[Line], width: usize) -> Vec<usize> {
    let widest = |place: usize| rows.iter().chain(heads).map(|row| row[place].width()).max().unwrap_or(0);
    let mut widths = (0..heads[0].len()).map(|place| widest(place) + GAP).collect_vec();
    widths[0] = widest(0).max(1) + 1;
    let others = INDENT.len() + widths[0] + widths[2..].iter().sum::<usize>();
    let room = width.saturating_sub(others).max(LEAST_NAME);
    widths[1] = widest(1).max(LEAST_NAME).min(room);
    widths
}

fn drawn_row(row: &Line, widths: &[usize]) -> String {
    let figures = row[2..].iter().zip(&widths[2..]);
    let figures: String = figures.map(|(text, width)| left_padded(text, *width)).collect();
    let name = right_padded(&cut(&row[1], widths[1]), widths[1]);
    format!("{INDENT}{}{name}{figures}", right_padded(&row[0], widths[0]))
}

/// The ranking and who is not in it, in so many lines at most.
fn table(summary: &Summary, width: usize, most: Option<usize>) -> Vec<String> {
    let columns = &summary.columns;
    let groups = summary.ranked.chunk_by(|one, other| one.ranking == other.ranking);
    let ranked = groups.flat_map(|group| group.iter().map(|row| line(row, group.len(), columns)));
    let lacking = summary
        .lacking
        .iter()
        .map(|row| row_of("–".to_owned(), &row.label, "–".to_owned(), &row.figures, columns, row.rough));
    let rows = ranked.chain(lacking).collect_vec();
    let heads = [["", "layout", "cost"], [""; 3]].into_iter().enumerate().map(|(place, first)| {
        first
            .into_iter()
            .chain(columns.iter().map(|column| column.heading[place]))
            .map(str::to_owned)
            .collect()
    });
    let heads: Vec<Line> = heads.collect();
    let widths = widths(&rows, &heads, width);
    // A reason is whole or not there, so an entry may have several lines.
    let mut body = rows.iter().map(|row| vec![drawn_row(row, &widths)]).collect_vec();
    let least = LEAST_ROWS + name_rankings(summary, &mut body);
    body.extend(summary.not_ranked.iter().map(|one| not_ranked(one, width)));
    let lines_of = |body: &[Vec<String>]| body.iter().map(Vec::len).sum::<usize>();
    let mut lines = vec![];
    lines.extend((!body.is_empty()).then(String::new));
    if !rows.is_empty() {
        let heads = heads.iter().map(|head| drawn_row(head, &widths));
        lines.extend(heads.filter(|line| !line.trim().is_empty()));
    }
    let beside = |rows: usize| most.map(|most| most.saturating_sub(lines.len() + rows));
    let mut legend = legend(summary, width, [lines_of(&body).min(least), lines_of(&body)].map(beside));
    legend.extend(not_measured(summary, width));
    let used = lines.len() + legend.len();
    let room = most.map_or(usize::MAX, |most| most.saturating_sub(used).max(least));
    let all = body.len();
    let mut fits = lines_of(&body) <= room;
    while !fits && body.pop().is_some() {
        fits = lines_of(&body) < room;
    }
    let left_out = all - body.len();
    lines.extend(body.into_iter().flatten());
    if left_out > 0 {
        lines.push(more(left_out));
    }
    lines.extend(legend);
    lines
}

/// That so many are left out.
fn more(left_out: usize) -> String {
    format!("{INDENT}… and {left_out} more: see everything")
}

/// Puts the name of each ranking above its first row, where there are several, and says how many there are.
fn name_rankings(summary: &Summary, body: &mut [Vec<String>]) -> usize {
    let groups = || summary.ranked.chunk_by(|one, other| one.ranking == other.ranking);
    let (mut first, count) = (0, groups().count());
    if count < 2 {
        return 0;
    }
    for group in groups() {
        body[first].insert(0, indent(format!("{}:", group[0].ranking.title())));
        first += group.len();
    }
    count
}

fn not_ranked(one: &NotRanked, width: usize) -> Vec<String> {
    let text = format!("– {}: {}", one.label, one.reason);
    let lines = wrap(&text, width - 2 * INDENT.len()).into_iter();
    let further = |(line, text): (usize, String)| if line == 0 { indent(text) } else { indent(indent(text)) };
    lines.enumerate().map(further).collect()
}

/// One line for everything that was not measured: as many names as it holds, and how many more; `--full` has all, with the reasons.
fn not_measured(summary: &Summary, width: usize) -> Option<String> {
    let names = summary.not_measured.iter().map(|one| one.label.as_str()).collect_vec();
    let text = |shown: usize| {
        let more = names.len() - shown;
        let more = if more > 0 { format!("; {more} more: --full") } else { String::new() };
        format!("    not measured: {}{more}", names[..shown].join("; "))
    };
    let fits = |shown: &usize| text(*shown).width() <= width;
    let shown = (1..=names.len()).rev().find(fits);
    let many = || format!("    not measured: {}: --full", names.len());
    (!names.is_empty()).then(|| shown.map_or_else(many, text))
}

/// What the headings mean: all of them beside the least rows, in so many lines at most; or what goes beside all rows. Then the first columns go without,
/// because their headings say most.
fn legend(summary: &Summary, width: usize, most: [Option<usize>; 2]) -> Vec<String> {
    const OF_MISSING: &str = "–: lacks something, so it is not ranked";
    const OF_COST: &str = "cost: all criteria together, times the lowest of the ranking";
    if summary.ranked.is_empty() && summary.lacking.is_empty() {
        return vec![];
    }
    let columns = summary.columns.iter().map(|column| column.meaning);
    let of_cost = (!summary.ranked.is_empty()).then_some(OF_COST);
    let of_missing = (!summary.lacking.is_empty()).then_some(OF_MISSING);
    let meanings = columns.chain(of_cost).chain(of_missing).collect_vec();
    let from = |first: usize| wrap(&meanings[first..].join("; "), width - 4);
    let fits = |lines: &Vec<String>, most: Option<usize>| most.is_none_or(|most| lines.len() <= most);
    let whole = Some(from(0)).filter(|lines| fits(lines, most[0]));
    let end = || (1..meanings.len()).map(from).find(|lines| fits(lines, most[1]));
    let legend = whole.or_else(end);
    let lines = legend.into_iter().flatten();
    lines.map(|line| format!("    {line}")).collect()
}

/// A row with these figures, as the columns show them.
fn row_of(
    rank: String,
    label: &str,
    cost: String,
    figures: &[Known],
    columns: &[SummaryColumn],
    is_rough: bool,
) -> Line {
    let figures = figures.iter().zip(columns).map(|(value, column)| {
        let mark = if is_rough && column.is_time { "~" } else { "" };
        value.map_or_else(|| "–".to_owned(), |value| format!("{mark}{}", significant(value, 3)))
    });
    [rank, label.to_owned(), cost].into_iter().chain(figures).collect()
}

/// A row of a ranking of so many: a ratio compares, and one alone has nobody to compare with.
fn line(row: &SummaryRow, many: usize, columns: &[SummaryColumn]) -> Line {
    let mark = row.meets.map_or_else(String::new, |outcome| format!("{} ", outcome.mark()));
    let cost = if many > 1 { times(row.ratio) } else { "–".to_owned() };
    let interval = |it: Interval| format!(" [{}, {}]", significant(it.low, 2), significant(it.high, 2));
    let cost = cost + &row.interval.map_or_else(String::new, interval);
    row_of(format!("{mark}{}", row.rank), &row.label, cost, &row.figures, columns, row.rough)
}

/// The text, its end left out where it is wider.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    for character in text.chars() {
        if cut.width() + 1 >= width {
            break;
        }
        cut.push(character);
    }
    cut + "…"
}

#[cfg(test)]
mod tests {
    use super::span;

    #[test]
    fn a_span_has_no_part_that_is_nothing() {
        for (seconds, text) in [
            (48.6, "49 s"),
            (167.0, "2 min 47 s"),
            (300.0, "5 min"),
            (900.0, "15 min"),
            (7_200.0, "2 h"),
            (4_380.0, "1 h 13 min"),
        ] {
            assert_eq!(span(seconds), text);
        }
    }
}
