//! What the words of a study's file mean in a run: names in braces, ranges, and which of our implementations stands for a database of the study.
//!
//! `{name}` in a text is the value that something runs over, an implementation's label, a parameter of the run, the end of a range (`{clients.last}`), or what
//! `super::functions` says. A text with a name that has no value is left out.

use super::{
    file::{Range, StudyFile, cells, names},
    functions,
    metric::Kind,
    select::{Loads, Results},
};
use crate::{claims::mean, prelude::*};
use sensormark_result::score::Scores;
use std::{
    cell::{OnceCell, RefCell},
    rc::Rc,
};

/// Names and what they mean: of a run, and of what a row is about.
#[derive(Clone)]
pub struct Scope<'a> {
    /// The study.
    pub file: &'a StudyFile,
    /// The run.
    pub results: Results<'a>,
    /// The study's implementations scored among themselves, once somebody asks.
    pub scores: Rc<OnceCell<Option<Scores>>>,
    subjects: Rc<RefCell<BTreeMap<String, Option<&'a Arm>>>>,
    values: BTreeMap<String, Value>,
    arms: BTreeMap<String, &'a Arm>,
}

/// The word for what rows run over where they do not say.
pub const IMPLEMENTATION: &str = "implementation";
/// What tells the study's names of a side apart: "write MariaDB bulk".
const SIDES: [&str; 2] = ["write ", "read "];

/// A value as a cell.
pub fn cell(value: &Value) -> Cell {
    match (value.as_u64(), value.as_f64()) {
        (Some(count), _) => Cell::Count(count),
        (None, Some(number)) => exact(number),
        _ => Cell::text(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
    }
}

/// A text as the value that it means: "1,600" is a number.
pub fn value(text: &str) -> Value {
    serde_json::from_str(&text.replace(',', "")).unwrap_or_else(|_| text.into())
}

/// The text with its names in braces filled in, the innermost first; none where one has no value.
pub fn filled(text: &str, word: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut text = text.to_owned();
    while let Some(end) = text.find('}') {
        let start = text[..end].rfind('{')?;
        let word = word(&text[start + 1..end])?.replace(['{', '}'], "");
        text.replace_range(start..=end, &word);
    }
    Some(text)
}

/// The database's title in one of the study's names: "InfluxDB" of "read InfluxDB bulk-1".
pub fn title(name: &str) -> &str {
    without_side(name).split(' ').next().unwrap_or_default()
}

pub fn without_side(name: &str) -> &str {
    SIDES.iter().find_map(|side| name.strip_prefix(side)).unwrap_or(name)
}

/// The place of an implementation's value among those of a condition, `write=datagram` or `layout_name=one,other`; `~` takes variants too, `!` turns the condition round.
pub fn place(arm: &Arm, condition: &str) -> Option<usize> {
    let (key, wanted) = condition.split_once(['=', '~'])?;
    let (key, is_not) = key.strip_suffix('!').map_or((key, false), |key| (key, true));
    let own = serde_json::to_value(&arm.implementation).ok()?;
    let own = own.get(key).or_else(|| own.get("layout")?.get(key))?;
    let shape = own.as_object().and_then(|own| own.keys().next().cloned());
    let own = shape.unwrap_or_else(|| cell_text(&cell(own)));
    let is_family = |rest: &str| rest.is_empty() || rest.starts_with('-') && condition.contains('~');
    let found = wanted.split(',').position(|one| own.strip_prefix(one).is_some_and(is_family));
    if is_not { found.is_none().then_some(0) } else { found }
}

/// Whether the database runs as it comes.
fn as_it_comes(arm: &Arm) -> bool {
    arm.implementation.durability == Durability::Default && arm.implementation.cluster.is_none()
}

impl<'a> Scope<'a> {
    /// What words mean in a run before anything runs over something.
    pub fn new(file: &'a StudyFile, results: Results<'a>) -> Self {
        Self {
            file,
            results,
            scores: Rc::default(),
            subjects: Rc::default(),
            values: BTreeMap::new(),
            arms: BTreeMap::new(),
        }
    }

    /// The same where a name has this value.
    pub fn with(&self, name: &str, value: Value) -> Self {
        let mut scope = self.clone();
        scope.values.insert(name.to_owned(), value);
        scope
    }

    /// The same about an implementation.
    pub fn about(&self, name: &str, arm: &'a Arm) -> Self {
        let mut scope = self.clone();
        scope.arms.insert(name.to_owned(), arm);
        scope
    }

    /// The same with everything that another scope says.
    pub fn and(&self, other: &Self) -> Self {
        let mut scope = self.clone();
        scope.values.extend(other.values.clone());
        scope.arms.extend(other.arms.clone());
        scope
    }

    /// What a name stands for while something runs over it.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The text with its names filled in; none where one has no value.
    pub fn fill(&self, text: &str) -> Option<String> {
        filled(text, |name| self.word(name))
    }

    fn word(&self, name: &str) -> Option<String> {
        if let Some((name, noun)) = name.split_once('#') {
            return Some(counted(self.word(name)?.replace(',', "").parse::<u64>().ok()?, noun));
        }
        if let Some(value) = self.values.get(name) {
            return Some(cell_text(&cell(value)));
        }
        if let Some(word) = functions::word(self, name) {
            return Some(word);
        }
        if let Some((range, end)) = name.rsplit_once('.') {
            let range = self.range(range);
            let one = if end == "first" { range.first() } else { range.last() };
            return match end {
                "several" => (range.len() > 1).then(String::new),
                "most" if range.len() < 2 => None,
                _ => one.map(|one| cell_text(&cell(one))),
            };
        }
        let parameter = || self.results.field.run.parameters.get(name).map(|value| cell_text(&cell(value)));
        let label = || self.subject(name).map(|arm| arm.label.clone());
        label().or_else(parameter)
    }

    /// Whether a condition holds: two expressions with `>=`, `<`, `=` or `!=` between them, or a text whose names have values.
    pub fn holds(&self, condition: &str) -> bool {
        let Some(text) = self.fill(condition) else {
            return false;
        };
        let number = |side| self.values(side, self.subject(IMPLEMENTATION)).into_iter().flatten().next();
        for sign in [" >= ", " < "] {
            if let Some((one, other)) = text.split_once(sign) {
                let pair = number(one).zip(number(other));
                return pair.is_some_and(|(one, other)| (one < other) == (sign == " < "));
            }
        }
        match text.split_once(" != ") {
            Some((one, other)) => one != other,
            None => text.split_once(" = ").is_none_or(|(one, other)| one == other),
        }
    }

    /// The values of a range.
    pub fn range(&self, name: &str) -> Vec<Value> {
        if let Some(values) = self.values.get(name).and_then(Value::as_array) {
            return values.clone();
        }
        match self.file.over.get(name) {
            Some(Range::List(values)) => values.clone(),
            Some(Range::Found(text)) => {
                self.fill(text).and_then(|text| self.found(&text)).unwrap_or_default()
            }
            None => vec![],
        }
    }

    fn found(&self, text: &str) -> Option<Vec<Value>> {
        if text.contains('\n') {
            let single =
                |mut cells: Vec<Value>| if cells.len() == 1 { cells.remove(0) } else { cells.into() };
            return Some(cells(text).into_iter().map(single).collect());
        }
        let (kind, rest) = text.split_once(' ')?;
        match kind {
            "parameter" => {
                let value = self.results.field.run.parameters.get(rest)?;
                Some(value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]))
            }
            "steps" => Some(self.range(rest).windows(2).map(|pair| pair.to_vec().into()).collect()),
            "later" => Some(self.range(rest).split_off(1.min(self.range(rest).len()))),
            "titles" => {
                let titles: BTreeSet<&str> = self.arms().map(|arm| &*arm.implementation.title).collect();
                Some(titles.into_iter().map(Value::from).collect())
            }
            "joined" => Some(rest.split(' ').flat_map(|range| self.range(range)).collect()),
            "label" => {
                let (label, of) = rest.split_once(" of ")?;
                let of: Vec<Loads> = of.split(", ").map(Loads::parse).collect();
                let all = self.results.field.trials.iter().flat_map(|trial| &trial.loads);
                let own = all.filter(|load| of.iter().any(|of| of.has(load)));
                let numbers: BTreeSet<u64> =
                    own.filter_map(|load| load.labels.get(label)?.as_u64()).collect();
                Some(numbers.into_iter().map(Value::from).collect())
            }
            "ends" => {
                let all = self.range(rest);
                let mut ends: Vec<Value> = all.first().into_iter().chain(all.last()).cloned().collect();
                ends.dedup();
                Some(ends)
            }
            _ => None,
        }
    }

    /// This scope for each value of these ranges, the last the fastest.
    pub fn each(&self, ranges: &str) -> Vec<Self> {
        let bound = |all: Vec<Self>, range| all.iter().flat_map(|scope| scope.bound(range)).collect();
        names(ranges).fold(vec![self.clone()], bound)
    }

    /// This scope for each value of the ranges that a text names and nothing runs over yet.
    pub fn each_named(&self, text: &str) -> Vec<Self> {
        let named = text.split('{').skip(1).filter_map(|rest| rest.split(['}', '#']).next());
        let is_open = |name: &&str| {
            let is_range = *name == IMPLEMENTATION || self.file.over.contains_key(*name);
            is_range && self.value(name).is_none() && !self.arms.contains_key(*name)
        };
        let mut ranges: Vec<&str> = named.filter(is_open).collect();
        ranges.sort_unstable();
        ranges.dedup();
        self.each(&ranges.join(", "))
    }

    /// `RANGE`, `NAME in RANGE`, or several names of values that are lists.
    fn bound(&self, text: &str) -> Vec<Self> {
        if let Some((name, text)) = text.split_once(" = ") {
            return self.fill(text).map(|text| self.with(name, value(&text))).into_iter().collect();
        }
        let Some(text) = self.fill(text) else {
            return vec![];
        };
        if let Some(table) = text.strip_prefix("rows of ") {
            return self.printed_rows(table).unwrap_or_default();
        }
        if let Some(table) = text.strip_prefix("columns of ") {
            return self.printed_columns(table).unwrap_or_default();
        }
        let (names, range) = text.split_once(" in ").unwrap_or((&text, &text));
        let names: Vec<&str> = names.split(' ').collect();
        let pairs = match self.file.over.get(range) {
            Some(Range::Found(text)) => text.strip_prefix("pairs "),
            _ => None,
        };
        if let Some(patterns) = pairs {
            let pairs = patterns.split(", ").flat_map(|pattern| self.pairs(pattern)).enumerate();
            let bind = |(place, [one, other]): (usize, [_; 2])| {
                self.about(names[0], one).about(names[1], other).with("place", place.into())
            };
            return pairs.map(bind).collect();
        }
        if range == IMPLEMENTATION {
            return self.arms().map(|arm| self.about(names[0], arm)).collect();
        }
        let bind = |value: Value| {
            let several =
                value.as_array().cloned().filter(|_| names.len() > 1).unwrap_or_else(|| vec![value]);
            let named = names.iter().zip(several);
            named.fold(self.clone(), |scope, (name, value)| scope.with(name, value))
        };
        self.range(range).into_iter().map(bind).collect()
    }

    /// Implementations with a valid trial: of the side that is the value of `side`, else of both in one.
    pub fn arms(&self) -> impl Iterator<Item = &'a Arm> + use<'a> {
        let side = self.values.get("side").and_then(Value::as_str);
        self.of_side(side.unwrap_or_default())
    }

    fn of_side(&self, side: &str) -> impl Iterator<Item = &'a Arm> + use<'a> {
        let field = self.results.field;
        let arms = match side.trim_end() {
            "write" => &field.writes,
            "read" => &field.reads,
            _ => &field.mixed,
        };
        arms.iter().filter(|arm| field.valid_of(arm).next().is_some())
    }

    /// Implementations of a database with the same promise whose layouts have names like `*-no-index *`.
    fn pairs(&self, pattern: &str) -> Vec<[&'a Arm; 2]> {
        let (one, other) = pattern.split_once(' ').unwrap_or((pattern, "*"));
        let (start, end) = one.split_once('*').unwrap_or((one, ""));
        let key = |arm: &'a Arm| {
            let own = &arm.implementation;
            (&own.title, own.durability, &own.cluster)
        };
        let partner = |arm: &'a Arm| {
            let rest = arm.implementation.layout_name.strip_prefix(start)?.strip_suffix(end)?;
            let name = other.replace('*', rest);
            let is_one = one.contains('*') || rest.is_empty();
            let mut others = self.arms().filter(|_| is_one);
            let other =
                others.find(|other| key(other) == key(arm) && other.implementation.layout_name == name);
            Some([arm, other?])
        };
        self.arms().filter_map(partner).collect()
    }

    /// What stands for a database of the study: of those that meet all conditions the first in the order of what is preferred.
    pub fn subject(&self, name: &str) -> Option<&'a Arm> {
        if let Some(arm) = self.arms.get(name) {
            return Some(arm);
        }
        if let Some((title, definition)) = name.strip_prefix("best ").and_then(|rest| rest.split_once(' ')) {
            return self.best(title, definition);
        }
        let operation = self.values.get("operation").and_then(Value::as_str).unwrap_or_default();
        let with_operation = format!("{name} {operation}");
        if let Some(known) = self.subjects.borrow().get(&with_operation) {
            return *known;
        }
        let who = &self.file.who;
        let text = who.get(&with_operation).or_else(|| who.get(name)).or_else(|| who.get("*"));
        let found = text.and_then(|text| self.nearest(name, text));
        self.subjects.borrow_mut().insert(with_operation, found);
        found
    }

    /// The implementation of a database that meets what is needed, and of those the nearest to what is preferred (`NEEDED | PREFERRED of WRITER`).
    fn nearest(&self, name: &str, text: &str) -> Option<&'a Arm> {
        let (text, writer) =
            text.split_once(" of ").map_or((text, None), |(text, writer)| (text, Some(writer)));
        let (needed, preferred) = text.split_once(" | ").unwrap_or((text, ""));
        let all = self.file.who.get("all").map_or("", String::as_str).split_whitespace();
        let (needed, preferred): (Vec<&str>, Vec<&str>) =
            (needed.split_whitespace().chain(all).collect(), preferred.split_whitespace().collect());
        let data = writer.map(|writer| self.subject(writer).map(|arm| &arm.label));
        let side = SIDES.into_iter().find(|side| name.starts_with(side)).unwrap_or_default();
        let own = self.of_side(side).filter(|arm| arm.implementation.title == title(name));
        let ranked = own.filter_map(|arm| {
            let places = needed.iter().map(|condition| place(arm, condition)).collect::<Option<Vec<_>>>()?;
            let further = preferred.iter().map(|condition| place(arm, condition).unwrap_or(usize::MAX));
            let write = self.results.field.write_of(arm).map(|write| &write.label);
            let is_other = data.is_some_and(|data| write.is_none() || write != data);
            Some(((is_other, places, !as_it_comes(arm), further.collect::<Vec<_>>()), arm))
        });
        ranked.min_by(|(one, _), (other, _)| one.cmp(other)).map(|(_, arm)| arm)
    }

    /// The implementation of a database, as it comes, that is the best at something; none where it was measured with one layout.
    fn best(&self, title: &str, definition: &str) -> Option<&'a Arm> {
        let quantity = self.quantity(definition);
        let own = self.arms().filter(|arm| arm.implementation.title == title && as_it_comes(arm));
        let own: Vec<&Arm> = own.collect();
        let known =
            own.iter().filter_map(|arm| Some((mean(&self.values(&quantity.expression, Some(arm)))?, *arm)));
        let sign = if quantity.kind == Kind::Rate { -1.0 } else { 1.0 };
        let best = known.min_by(|(one, _), (other, _)| (one * sign).total_cmp(&(other * sign)));
        best.filter(|_| own.len() > 1).map(|(_, arm)| arm)
    }

    /// What a report calls a database that was not measured: by its title where nothing of it was.
    pub fn missing_name<'n>(&self, name: &'n str) -> &'n str {
        let mut own = self.file.who.keys().filter(|key| title(key) == title(name));
        let is_there = own.any(|key| self.subject(key).is_some());
        if is_there || without_side(name) == name { without_side(name) } else { title(name) }
    }
}
