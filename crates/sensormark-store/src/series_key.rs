//! Which tags make a series' key, and in which order keys and indexes have them: one rule for all stores.
//!
//! The rule and its reasons are in `docs/explanation/fairness.md` (Order of tags in indexes). It knows the table alone, no workload and no database.

use crate::schema::{Table, TagColumn};
use std::collections::HashMap;
use std::hash::Hash;

/// The tags that tell a table's series apart, in the order of every key and index; time comes after them.
///
/// It is one tag where one is enough: the first that has a value of its own for each series. Else it is the tags in the schema's order, without those that the
/// others make superfluous. From the last to the second, a tag is left out if the rest still tells all series apart. The first stays where it has several
/// values: a schema names first what its questions fix alone, and an index helps these only with that tag in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesKey(Vec<usize>);

impl SeriesKey {
    /// The key of a table's series; without tags it is empty.
    pub fn of(table: &Table) -> Self {
        Self::among(table, table.tags.len())
    }

    /// The key of groups of series: those that agree in the table's first `count` tags.
    pub fn among(table: &Table, count: usize) -> Self {
        let columns = table.series.columns();
        let columns: Vec<Vec<u32>> = columns.iter().take(count).map(numbered).collect();
        let mut tags: Vec<usize> = (0..columns.len()).collect();
        let groups = groups(&columns, &tags);
        let enough = |tags: &[usize]| self::groups(&columns, tags) == groups;
        if let Some(&one) = tags.iter().find(|&&tag| enough(&[tag])) {
            return Self(vec![one]);
        }
        let varies = !tags.is_empty() && self::groups(&columns, &[0]) > 1;
        for tag in (usize::from(varies)..columns.len()).rev() {
            let rest: Vec<usize> = tags.iter().copied().filter(|&other| other != tag).collect();
            if enough(&rest) {
                tags = rest;
            }
        }
        Self(tags)
    }

    /// The tags' numbers, in the order of keys and indexes.
    pub fn tags(&self) -> &[usize] {
        &self.0
    }
}

/// Each value's number within its column, one entry a series.
fn numbered(column: &TagColumn) -> Vec<u32> {
    fn of<T: Hash + Eq>(values: impl Iterator<Item = T>) -> Vec<u32> {
        let mut numbers = HashMap::new();
        let mut next = 0..;
        values.map(|value| *numbers.entry(value).or_insert_with(|| next.next().unwrap_or(0))).collect()
    }
    match column {
        TagColumn::Text(values) => of(values.iter()),
        TagColumn::Integer(values) => of(values.iter()),
    }
}

/// How many groups of series these tags tell apart.
fn groups(columns: &[Vec<u32>], tags: &[usize]) -> usize {
    let Some((&first, others)) = tags.split_first() else {
        return 1;
    };
    let mut classes = columns[first].clone();
    for &tag in others {
        let mut numbers = HashMap::new();
        let mut next = 0..;
        for (class, &value) in classes.iter_mut().zip(&columns[tag]) {
            *class = *numbers.entry((*class, value)).or_insert_with(|| next.next().unwrap_or(0));
        }
    }
    classes.iter().max().map_or(0, |&last| last as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Series, Tag, TimeResolution};

    fn table(columns: &[&[&str]]) -> Table {
        let names = 0..columns.len();
        let words = |words: &&[&str]| TagColumn::Text(words.iter().map(|&word| word.to_owned()).collect());
        Table {
            name: "t".to_owned(),
            tags: names.map(|tag| Tag { name: format!("t{tag}") }).collect(),
            fields: Vec::new(),
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: if columns.is_empty() {
                Series::single()
            } else {
                Series::new(columns.iter().map(words).collect())
            },
        }
    }

    #[test]
    fn one_tag_is_enough_where_it_tells_all_apart() {
        let key = SeriesKey::of(&table(&[&["a", "a", "b"], &["x", "y", "z"], &["1", "2", "3"]]));
        assert_eq!(key.tags(), [1]);
        assert_eq!(SeriesKey::of(&table(&[&["a"], &["x"]])).tags(), [0]);
        assert_eq!(SeriesKey::of(&table(&[])).tags(), [0_usize; 0]);
    }

    #[test]
    fn the_schema_s_order_decides_and_not_how_many_values_there_are() {
        let devices = table(&[
            &["d1", "d1", "d1", "d2", "d2", "d2"],
            &["one", "one", "one", "two", "two", "two"],
            &["p", "q", "r", "p", "q", "r"],
        ]);
        assert_eq!(SeriesKey::of(&devices).tags(), [0, 2]);
    }

    #[test]
    fn the_first_stays_for_questions_that_fix_it_alone() {
        // A room says which house, and houses are asked for.
        let rooms = table(&[
            &["h1", "h1", "h1", "h1", "h2", "h2"],
            &["r1", "r1", "r2", "r2", "r3", "r3"],
            &["s1", "s2", "s1", "s2", "s1", "s2"],
        ]);
        assert_eq!(SeriesKey::of(&rooms).tags(), [0, 1, 2]);
        // One house says nothing.
        let house = table(&[&["h1", "h1", "h1", "h1"], &["r1", "r1", "r2", "r2"], &["s1", "s2", "s1", "s2"]]);
        assert_eq!(SeriesKey::of(&house).tags(), [1, 2]);
    }

    #[test]
    fn groups_have_a_key_of_their_own() {
        let devices =
            table(&[&["d1", "d1", "d2", "d2"], &["one", "one", "two", "two"], &["p", "q", "p", "q"]]);
        assert_eq!(SeriesKey::among(&devices, 2).tags(), [0]);
        assert_eq!(SeriesKey::among(&devices, 3).tags(), [0, 2]);
        assert_eq!(SeriesKey::among(&devices, 0).tags(), [0_usize; 0]);
    }
}
