//! Texts of a store's files: CQL with slots, behind clauses that say of which partitions it is asked and which rows count.
//!
//! Clauses end with `;`. A slot is `?1` (the kit's first value) or what the driver knows by itself: `@series`, `@bucket`, `@first` and `@last` (buckets), `@least`,
//! `@name` (of a record, which no other has) and `@back` (now in µs, counted backwards).

/// A place in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// A value of the kit's; a threshold that a column of whole numbers is under is rounded up.
    Given(usize, bool),
    /// The partition's series.
    Series,
    /// The partition's bucket of time.
    Bucket,
    /// The first bucket of a range.
    First,
    /// The last bucket of a range.
    Last,
    /// The least value of all partitions.
    Least,
    /// A record's name.
    Name,
    /// Now in µs, counted backwards.
    Back,
}

/// CQL with `?` in the place of each slot.
pub(super) fn cut(text: &str) -> (String, Vec<Slot>) {
    let (mut cql, mut slots, mut rest) = (String::with_capacity(text.len()), Vec::new(), text);
    while let Some(at) = rest.find(['?', '@']) {
        let (before, behind) = (&rest[..at], &rest[at + 1..]);
        let end = behind.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(behind.len());
        let (word, more) = behind.split_at(end);
        cql.push_str(before);
        cql.push('?');
        slots.push(match word {
            "series" => Slot::Series,
            "bucket" => Slot::Bucket,
            "first" => Slot::First,
            "last" => Slot::Last,
            "least" => Slot::Least,
            "name" => Slot::Name,
            "back" => Slot::Back,
            number => Slot::Given(place(number), before.ends_with("< ")),
        });
        rest = more;
    }
    cql.push_str(rest);
    (cql, slots)
}

/// The place of a slot's number, from 0 on.
fn place(number: &str) -> usize {
    number.parse::<usize>().map_or(0, |number| number.saturating_sub(1))
}

/// Which rows of the partitions are handed over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Rows {
    /// All.
    #[default]
    Every,
    /// Those of each series in the order of time, or backwards, until no more of it are wanted.
    InTurn {
        /// Whether it is backwards.
        back: bool,
    },
    /// Those with the least value, which a statement before finds in each partition.
    Least,
    /// All that is stored, whatever node has it.
    Scanned,
}

/// Where a question finds its series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Series {
    /// There is one.
    Only,
    /// In a value of the kit's: one, or several.
    Given(usize),
    /// A statement finds them.
    Found(String),
}

/// Buckets of time. Keys are counted in units of so many ns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Buckets {
    /// The values with the first key and the last.
    pub(super) range: Option<(usize, usize)>,
    /// Whether the last key is not in the range any more.
    pub(super) is_open: bool,
    /// Ns of a unit of the key.
    pub(super) key_ns: i64,
    /// Ns of a bucket.
    pub(super) bucket_ns: i64,
    /// The statement that looks buckets up, or notes one.
    pub(super) look: String,
}

impl Buckets {
    /// The bucket of a key.
    pub(super) fn of(&self, key: i64) -> i64 {
        key.saturating_mul(self.key_ns).div_euclid(self.bucket_ns.max(1))
    }

    /// `?1 before ?2, 1 3600000000000: CQL`, or `to` for `before`; without a range where a bucket is noted.
    fn read(text: &str) -> Self {
        let (words, look) = text.split_once(": ").unwrap_or((text, ""));
        let words: Vec<&str> = words.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let mut buckets = Self { look: look.to_owned(), ..Self::default() };
        let number = |word: &str| word.parse().unwrap_or(1);
        if let [range @ .., key_ns, bucket_ns] = &words[..] {
            (buckets.key_ns, buckets.bucket_ns) = (number(key_ns), number(bucket_ns));
            if let [first, word, last] = range {
                buckets.range = Some((place(&first[1..]), place(&last[1..])));
                buckets.is_open = *word == "before";
            }
        }
        buckets
    }
}

/// A text's clauses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Clauses {
    /// Whose partitions are asked; none where the statement names no partition.
    pub(super) series: Option<Series>,
    /// Which of them; none where all of a series is one.
    pub(super) buckets: Option<Buckets>,
    /// Which rows.
    pub(super) rows: Rows,
    /// Rows in a page of the answer.
    pub(super) page: Option<i32>,
    /// What is written once for each series.
    pub(super) once: Option<String>,
    /// The statements.
    pub(super) statements: Vec<String>,
}

impl Clauses {
    /// Reads a text.
    pub(super) fn read(text: &str) -> Self {
        let mut clauses = Self::default();
        for clause in text.split(';').map(str::trim).filter(|clause| !clause.is_empty()) {
            let (word, rest) = clause.split_once(' ').unwrap_or((clause, ""));
            match word {
                "series" if rest.starts_with("SELECT") => {
                    clauses.series = Some(Series::Found(rest.to_owned()));
                }
                "series" if rest == "only" => clauses.series = Some(Series::Only),
                "series" => clauses.series = Some(Series::Given(place(&rest[1..]))),
                "buckets" => clauses.buckets = Some(Buckets::read(rest)),
                "page" => clauses.page = rest.parse().ok(),
                "once" => clauses.once = Some(rest.to_owned()),
                "rows" => {
                    clauses.rows = match rest {
                        "in turn" => Rows::InTurn { back: false },
                        "back in turn" => Rows::InTurn { back: true },
                        "least" => Rows::Least,
                        _ => Rows::Scanned,
                    };
                }
                _ => clauses.statements.push(clause.to_owned()),
            }
        }
        clauses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_become_signs() {
        let text = r#"SELECT "v" FROM t WHERE "_series" = @series AND "_bucket" = @bucket AND "_time" < ?2 AND "v" > ?1"#;
        let (cql, slots) = cut(text);
        let expected =
            r#"SELECT "v" FROM t WHERE "_series" = ? AND "_bucket" = ? AND "_time" < ? AND "v" > ?"#;
        assert_eq!(cql, expected);
        let expected = [Slot::Series, Slot::Bucket, Slot::Given(1, true), Slot::Given(0, false)];
        assert_eq!(slots, expected);
    }

    #[test]
    fn clauses_say_which_partitions_and_rows() {
        let clauses = Clauses::read(
            "series ?3; buckets ?1 before ?2, 1 3600: SELECT n; rows back in turn; page 32; SELECT a",
        );
        assert_eq!(clauses.series, Some(Series::Given(2)));
        let buckets = clauses.buckets.unwrap();
        assert_eq!((buckets.range, buckets.is_open, buckets.look.as_str()), (Some((0, 1)), true, "SELECT n"));
        assert_eq!((buckets.of(7199), buckets.of(-1)), (1, -1));
        assert_eq!((clauses.rows, clauses.page), (Rows::InTurn { back: true }, Some(32)));
        assert_eq!(clauses.statements, ["SELECT a"]);
    }
}
