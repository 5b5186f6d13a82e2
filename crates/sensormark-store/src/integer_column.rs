//! Whole numbers of a column, in as few bytes as they need.
//!
//! A load's clients hold one write each, and that is most of their memory. Neighbouring readings of a sensor are mostly near each other. So a column
//! keeps differences from its first value, in 2 bytes each where they fit and in 4 where those do. Else it keeps the numbers themselves in 8.

use serde::{Deserialize, Serialize};

/// Signed 64-bit integers; every one comes back as it was pushed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Vec<i64>", into = "Vec<i64>")]
pub struct IntegerColumn {
    /// What the cells are differences from: the first value, and 0 of 8 bytes. Sums wrap, so that no difference is too large to come back.
    base: i64,
    cells: Cells,
}

#[derive(Debug, Clone)]
enum Cells {
    Two(Vec<i16>),
    Four(Vec<i32>),
    Eight(Vec<i64>),
}

/// How many values [`Extend`] looks at together.
const TOGETHER: usize = 64;

impl IntegerColumn {
    /// An empty column.
    pub const fn new() -> Self {
        Self {
            base: 0,
            cells: Cells::Two(Vec::new()),
        }
    }

    /// The value at `row`.
    ///
    /// # Panics
    /// When `row` is out of range.
    #[inline]
    pub fn get(&self, row: usize) -> i64 {
        let difference = match &self.cells {
            Cells::Two(cells) => i64::from(cells[row]),
            Cells::Four(cells) => i64::from(cells[row]),
            Cells::Eight(cells) => cells[row],
        };
        self.base.wrapping_add(difference)
    }

    /// Puts another value at `row`.
    ///
    /// # Panics
    /// When `row` is out of range.
    pub fn set(&mut self, row: usize, value: i64) {
        self.make_room_for(&[value]);
        let difference = value.wrapping_sub(self.base);
        match &mut self.cells {
            Cells::Two(cells) => cells[row] = two(difference),
            Cells::Four(cells) => cells[row] = four(difference),
            Cells::Eight(cells) => cells[row] = difference,
        }
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: i64) {
        self.extend_from_slice(&[value]);
    }

    /// Appends values.
    #[inline]
    pub fn extend_from_slice(&mut self, values: &[i64]) {
        self.make_room_for(values);
        let base = self.base;
        let differences = values.iter().map(|value| value.wrapping_sub(base));
        match &mut self.cells {
            Cells::Two(cells) => cells.extend(differences.map(two)),
            Cells::Four(cells) => cells.extend(differences.map(four)),
            Cells::Eight(cells) => cells.extend_from_slice(values),
        }
    }

    /// All values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = i64> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// How many values there are.
    #[inline]
    pub const fn len(&self) -> usize {
        match &self.cells {
            Cells::Two(cells) => cells.len(),
            Cells::Four(cells) => cells.len(),
            Cells::Eight(cells) => cells.len(),
        }
    }

    /// Whether there is no value.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all values and keeps the memory.
    pub fn clear(&mut self) {
        match &mut self.cells {
            Cells::Two(cells) => cells.clear(),
            Cells::Four(cells) => cells.clear(),
            Cells::Eight(cells) => cells.clear(),
        }
    }

    /// Makes room for exactly `more` values, of as many bytes as those that are there.
    pub fn reserve_exact(&mut self, more: usize) {
        match &mut self.cells {
            Cells::Two(cells) => cells.reserve_exact(more),
            Cells::Four(cells) => cells.reserve_exact(more),
            Cells::Eight(cells) => cells.reserve_exact(more),
        }
    }

    /// Sees to a base, and to cells in which these values fit.
    #[inline]
    fn make_room_for(&mut self, values: &[i64]) {
        let Some(&first) = values.first() else { return };
        if matches!(self.cells, Cells::Eight(_)) {
            return;
        }
        if self.is_empty() {
            self.base = first;
        }
        match (self.fit(values), &self.cells) {
            ((true, _), _) | ((_, true), Cells::Four(_)) => {}
            ((_, true), Cells::Two(cells)) => self.cells = Cells::Four(wider(cells)),
            _ => self.use_eight(),
        }
    }

    /// Whether all of these values fit into cells of two and of four bytes.
    #[inline]
    fn fit(&self, values: &[i64]) -> (bool, bool) {
        let (mut over_two, mut over_four) = (0, 0);
        for value in values {
            let difference = value.wrapping_sub(self.base);
            over_two |= difference.wrapping_add(1 << 15);
            over_four |= difference.wrapping_add(1 << 31);
        }
        let has_none_above = |bits: i64, width: u32| bits.cast_unsigned() >> width == 0;
        (has_none_above(over_two, 16), has_none_above(over_four, 32))
    }

    #[cold]
    fn use_eight(&mut self) {
        let mut values = Vec::with_capacity(match &self.cells {
            Cells::Two(cells) => cells.capacity(),
            Cells::Four(cells) => cells.capacity(),
            Cells::Eight(cells) => cells.capacity(),
        });
        values.extend(self.iter());
        *self = Self {
            base: 0,
            cells: Cells::Eight(values),
        };
    }
}

/// The cells in twice the bytes, with as much room.
#[cold]
fn wider(cells: &Vec<i16>) -> Vec<i32> {
    let mut wide = Vec::with_capacity(cells.capacity());
    wide.extend(cells.iter().map(|&cell| i32::from(cell)));
    wide
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the caller saw that it fits"
)]
#[inline]
const fn two(difference: i64) -> i16 {
    difference as i16
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the caller saw that it fits"
)]
#[inline]
const fn four(difference: i64) -> i32 {
    difference as i32
}

impl Default for IntegerColumn {
    fn default() -> Self {
        Self::new()
    }
}

/// By value, whatever the cells are.
impl PartialEq for IntegerColumn {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for IntegerColumn {}

impl Extend<i64> for IntegerColumn {
    fn extend<I: IntoIterator<Item = i64>>(&mut self, values: I) {
        let mut values = values.into_iter();
        let mut some = [0; TOGETHER];
        loop {
            let mut count = 0;
            for (place, value) in some.iter_mut().zip(values.by_ref()) {
                *place = value;
                count += 1;
            }
            self.extend_from_slice(&some[..count]);
            if count < TOGETHER {
                return;
            }
        }
    }
}

impl FromIterator<i64> for IntegerColumn {
    fn from_iter<I: IntoIterator<Item = i64>>(values: I) -> Self {
        let mut column = Self::new();
        column.extend(values);
        column
    }
}

impl From<Vec<i64>> for IntegerColumn {
    fn from(values: Vec<i64>) -> Self {
        values.into_iter().collect()
    }
}

impl From<IntegerColumn> for Vec<i64> {
    fn from(column: IntegerColumn) -> Self {
        column.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values at every edge of the three widths, from several first values.
    fn hard_cases() -> Vec<Vec<i64>> {
        let edges = [0, 1, 32_767, 32_768, (1 << 31) - 1, 1 << 31, i64::MAX];
        let near = edges.iter().flat_map(|&edge| [edge, -edge, -edge - 1]);
        let near: Vec<i64> = near.collect();
        let firsts = [0, -1, 1 << 40, i64::MIN, i64::MAX, i64::MAX - 40_000];
        let of = |&first: &i64| {
            let others = near
                .iter()
                .map(move |&edge| vec![first, first.wrapping_add(edge), 7]);
            let all = near.iter().map(move |&edge| first.wrapping_add(edge));
            others.chain([[first].into_iter().chain(all).collect()])
        };
        firsts.iter().flat_map(of).collect()
    }

    #[test]
    fn every_value_comes_back() {
        for values in hard_cases() {
            let together = IntegerColumn::from(values.clone());
            let mut one_by_one = IntegerColumn::new();
            values.iter().for_each(|&value| one_by_one.push(value));
            let mut slices = IntegerColumn::new();
            slices.extend_from_slice(&values[..1]);
            slices.extend_from_slice(&values[1..]);
            for column in [&together, &one_by_one, &slices] {
                assert_eq!(column.iter().collect::<Vec<_>>(), values);
                assert_eq!(*column, together);
            }
            let mut set = IntegerColumn::from(vec![5; values.len()]);
            values
                .iter()
                .enumerate()
                .for_each(|(row, &value)| set.set(row, value));
            assert_eq!(Vec::from(set), values);
        }
    }

    #[test]
    fn more_than_are_looked_at_together_come_back() {
        for count in [TOGETHER - 1, TOGETHER, TOGETHER + 1, 3 * TOGETHER] {
            let values: Vec<i64> = (0..count as i64).map(|row| row * row * 1_000).collect();
            assert_eq!(Vec::from(IntegerColumn::from(values.clone())), values);
        }
    }

    /// Bytes that the column has memory for.
    fn bytes(column: &IntegerColumn) -> usize {
        match &column.cells {
            Cells::Two(cells) => 2 * cells.capacity(),
            Cells::Four(cells) => 4 * cells.capacity(),
            Cells::Eight(cells) => 8 * cells.capacity(),
        }
    }

    #[test]
    fn neighbours_take_two_bytes_and_distant_ones_as_many_as_they_need() {
        let bytes_of = |second: i64| {
            let mut column = IntegerColumn::new();
            column.reserve_exact(1_000);
            column.push(1 << 40);
            column.push(second);
            bytes(&column)
        };
        assert_eq!(bytes_of((1 << 40) + 32_767), 2_000);
        assert_eq!(bytes_of((1 << 40) + 32_768), 4_000);
        assert_eq!(bytes_of(0), 8_000);
    }

    #[test]
    fn a_cleared_column_keeps_its_memory_and_takes_a_new_base() {
        let mut column = IntegerColumn::from(vec![1, 2, 3]);
        column.reserve_exact(97);
        let before = bytes(&column);
        column.clear();
        assert!(column.is_empty());
        column.extend((0..100).map(|row| (1 << 50) + row));
        assert_eq!((bytes(&column), column.get(99)), (before, (1 << 50) + 99));
    }

    #[test]
    fn it_is_kept_as_a_list_of_numbers() {
        let column = IntegerColumn::from(vec![3, i64::MIN, -1]);
        let text = serde_json::to_string(&column).unwrap();
        assert_eq!(text, "[3,-9223372036854775808,-1]");
        assert_eq!(
            serde_json::from_str::<IntegerColumn>(&text).unwrap(),
            column
        );
    }
}
