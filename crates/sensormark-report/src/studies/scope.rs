//! What the words of a study's file mean in a run: names in braces, ranges, and which of our implementations stands for a database of the study.
//!
//! `{name}` in a text is the value that something runs over, or an implementation's label, or a parameter of the run. It may be a figure's text, too, the end
//! of a range (`{clients.last}`), or what `super::functions` says. A text with a name that has no value is left out.

use super::*;
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
    pub field: &'a Field,
    /// The study's implementations scored among themselves, once somebody asks.
    pub scores: Rc<OnceCell<Scores>>,
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

/// A value in words.
fn words(value: &Value) -> String {
    cell_text(&cell(value))
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
fn title(name: &str) -> &str {
    without_side(name).split(' ').next().unwrap_or_default()
}

pub fn without_side(name: &str) -> &str {
    SIDES.iter().find_map(|side| name.strip_prefix(side)).unwrap_or(name)
}

/// The place of an implementation's value among those of a condition, `write=datagram` or `layout_name=one,other`; `~` takes variants too, `!` turns the condition round.
pub fn place(arm: &Arm, condition: &str) -> Option<usize> {
    let (key, wanted) = condition.split_once(['=', '~'])?;
    let key = key.trim_end_matches('!');
    let own = serde_json::to_value(&arm.implementation).ok()?;
    let own = own.get(key).or_else(|| own.get("layout")?.get(key))?;
    let own = own.as_object().and_then(|own| own.keys().next().cloned()).unwrap_or_else(|| words(own));
    let found = wanted.split(',').position(|one| {
        own.strip_prefix(one)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-') && condition.contains('~'))
    });
    if condition.contains('!') { found.is_none().then_some(0) } else { found }
}

/// Whether the database runs as it comes.
fn as_it_comes(arm: &Arm) -> bool {
    arm.implementation.durability == Durability::Default
}

impl<'a> Scope<'a> {
    /// What words mean in a run before anything runs over something.
    pub fn new(file: &'a StudyFile, field: &'a Field) -> Self {
        let (values, arms) = Default::default();
        Self { file, field, scores: Rc::default(), subjects: Rc::default(), values, arms }
    }

    /// The same where a name has this value.
    pub fn with(&self, name: &str, value: impl Into<Value>) -> Self {
        let mut scope = self.clone();
        scope.values.insert(name.to_owned(), value.into());
        scope
    }

    /// The same about an implementation.
    pub fn about(&self, name: &str, arm: &'a Arm) -> Self {
        let mut scope = self.clone();
        scope.arms.insert(name.to_owned(), arm);
        scope
    }

    /// What a name stands for while something runs over it.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The same where it is a text; else an empty one.
    pub fn text(&self, name: &str) -> &str {
        self.value(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The text with its names filled in; none where one has no value.
    pub fn fill(&self, text: &str) -> Option<String> {
        filled(text, |name| self.word(name))
    }

    fn word(&self, name: &str) -> Option<String> {
        if let Some((name, noun)) = name.split_once('#') {
            return Some(counted(self.word(name)?.replace(',', "").parse::<u64>().ok()?, noun));
        }
        if let Some(known) = self.value(name).map(words).or_else(|| functions::word(self, name)) {
            return Some(known);
        }
        if let Some((range, end)) = name.rsplit_once('.') {
            let range = self.range(range);
            return match end {
                "several" => (range.len() > 1).then(String::new),
                "most" if range.len() < 2 => None,
                "first" => range.first().map(words),
                _ => range.last().map(words),
            };
        }
        self.subject(name)
            .map(|arm| arm.label.clone())
            .or_else(|| self.field.run.parameters.get(name).map(words))
            .or_else(|| self.fill(self.file.figures.get(name)?))
    }

    /// Whether a condition holds: two expressions with `>=` or `<` between them, two texts with `=` or `!=`, or a text whose names have values.
    pub fn holds(&self, condition: &str) -> bool {
        let Some(text) = self.fill(condition) else { return false };
        let number = |side| self.values(side, self.subject(IMPLEMENTATION)).into_iter().flatten().next();
        match [" >= ", " < ", " != ", " = "]
            .into_iter()
            .find_map(|sign| text.split_once(sign).map(|(one, other)| (one, sign, other)))
        {
            None => true,
            Some((one, " = ", other)) => one == other,
            Some((one, " != ", other)) => one != other,
            Some((one, sign, other)) => {
                number(one).zip(number(other)).is_some_and(|(one, other)| (one < other) == (sign == " < "))
            }
        }
    }

    /// The values of a range.
    pub fn range(&self, name: &str) -> Vec<Value> {
        let found = || match self.file.over.get(name)? {
            Range::List(values) => Some(values.clone()),
            Range::Found(text) => self.found(&self.fill(text)?),
        };
        self.value(name).and_then(Value::as_array).cloned().or_else(found).unwrap_or_default()
    }

    fn found(&self, text: &str) -> Option<Vec<Value>> {
        if text.contains('\n') {
            return Some(
                cells(text)
                    .into_iter()
                    .map(|mut cells| if cells.len() == 1 { cells.remove(0) } else { cells.into() })
                    .collect(),
            );
        }
        let (kind, rest) = text.split_once(' ')?;
        let all = || rest.split(' ').flat_map(|range| self.range(range));
        Some(match kind {
            "joined" => all().collect(),
            "later" => all().skip(1).collect(),
            "steps" => all().collect_vec().windows(2).map(Value::from).collect(),
            "ends" => {
                let mut ends = all().take(1).chain(all().next_back()).collect_vec();
                ends.dedup();
                ends
            }
            "parameter" => {
                let value = self.field.run.parameters.get(rest)?;
                value.as_array().cloned().unwrap_or_else(|| vec![value.clone()])
            }
            "titles" => {
                let titles: BTreeSet<&str> = self.arms().map(|arm| &*arm.implementation.title).collect();
                titles.into_iter().map(Value::from).collect()
            }
            "label" => {
                let (label, of) = rest.split_once(" of ")?;
                let of = of.split(", ").map(Loads::parse).collect_vec();
                let numbers: BTreeSet<u64> = self
                    .field
                    .trials
                    .iter()
                    .flat_map(|trial| &trial.loads)
                    .filter(|load| of.iter().any(|of| of.has(load)))
                    .filter_map(|load| load.labels.get(label)?.as_u64())
                    .collect();
                numbers.into_iter().map(Value::from).collect()
            }
            _ => return None,
        })
    }

    /// This scope for each value of these ranges, the last the fastest.
    pub fn each(&self, ranges: &str) -> Vec<Self> {
        names(ranges)
            .fold(vec![self.clone()], |all, range| all.iter().flat_map(|scope| scope.bound(range)).collect())
    }

    /// This scope for each value of the ranges that a text names and nothing runs over yet.
    pub fn each_named(&self, text: &str) -> Vec<Self> {
        let named = text.split('{').skip(1).filter_map(|rest| rest.split(['}', '#']).next());
        let is_open = |name: &&str| {
            let is_range = *name == IMPLEMENTATION || self.file.over.contains_key(*name);
            is_range && self.value(name).is_none() && !self.arms.contains_key(*name)
        };
        let ranges: BTreeSet<&str> = named.filter(is_open).collect();
        self.each(&ranges.into_iter().join(", "))
    }

    /// `NAME = TEXT`, the rows or columns of a printed table, `RANGE`, `NAME in RANGE`, or several names of values that are lists.
    fn bound(&self, text: &str) -> Vec<Self> {
        let Some(text) = self.fill(text) else { return vec![] };
        if let Some((name, text)) = text.split_once(" = ") {
            return vec![self.with(name, value(text))];
        }
        match text.split_once(" of ") {
            Some(("rows", table)) => return self.printed_rows(table),
            Some(("columns", table)) => return self.printed_columns(table),
            _ => {}
        }
        let (names, range) = text.split_once(" in ").unwrap_or((&text, &text));
        let names = names.split(' ').collect_vec();
        if range == IMPLEMENTATION {
            return self.arms().map(|arm| self.about(names[0], arm)).collect();
        }
        if let Some(Range::Found(text)) = self.file.over.get(range)
            && let Some(patterns) = text.strip_prefix("pairs ")
        {
            let pairs = patterns.split(", ").flat_map(|pattern| self.pairs(pattern)).enumerate();
            let bind = |(place, [one, other]): (usize, [_; 2])| {
                self.about(names[0], one).about(names[1], other).with("place", place)
            };
            return pairs.map(bind).collect();
        }
        let bind = |value: Value| match value {
            Value::Array(several) if names.len() > 1 => {
                names.iter().zip(several).fold(self.clone(), |scope, (name, value)| scope.with(name, value))
            }
            value => self.with(names[0], value),
        };
        self.range(range).into_iter().map(bind).collect()
    }

    /// Implementations with a valid trial: of the side that is the value of `side`, else of both in one.
    pub fn arms(&self) -> impl Iterator<Item = &'a Arm> + use<'a> {
        self.of_side(self.text("side"))
    }

    fn of_side(&self, side: &str) -> impl Iterator<Item = &'a Arm> + use<'a> {
        let field = self.field;
        field.believed(match side.trim_end() {
            "write" => &field.writes,
            "read" => &field.reads,
            _ => &field.mixed,
        })
    }

    /// Implementations of a database with the same promise whose layouts have names like `*-no-index *`.
    fn pairs(&self, pattern: &str) -> Vec<[&'a Arm; 2]> {
        let (one, other) = pattern.split_once(' ').unwrap_or_default();
        let (start, end) = one.split_once('*').unwrap_or((one, ""));
        let key = |arm: &'a Arm| {
            let own = &arm.implementation;
            (&own.title, own.durability)
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
        let with_operation = format!("{name} {}", self.text("operation"));
        if let Some(known) = self.subjects.borrow().get(&with_operation) {
            return *known;
        }
        let found = [&*with_operation, name, "*"]
            .into_iter()
            .find_map(|name| self.file.who.get(name))
            .and_then(|text| self.nearest(name, text));
        self.subjects.borrow_mut().insert(with_operation, found);
        found
    }

    /// The implementation of a database that meets what is needed, and of those the nearest to what is preferred (`NEEDED | PREFERRED of WRITER`).
    fn nearest(&self, name: &str, text: &str) -> Option<&'a Arm> {
        let mut parts = text.split(" of ");
        let text = parts.next()?;
        let data = parts.next().map(|writer| self.subject(writer).map(|arm| &arm.label));
        let (needed, preferred) = text.split_once(" | ").unwrap_or((text, ""));
        let all = self.file.who.get("all").map_or("", String::as_str);
        let side = SIDES.into_iter().find(|side| name.starts_with(side)).unwrap_or_default();
        self.of_side(side)
            .filter(|arm| arm.implementation.title == title(name))
            .filter_map(|arm| {
                let places = |conditions: &str| -> Vec<Option<usize>> {
                    conditions.split_whitespace().map(|condition| place(arm, condition)).collect()
                };
                let needed = [needed, all].map(places).concat().into_iter().collect::<Option<Vec<_>>>()?;
                let further = places(preferred).into_iter().map(|place| place.unwrap_or(usize::MAX));
                let write = self.field.write_of(arm).map(|write| &write.label);
                let is_other = data.is_some_and(|data| write.is_none() || write != data);
                Some(((is_other, needed, !as_it_comes(arm), further.collect_vec()), arm))
            })
            .min_by(|(one, _), (other, _)| one.cmp(other))
            .map(|(_, arm)| arm)
    }

    /// The implementation of a database, as it comes, that is the best at something; none where it was measured with one layout.
    fn best(&self, title: &str, definition: &str) -> Option<&'a Arm> {
        let quantity = self.quantity(definition);
        let own =
            self.arms().filter(|arm| arm.implementation.title == title && as_it_comes(arm)).collect_vec();
        let sign = if quantity.kind == Kind::Rate { -1.0 } else { 1.0 };
        let value = |arm| Some((mean(&self.values(&quantity.expression, Some(arm)))? * sign, arm));
        own.iter()
            .filter_map(|arm| value(*arm))
            .min_by(|(one, _), (other, _)| one.total_cmp(other))
            .filter(|_| own.len() > 1)
            .map(|(_, arm)| arm)
    }

    /// What a report calls a database that was not measured: by its title where nothing of it was.
    pub fn missing_name<'n>(&self, name: &'n str) -> &'n str {
        let mut own = self.file.who.keys().filter(|key| title(key) == title(name));
        let is_there = own.any(|key| self.subject(key).is_some());
        if is_there || without_side(name) == name { without_side(name) } else { title(name) }
    }
}
