//! A report's last screen: the answer, the ranking and what to do next, in few lines. It draws what the [`Summary`] says.

use crate::{
    prelude::*,
    summary::{NotRanked, SummaryColumn},
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
    let mut lines = title(summary, width);
    lines.push(String::new());
    lines.extend(headline(summary, width, room.height));
    lines.extend(summary.how_sure().iter().flat_map(|text| told(text, width)));
    let tail = tail(summary, paths, width);
    // One line is left for the prompt that follows, and a terminal wraps a path that is too long.
    let drawn = |line: &String| line.width().div_ceil(room.width.max(1)).max(1);
    let used = lines.len() + tail.iter().map(drawn).sum::<usize>() + 1;
    lines.extend(table(summary, width, room.height.map_or(usize::MAX, |height| height.saturating_sub(used))));
    lines.extend(tail);
    // The ranking has its least rows in any case. Where that is too much, blank lines make room.
    while room.height.is_some_and(|height| lines.iter().map(drawn).sum::<usize>() >= height)
        && let Some(blank) = lines.iter().position(String::is_empty)
    {
        lines.remove(blank);
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The text in indented lines.
fn told(text: &str, width: usize) -> impl Iterator<Item = String> {
    wrap(text, width - INDENT.len()).into_iter().map(indent)
}

/// The answer; where it would take the room of the ranking, its last sentences are left out, and a line says so.
fn headline(summary: &Summary, width: usize, height: Option<usize>) -> Vec<String> {
    let most = height.map_or(usize::MAX, |height| (height / 4).max(3));
    let mut lines = vec![];
    let all = summary.headline.len();
    for (number, sentence) in summary.headline.iter().enumerate() {
        let told = told(sentence, width).collect_vec();
        if number > 0 && lines.len() + told.len() + usize::from(number + 1 < all) > most {
            lines.push(more(all - number));
            break;
        }
        lines.extend(told);
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
    let text = parts.into_iter().filter(|part| !part.is_empty()).join(" · ");
    wrap(&text, width).iter().map(|line| line.replace(NO_BREAK, " ")).collect()
}

/// A span of time, in the units that people would say it in.
pub fn span(seconds: f64) -> String {
    let seconds = round_u64(seconds);
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes @ 1..10, seconds @ 1..) => format!("{minutes} min {seconds} s"),
        (0, minutes, _) => format!("{minutes} min"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

fn tail(summary: &Summary, paths: &Paths, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let checked = [&summary.checks].into_iter().chain(&paths.promise);
    lines.extend(checked.flat_map(|text| told(text, width)));
    lines.push(String::new());
    let paths = [
        ("page", &paths.page),
        ("all runs", &paths.list),
        ("everything", &paths.everything),
        ("firmer", &paths.firmer),
        ("power cut", &paths.power_cut),
    ];
    // A path is copied, so it is never wrapped.
    let named = |(name, path): (&str, &Option<String>)| Some(indent(format!("{name:<12}{}", path.as_ref()?)));
    lines.extend(paths.into_iter().filter_map(named));
    lines
}

/// A row of the table: rank, name, cost and figures.
type Line = Vec<String>;

/// Rows with columns as wide as they need, the name as far as there is room.
fn drawn(rows: &[Line], width: usize) -> Vec<String> {
    let widest = |place: usize| rows.iter().map(|row| row[place].width()).max().unwrap_or(0);
    let rank = widest(0).max(1) + 1;
    let figures = (2..rows[0].len()).map(|place| widest(place) + GAP).collect_vec();
    let others = INDENT.len() + rank + figures.iter().sum::<usize>();
    let name = widest(1).max(LEAST_NAME).min(width.saturating_sub(others).max(LEAST_NAME));
    let row = |row: &Line| {
        let figures = row[2..].iter().zip(&figures).map(|(text, width)| left_padded(text, *width)).join("");
        indent(right_padded(&row[0], rank) + &right_padded(&cut(&row[1], name), name) + &figures)
    };
    rows.iter().map(row).collect()
}

/// The ranking and who is not in it, in so many lines at most.
fn table(summary: &Summary, width: usize, most: usize) -> Vec<String> {
    let columns = &summary.columns;
    let head = |place: usize, first: [&str; 3]| {
        let further = columns.iter().map(|column| column.heading[place]);
        first.into_iter().chain(further).map(str::to_owned).collect_vec()
    };
    let mut rows = vec![head(0, ["", "layout", "cost"]), head(1, [""; 3])];
    for group in rankings(summary) {
        rows.extend(group.iter().map(|row| line(row, group.len(), columns)));
    }
    let lacking = summary.lacking.iter();
    rows.extend(
        lacking
            .map(|row| row_of(["–", &row.label, "–"].map(str::to_owned), &row.figures, columns, row.rough)),
    );
    let mut lines = drawn(&rows, width);
    // A reason is whole or not there, so an entry may have several lines.
    let mut body = lines.split_off(2).into_iter().map(|line| vec![line]).collect_vec();
    lines.retain(|line| !body.is_empty() && !line.trim().is_empty());
    let least = LEAST_ROWS + name_rankings(summary, &mut body);
    body.extend(summary.not_ranked.iter().map(|one| not_ranked(one, width)));
    if !body.is_empty() {
        lines.insert(0, String::new());
    }
    let height = |body: &[Vec<String>]| body.iter().map(Vec::len).sum::<usize>();
    let room = most.saturating_sub(lines.len());
    let beside = [height(&body).min(least), height(&body)].map(|rows| room.saturating_sub(rows));
    let mut legend = legend(summary, width, beside);
    legend.extend(not_measured(summary, width));
    let room = room.saturating_sub(legend.len()).max(least);
    let all = body.len();
    if height(&body) > room {
        while height(&body) >= room && body.pop().is_some() {}
    }
    let left_out = all - body.len();
    lines.extend(body.into_iter().flatten());
    lines.extend((left_out > 0).then(|| more(left_out)));
    lines.extend(legend);
    lines
}

/// That so many are left out.
fn more(left_out: usize) -> String {
    format!("{INDENT}… and {left_out} more: see everything")
}

/// The rows of each ranking.
fn rankings(summary: &Summary) -> impl Iterator<Item = &[SummaryRow]> {
    summary.ranked.chunk_by(|one, other| one.ranking == other.ranking)
}

/// Puts the name of each ranking above its first row, where there are several, and says how many there are.
fn name_rankings(summary: &Summary, body: &mut [Vec<String>]) -> usize {
    let (mut first, count) = (0, rankings(summary).count());
    if count < 2 {
        return 0;
    }
    for group in rankings(summary) {
        body[first].insert(0, indent(format!("{}:", group[0].ranking.title())));
        first += group.len();
    }
    count
}

fn not_ranked(one: &NotRanked, width: usize) -> Vec<String> {
    let lines = wrap(&format!("– {}: {}", one.label, one.reason), width - 2 * INDENT.len());
    let further = |(line, text): (usize, String)| if line == 0 { indent(text) } else { indent(indent(text)) };
    lines.into_iter().enumerate().map(further).collect()
}

/// One line for everything that was not measured: as many names as it holds, and how many more; `--full` has all, with the reasons.
fn not_measured(summary: &Summary, width: usize) -> Option<String> {
    let names = summary.not_measured.iter().map(|one| one.label.as_str()).collect_vec();
    let text = |shown: usize| {
        let more = match names.len() - shown {
            0 => String::new(),
            more if shown == 0 => format!("{more}: --full"),
            more => format!("; {more} more: --full"),
        };
        format!("    not measured: {}{more}", names[..shown].join("; "))
    };
    let shown = (1..=names.len()).rev().find(|shown| text(*shown).width() <= width);
    (!names.is_empty()).then(|| text(shown.unwrap_or(0)))
}

/// What the headings mean: all of them beside the least rows, in so many lines at most; or what goes beside all rows. Then the first columns go without,
/// because their headings say most.
fn legend(summary: &Summary, width: usize, most: [usize; 2]) -> Vec<String> {
    const OF_MISSING: &str = "–: lacks something, so it is not ranked";
    const OF_COST: &str = "cost: all criteria together, times the lowest of the ranking";
    let of_cost = (!summary.ranked.is_empty()).then_some(OF_COST);
    let of_missing = (!summary.lacking.is_empty()).then_some(OF_MISSING);
    let columns = summary.columns.iter().map(|column| column.meaning);
    let meanings = columns.chain(of_cost).chain(of_missing).collect_vec();
    let from = |first: usize| wrap(&meanings[first..].join("; "), width - 4);
    let fits = |first: &usize| from(*first).len() <= most[usize::from(*first > 0)];
    let first = (0..meanings.len()).find(fits).filter(|_| of_cost.or(of_missing).is_some());
    first.into_iter().flat_map(from).map(|line| format!("    {line}")).collect()
}

/// A row with these figures, as the columns show them.
fn row_of(first: [String; 3], figures: &[Known], columns: &[SummaryColumn], is_rough: bool) -> Line {
    let figures = figures.iter().zip(columns).map(|(value, column)| {
        let mark = if is_rough && column.is_time { "~" } else { "" };
        value.map_or_else(|| "–".to_owned(), |value| format!("{mark}{}", significant(value, 3)))
    });
    first.into_iter().chain(figures).collect()
}

/// A row of a ranking of so many: a ratio compares, and one alone has nobody to compare with.
fn line(row: &SummaryRow, many: usize, columns: &[SummaryColumn]) -> Line {
    let mark = row.meets.map_or_else(String::new, |outcome| format!("{} ", outcome.mark()));
    let cost = if many > 1 { times(row.ratio) } else { "–".to_owned() };
    let interval = |it: Interval| format!(" [{}, {}]", significant(it.low, 2), significant(it.high, 2));
    let cost = cost + &row.interval.map_or_else(String::new, interval);
    row_of([format!("{mark}{}", row.rank), row.label.clone(), cost], &row.figures, columns, row.rough)
}

/// The text, its end left out where it is wider.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let ends = text.char_indices().map(|(end, _)| end);
    let end = ends.take_while(|end| text[..*end].width() < width).last().unwrap_or(0);
    format!("{}…", &text[..end])
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
