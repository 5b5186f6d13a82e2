//! The numbers behind a workload's scales, as one table: name, meaning, unit, bounds, and the value at each scale.
//!
//! The macro `parameters!` declares a table. The struct that the workload reads, what `sensormark list WORKLOAD` shows, what `--set` reads and what
//! messages say all come from it. Numbers that make sense only together are checked by the workload.

use sensormark_data::nearest::unknown;
use sensormark_data::quantity::{Quantity, quantity};
use serde::Serialize;
use serde_json::{Number, Value};

/// One number, word or list behind a workload's scales.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its name, as after `--set`.
    pub name: &'static str,
    /// What it means, in a line.
    pub about: &'static str,
    /// What kind of value it has, or each of its values.
    pub kind: Kind,
    /// Whether it has several values.
    pub is_list: bool,
    /// What a plain number is of.
    pub unit: Unit,
    /// Which values there may be.
    pub bounds: Bounds,
}

/// Kinds of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// True or false.
    Truth,
    /// A whole number, not negative.
    Whole {
        /// The largest that fits.
        most: f64,
    },
    /// A number.
    Number,
    /// A word.
    Word,
}

/// What a plain number is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nothing: it counts, or it is a word.
    Plain,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Minutes.
    Minutes,
    /// Hours.
    Hours,
    /// Days.
    Days,
    /// Hundredths.
    Percent,
}

impl Unit {
    /// The unit in words; what it measures; and how much one of it is, in ns or parts of one.
    const fn measures(self) -> (&'static str, Option<(Quantity, f64)>) {
        const SECOND_NS: f64 = 1e9;
        match self {
            Self::Plain => ("", None),
            Self::Milliseconds => ("milliseconds", Some((Quantity::Time, 1e6))),
            Self::Seconds => ("seconds", Some((Quantity::Time, SECOND_NS))),
            Self::Minutes => ("minutes", Some((Quantity::Time, 60.0 * SECOND_NS))),
            Self::Hours => ("hours", Some((Quantity::Time, 3_600.0 * SECOND_NS))),
            Self::Days => ("days", Some((Quantity::Time, 86_400.0 * SECOND_NS))),
            Self::Percent => ("percent", Some((Quantity::Share, 0.01))),
        }
    }
}

/// Which values a number may have, or which words there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    least: f64,
    most: f64,
    /// Whether the least is itself too little.
    is_over: bool,
    words: &'static [&'static str],
}

const ANY: Bounds = Bounds { least: f64::NEG_INFINITY, most: f64::INFINITY, is_over: false, words: &[] };

/// Any value of its kind.
pub const fn any() -> Bounds {
    ANY
}

/// This or more.
pub const fn at_least(least: f64) -> Bounds {
    Bounds { least, ..ANY }
}

/// More than this.
pub const fn over(least: f64) -> Bounds {
    Bounds { least, is_over: true, ..ANY }
}

/// From one to the other, both included.
pub const fn between(least: f64, most: f64) -> Bounds {
    Bounds { least, most, ..ANY }
}

/// More than one, and not more than the other.
pub const fn over_up_to(least: f64, most: f64) -> Bounds {
    Bounds { most, ..over(least) }
}

/// One of these words.
pub const fn words(words: &'static [&'static str]) -> Bounds {
    Bounds { words, ..ANY }
}

/// What a parameter can be in a struct.
pub trait Settable {
    /// The kind of its value, or of each of its values.
    const KIND: Kind;
    /// Whether it has several.
    const IS_LIST: bool = false;
}

impl Settable for bool {
    const KIND: Kind = Kind::Truth;
}

impl Settable for u32 {
    const KIND: Kind = Kind::Whole { most: Self::MAX as f64 };
}

impl Settable for u64 {
    const KIND: Kind = Kind::Whole { most: Self::MAX as f64 };
}

impl Settable for f64 {
    const KIND: Kind = Kind::Number;
}

impl Settable for String {
    const KIND: Kind = Kind::Word;
}

impl<T: Settable> Settable for Vec<T> {
    const KIND: Kind = T::KIND;
    const IS_LIST: bool = true;
}

impl Parameter {
    /// What a user wrote: `900`, `15m`, `1,4,16`, `clamped`. A number without a unit stays as it was typed.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    pub fn read(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let value = if self.is_list {
            let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            let items = inner.unwrap_or(text).split(',').map(str::trim);
            let items = items.filter(|item| !item.is_empty());
            items.map(|item| self.item(item)).collect::<Result<_, _>>()?
        } else {
            self.item(text)?
        };
        self.check(&value)?;
        Ok(value)
    }

    fn item(&self, text: &str) -> Result<Value, String> {
        let text = text.trim_matches('"');
        match self.kind {
            Kind::Word => Ok(Value::from(text)),
            Kind::Truth => text.parse().map(Value::Bool).map_err(|_| self.wrong(text)),
            Kind::Whole { .. } => match text.parse::<u64>() {
                Ok(number) => Ok(Value::from(number)),
                Err(_) => self.whole(text),
            },
            Kind::Number => match text.parse::<Number>() {
                Ok(number) => Ok(Value::Number(number)),
                Err(_) => self.amount(text).map(Value::from),
            },
        }
    }

    fn whole(&self, text: &str) -> Result<Value, String> {
        let amount = self.amount(text)?;
        let (unit, measures) = self.unit.measures();
        if amount < 0.0 || amount.fract() != 0.0 {
            return Err(match measures {
                None => self.wrong(text),
                Some(_) => format!("{} is in whole {unit}, and {text} is {amount}", self.name),
            });
        }
        Ok(Value::from(sensormark_data::units::round_u64(amount)))
    }

    /// How many of its own unit this is.
    fn amount(&self, text: &str) -> Result<f64, String> {
        let (amount, of) = quantity(text).ok_or_else(|| self.wrong(text))?;
        match self.unit.measures().1 {
            _ if of == Quantity::Number => Ok(amount),
            Some((own, one)) if own == of => Ok(amount / one),
            _ => Err(self.wrong(text)),
        }
    }

    fn wrong(&self, text: &str) -> String {
        let (name, whole) = (self.name, matches!(self.kind, Kind::Whole { .. }));
        let number = if whole { "whole number" } else { "number" };
        let (unit, measures) = self.unit.measures();
        let expected = match (self.kind, measures) {
            (Kind::Truth, _) => "true or false".to_owned(),
            (Kind::Word, _) => "a word".to_owned(),
            (_, None) => format!("a {number} without a unit"),
            (_, Some((Quantity::Share, _))) => format!("a share like 90%, or a {number} of {unit}"),
            (_, Some(_)) => {
                format!("a length of time like 90s, 15m or 6h, or a {number} of {unit}")
            }
        };
        if self.is_list {
            format!("{text:?} in {name}: each must be {expected}; write commas between them, like 1,4,16")
        } else {
            format!("{name} must be {expected}, and {text:?} is not")
        }
    }

    /// Checks a value, or each of a list, against the bounds. No value of a list is there twice.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let Value::Array(items) = value else {
            return self.check_item(value);
        };
        for (place, item) in items.iter().enumerate() {
            self.check_item(item)?;
            if items[..place].contains(item) {
                return Err(format!("{}: {item} is named twice", self.name));
            }
        }
        Ok(())
    }

    fn check_item(&self, value: &Value) -> Result<(), String> {
        let (name, bounds) = (self.name, &self.bounds);
        match (self.kind, value) {
            (Kind::Truth, Value::Bool(_)) => Ok(()),
            (Kind::Word, Value::String(word)) => {
                if bounds.words.is_empty() || bounds.words.contains(&word.as_str()) {
                    return Ok(());
                }
                let known = bounds.words.iter().map(|one| (*one).to_owned());
                Err(unknown(&format!("value of {name}:"), word, known))
            }
            (Kind::Whole { .. } | Kind::Number, Value::Number(number)) => {
                let number = number.as_f64().unwrap_or(f64::NAN);
                if self.allows(number) {
                    return Ok(());
                }
                let (is, must) = if self.is_list { ("holds", "each must") } else { ("is", "it must") };
                let range = self.range(number);
                Err(format!("{name} {is} {number}; {must} be {range}"))
            }
            _ => Err(self.wrong(&value.to_string())),
        }
    }

    fn allows(&self, number: f64) -> bool {
        let least = self.bounds.least;
        let is_enough = if self.bounds.is_over { number > least } else { number >= least };
        is_enough && number <= self.most()
    }

    /// The most that is allowed and fits.
    const fn most(&self) -> f64 {
        match self.kind {
            Kind::Whole { most } => most.min(self.bounds.most),
            _ => self.bounds.most,
        }
    }

    /// The bounds in words. The number is outside of them.
    fn range(&self, number: f64) -> String {
        let Bounds { least, is_over, .. } = self.bounds;
        let most = self.most();
        let is_open = self.bounds.most.is_infinite();
        match (is_open, is_over) {
            (true, _) if number > most => format!("{most} at most"),
            (true, true) => format!("over {least}"),
            (true, false) => format!("{least} or more"),
            (false, true) => format!("over {least}, and {most} at most"),
            (false, false) => format!("{least} to {most}"),
        }
    }
}

/// Checks every number against its own bounds.
///
/// # Errors
/// The first that is wrong, in words.
pub fn check_each(table: &[Parameter], numbers: &impl Serialize) -> Result<(), String> {
    let numbers = serde_json::to_value(numbers).map_err(|error| error.to_string())?;
    let known = table.iter().filter_map(|one| Some((one, numbers.get(one.name)?)));
    let mut known = known;
    known.try_for_each(|(one, value)| one.check(value))
}

/// Parameters as a workload has them.
///
/// # Errors
/// What has another form, in words.
pub fn read<T: serde::de::DeserializeOwned>(parameters: &serde_json::Value) -> Result<T, String> {
    serde_json::from_value(parameters.clone()).map_err(|error| error.to_string())
}

/// Declares the numbers behind a workload's scales: a row each, with what it means above it, then its type, unit, bounds, and its value at each scale.
///
/// ```text
/// parameters! {
///     /// Every number of a run.
///     pub struct Parameters {
///         /// seconds of writing that count
///         measured_seconds: f64, Seconds, over(0.0) => 4.0, 4.0, 60.0, 900.0;
///     }
/// }
/// ```
///
/// A scale is a column: quick, firm, standard, study. One value is that of all scales.
#[macro_export]
macro_rules! parameters {
    (
        $(#[$attribute:meta])*
        pub struct $Parameters:ident {
            $(
                $(#[doc = $about:literal])+
                $(#[serde($($serde:tt)*)])?
                $name:ident: $type:ty, $unit:ident, $bounds:expr => $($value:expr),+;
            )+
        }
    ) => {
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        $(#[$attribute])*
        pub struct $Parameters {
            $(
                $(#[doc = $about])+
                $(#[serde($($serde)*)])?
                pub $name: $type,
            )+
        }

        impl $Parameters {
            /// What each number is.
            pub const TABLE: &'static [$crate::parameter::Parameter] = &[
                $(
                    $crate::parameter::Parameter {
                        name: stringify!($name),
                        about: concat!($($about),+).trim_ascii(),
                        kind: <$type as $crate::parameter::Settable>::KIND,
                        is_list: <$type as $crate::parameter::Settable>::IS_LIST,
                        unit: $crate::parameter::Unit::$unit,
                        bounds: $bounds,
                    },
                )+
            ];

            /// The numbers of a scale.
            #[must_use]
            pub fn of(scale: $crate::scale::Scale) -> Self {
                Self {
                    $(
                        $name: {
                            let values = [$($value),+];
                            let place = (scale as usize).min(values.len() - 1);
                            values.into_iter().nth(place).expect("a value at least")
                        },
                    )+
                }
            }
        }
    };
}

/// What a workload says of its table of parameters, inside of its `impl WorkloadFactory`: the numbers of each scale, what each is, and whether they make
/// sense together. The function reads them.
#[macro_export]
macro_rules! of_table {
    ($Parameters:ty, $read:path) => {
        fn preset(&self, scale: $crate::scale::Scale) -> Option<serde_json::Value> {
            serde_json::to_value(<$Parameters>::of(scale)).ok()
        }

        fn parameters(&self) -> &'static [$crate::parameter::Parameter] {
            <$Parameters>::TABLE
        }

        fn check(&self, parameters: &serde_json::Value) -> Result<(), String> {
            $read(parameters)?.check()
        }
    };
}

#[cfg(test)]
mod tests;
