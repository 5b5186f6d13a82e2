//! What one cell of a recording is, taken by itself.

use super::*;
pub use Look::*;

/// What a cell looks like.
#[derive(Debug, PartialEq)]
pub enum Look {
    /// No value: empty, NA, N/A, null, NaN, or what the user named.
    Absent,
    /// A number, as it is read with a decimal point, and as it is read with a decimal comma. It is one of the two at least.
    Numeric(Option<ReadNumber>, Option<ReadNumber>),
    /// Digits after needless zeros (007): rather a name than a number.
    LeadingZeros,
    /// true or false.
    Truth(bool),
    /// A date, maybe with a time of day.
    Moment(Written),
    /// A time of day without a date, and whether it names a zone.
    Daytime(bool),
    /// Anything else.
    Words,
}

/// How cells are read.
pub struct CellRules {
    /// Further texts for "no value".
    absent: Vec<String>,
    /// Those of them that are numbers.
    absent_numbers: Vec<Number>,
    /// Texts that stand for "no value" unless the user says otherwise.
    built_in: Vec<&'static str>,
    /// Whether a unit may follow a number.
    pub has_units: bool,
}

impl CellRules {
    pub fn new(options: &RecordingOptions) -> Self {
        // The last are NaN as Microsoft's C writes it.
        Self {
            absent: options.absent.clone(),
            absent_numbers: options.absent.iter().filter_map(|text| Marks::PLAIN.read(text)).collect(),
            built_in: "NA N/A <NA> null NaN -NaN 1.#IND -1.#IND 1.#QNAN -1.#QNAN NaN(ind) -NaN(ind)"
                .split(' ')
                .filter(|_| !options.absent_only)
                .collect(),
            has_units: options.unit_in_cells,
        }
    }

    /// Whether the cell's text says that there is no value.
    pub fn is_absent(&self, text: &str) -> bool {
        text.is_empty()
            || self.built_in.iter().any(|absent| absent.eq_ignore_ascii_case(text))
            || self.absent.iter().any(|absent| absent == text)
    }

    /// Whether this number, however it is written, stands for no value.
    pub fn is_absent_number(&self, number: Number) -> bool {
        self.absent_numbers.iter().any(|absent| absent.is_same(number))
    }

    /// The cell without its unit, where units are expected.
    pub fn plain<'t>(&self, text: &'t str) -> &'t str {
        if self.has_units { unit(text).map_or(text, |(number, _)| number) } else { text }
    }

    /// What this cell (without blanks around it) looks like.
    pub fn look(&self, text: &str) -> Look {
        if self.is_absent(text) {
            return Absent;
        }
        let text = self.plain(text);
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        if digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return LeadingZeros;
        }
        let point = read(text, '.');
        let comma = match point {
            Some(plain) if plain.group.is_none() && !plain.has_decimal => point,
            _ => read(text, ','),
        };
        if point.is_some() || comma.is_some() {
            return Numeric(point, comma);
        }
        let truth = truth(text, 2).map(Truth);
        truth
            .or_else(|| Written::read(text).map(Moment))
            .or_else(|| read_clock(text).map(Daytime))
            .unwrap_or(Words)
    }
}

/// A cell's text without blanks around it.
pub fn text(record: &ByteRecord, column: usize) -> Result<&str, Fault> {
    let raw = &record[column];
    str::from_utf8(raw).map(str::trim).map_err(|_| {
        Fault::of_cell(
            ENCODING,
            column,
            &String::from_utf8_lossy(raw),
            "is not UTF-8; if the file is from Windows, say --encoding windows-1252",
        )
    })
}

/// A number and its unit: 12.5 °C.
pub fn unit(text: &str) -> Option<(&str, &str)> {
    let is_unit = |one: char| one.is_alphabetic() || "%°'\"µ".contains(one);
    let (number, unit) = text.split_at(text.find(is_unit)?);
    let number = number.trim_end();
    let is_word = unit.chars().count() <= 12 && unit.split(' ').count() < 3;
    let is_number = read(number, '.').is_some() || read(number, ',').is_some();
    let is_exponent = read(text, '.').is_some();
    let is_code =
        unit == "Z" || unit.starts_with(['D', 'd', 'x']) && unit.contains(|one: char| one.is_ascii_digit());
    (is_word && is_number && !is_exponent && !is_code).then_some((number, unit))
}

/// The cell as a truth value, by the first so many words. Only the first two are such without a word from the user.
pub fn truth(text: &str, words: usize) -> Option<bool> {
    Some(
        "false true 0 1 no yes off on n y f t"
            .split(' ')
            .take(words)
            .position(|word| word.eq_ignore_ascii_case(text))?
            % 2
            == 1,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_look_like_what_they_are() {
        let absent = vec!["-999".to_owned(), "--".to_owned()];
        let options = RecordingOptions { absent, ..RecordingOptions::default() };
        let rules = CellRules::new(&options);
        for (text, look) in [
            ("", Absent),
            ("nan", Absent),
            ("N/A", Absent),
            ("NULL", Absent),
            ("-999", Absent),
            ("--", Absent),
            ("007", LeadingZeros),
            ("TRUE", Truth(true)),
            ("yes", Words),
            ("1.2.3", Words),
            ("23:50:00", Daytime(false)),
            ("18.00.00", Daytime(false)),
            ("11:50 PM", Daytime(false)),
            ("23:50:00.757551Z", Daytime(true)),
            ("31.13.19", Words),
            ("1:2", Words),
        ] {
            assert_eq!(rules.look(text), look, "{text}");
        }
        assert!(matches!(rules.look("2015-02-11"), Moment(_)));
        let point = |text| match rules.look(text) {
            Numeric(point, _) => point.map(|read| read.number),
            _ => None,
        };
        for (text, number) in [
            ("0", Number::Integer(0)),
            ("-12", Number::Integer(-12)),
            ("9223372036854775807", Number::Integer(i64::MAX)),
            ("9223372036854775808", Number::Float(9_223_372_036_854_775_808.0)),
            ("0.5", Number::Float(0.5)),
            (".5", Number::Float(0.5)),
            ("1e3", Number::Float(1000.0)),
            ("0.00502101089021385", Number::Float(0.005_021_010_890_213_85)),
            ("1e999", Number::Float(f64::INFINITY)),
            ("-inf", Number::Float(f64::NEG_INFINITY)),
        ] {
            assert_eq!(point(text), Some(number), "{text}");
        }
    }

    #[test]
    fn a_number_that_stands_for_no_value_does_so_however_it_is_written() {
        let options = RecordingOptions { absent: vec!["-999".to_owned()], ..RecordingOptions::default() };
        let rules = CellRules::new(&options);
        for text in ["-999", "-999.0", "-999.00", "-9.99e2"] {
            let number = Marks::PLAIN.read(text).expect("a number");
            assert!(rules.is_absent_number(number), "{text}");
        }
        assert!(!rules.is_absent_number(Number::Float(-999.5)));
        assert!(!rules.is_absent("-999.0"));
    }
}
