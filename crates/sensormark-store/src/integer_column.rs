//! Whole numbers of a column, in as few bytes as they need.
//!
//! A load's clients hold one write each, and that is most of their memory. Neighbouring readings of a sensor are mostly near each other. So a column
//! keeps [`TOGETHER`] values at a time as differences from the first of them. Each takes as many bytes as the farthest needs, and none where all are the same.

use serde::{Deserialize, Serialize};

/// Values that are packed together.
const TOGETHER: usize = 64;
/// Bytes behind the last packed value, so that each is read as 8.
const PADDING: usize = 7;

/// Signed 64-bit integers; every one comes back as it was pushed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<i64>", into = "Vec<i64>")]
pub struct IntegerColumn {
    packed: Vec<Pack>,
    /// The differences of all packs, one after the other, and [`PADDING`].
    cells: Vec<u8>,
    /// The last values, fewer than make a pack.
    open: Vec<i64>,
    /// How many values there is to be memory for.
    expected: usize,
}

/// [`TOGETHER`] values that are packed. Sums wrap, so that no difference is too large to come back.
#[derive(Debug, Clone, Copy)]
struct Pack {
    /// What the cells are differences from.
    base: i64,
    /// Where the cells begin, in units of [`TOGETHER`] bytes.
    place: u32,
    /// Bytes of a difference, 0 to 8.
    width: u32,
}

impl IntegerColumn {
    /// An empty column.
    pub const fn new() -> Self {
        Self { packed: Vec::new(), cells: Vec::new(), open: Vec::new(), expected: 0 }
    }

    /// The value at `row`.
    ///
    /// # Panics
    /// When `row` is out of range.
    #[inline]
    pub fn get(&self, row: usize) -> i64 {
        let within = row % TOGETHER;
        match self.packed.get(row / TOGETHER) {
            Some(pack) => pack.get(&self.cells, within),
            None => self.open[row - self.packed.len() * TOGETHER],
        }
    }

    /// Puts another value at `row`. This packs the whole column anew.
    ///
    /// # Panics
    /// When `row` is out of range.
    pub fn set(&mut self, row: usize, value: i64) {
        let mut values = Vec::from(std::mem::take(self));
        values[row] = value;
        *self = values.into();
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: i64) {
        self.open.push(value);
        if self.open.len() == TOGETHER {
            self.pack_open();
        }
    }

    /// Appends values.
    #[inline]
    pub fn extend_from_slice(&mut self, values: &[i64]) {
        let room = (TOGETHER - self.open.len()).min(values.len());
        let (first, rest) = values.split_at(room);
        self.open.extend_from_slice(first);
        if self.open.len() < TOGETHER {
            return;
        }
        self.pack_open();
        let (packs, rest) = rest.as_chunks();
        packs.iter().for_each(|values| self.pack(values));
        self.open.extend_from_slice(rest);
    }

    /// All values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = i64> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// How many values there are.
    #[inline]
    pub const fn len(&self) -> usize {
        self.packed.len() * TOGETHER + self.open.len()
    }

    /// Whether there is no value.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all values and keeps the memory.
    pub fn clear(&mut self) {
        self.packed.clear();
        self.cells.clear();
        self.open.clear();
        self.expected = 0;
    }

    /// Makes room for exactly `more` values, once it is seen how many bytes they take.
    pub fn reserve_exact(&mut self, more: usize) {
        self.expected = self.len() + more;
        self.packed.reserve_exact(self.expected / TOGETHER - self.packed.len());
    }

    fn pack_open(&mut self) {
        let open = std::mem::take(&mut self.open);
        if let Some(values) = open.first_chunk() {
            self.pack(values);
        }
        self.open = open;
        self.open.clear();
    }

    fn pack(&mut self, values: &[i64; TOGETHER]) {
        let base = values[0];
        let differences = values.map(|value| value.wrapping_sub(base));
        let width = width(&differences);
        let begin = self.cells.len().saturating_sub(PADDING);
        let end = begin + width * TOGETHER;
        if end + PADDING > self.cells.capacity() {
            self.grow(end);
        }
        self.cells.resize(end + PADDING, 0);
        put(&differences, width, &mut self.cells[begin..end]);
        let whole = |number| u32::try_from(number).expect("a column of under 256 GiB");
        self.packed.push(Pack { base, place: whole(begin / TOGETHER), width: whole(width) });
    }

    /// Makes room for these bytes of cells, and for those that the expected values take if they are like the ones before. Where none is expected, it
    /// makes room for twice as many.
    #[cold]
    fn grow(&mut self, end: usize) {
        let packs = self.packed.len() + 1;
        let expected = self.expected / TOGETHER;
        let expected = if expected < packs { 2 * packs } else { expected };
        let alike = end.div_ceil(packs) * expected;
        // A sixteenth more, so that growing packs do not move the column each time.
        let wanted = alike + alike / 16 + PADDING;
        self.cells.reserve_exact(wanted - self.cells.len());
    }
}

impl Pack {
    #[inline]
    fn get(self, cells: &[u8], within: usize) -> i64 {
        if self.width == 0 {
            return self.base;
        }
        let at = self.place as usize * TOGETHER + within * self.width as usize;
        let Some(cell) = cells[at..].first_chunk() else {
            unreachable!("there is padding behind the last cell")
        };
        let others = 64 - 8 * self.width;
        let difference = (i64::from_le_bytes(*cell) << others) >> others;
        self.base.wrapping_add(difference)
    }
}

/// Bytes that each of these numbers fits into, with its sign.
fn width(differences: &[i64; TOGETHER]) -> usize {
    let (mut any, mut highest) = (0, 0);
    for &difference in differences {
        any |= difference;
        highest |= difference ^ (difference >> 63);
    }
    if any == 0 {
        return 0;
    }
    let bits_with_sign = 65 - highest.leading_zeros();
    bits_with_sign.div_ceil(8) as usize
}

/// Writes the low bytes of each number.
fn put(differences: &[i64; TOGETHER], width: usize, cells: &mut [u8]) {
    match width {
        0 => {}
        1 => put_low::<1>(differences, cells),
        2 => put_low::<2>(differences, cells),
        3 => put_low::<3>(differences, cells),
        4 => put_low::<4>(differences, cells),
        5 => put_low::<5>(differences, cells),
        6 => put_low::<6>(differences, cells),
        7 => put_low::<7>(differences, cells),
        _ => put_low::<8>(differences, cells),
    }
}

fn put_low<const WIDTH: usize>(differences: &[i64; TOGETHER], cells: &mut [u8]) {
    let (cells, _) = cells.as_chunks_mut::<WIDTH>();
    for (cell, difference) in cells.iter_mut().zip(differences) {
        cell.copy_from_slice(&difference.to_le_bytes()[..WIDTH]);
    }
}

/// By value, however they are packed.
impl PartialEq for IntegerColumn {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for IntegerColumn {}

impl Extend<i64> for IntegerColumn {
    fn extend<I: IntoIterator<Item = i64>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.push(value));
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

    /// Numbers at the edges of every width.
    fn edges() -> Vec<i64> {
        let powers = (0..64).map(|bits| 1_i64 << bits);
        let near = powers.flat_map(|power| [-1, 0, 1].map(|by| power.wrapping_add(by)));
        near.flat_map(|edge| [edge, edge.wrapping_neg()]).collect()
    }

    /// Columns from several first values: with one other value, in the first and in the last place of a pack or behind it, and with all edges.
    fn hard_cases() -> Vec<Vec<i64>> {
        let firsts = [0, -1, 1 << 40, i64::MIN, i64::MAX, i64::MAX - 40_000];
        let of = |&first: &i64| {
            let others = edges().into_iter().flat_map(move |edge| {
                [1, TOGETHER - 1, TOGETHER].map(|place| {
                    let mut values = vec![first; TOGETHER + 3];
                    values[place] = first.wrapping_add(edge);
                    values
                })
            });
            let all = edges().into_iter().map(move |edge| first.wrapping_add(edge));
            others.chain([[first].into_iter().chain(all).collect()])
        };
        firsts.iter().flat_map(of).collect()
    }

    #[test]
    fn every_value_comes_back() {
        for values in hard_cases() {
            let together = IntegerColumn::from(values.clone());
            let mut one_by_one = IntegerColumn::new();
            one_by_one.reserve_exact(values.len());
            values.iter().for_each(|&value| one_by_one.push(value));
            let mut slices = IntegerColumn::new();
            slices.extend_from_slice(&values[..1]);
            slices.extend_from_slice(&values[1..]);
            for column in [&together, &one_by_one, &slices] {
                assert_eq!(column.iter().collect::<Vec<_>>(), values);
                assert_eq!(*column, together);
            }
        }
    }

    #[test]
    fn slices_of_any_length_come_back() {
        let values: Vec<i64> = (0..500).map(|row| row * row * row * 1_000).collect();
        for first in 0..=2 * TOGETHER {
            for second in [0, 1, TOGETHER - 1, TOGETHER, TOGETHER + 1, 3 * TOGETHER] {
                let mut column = IntegerColumn::new();
                column.extend_from_slice(&values[..first]);
                column.extend_from_slice(&values[first..first + second]);
                assert_eq!(Vec::from(column), values[..first + second]);
            }
        }
    }

    #[test]
    fn a_value_is_put_in_place_of_another() {
        for row in [0, 1, TOGETHER - 1, TOGETHER, 2 * TOGETHER + 1] {
            let mut values: Vec<i64> = (0..2 * TOGETHER as i64 + 2).collect();
            let mut column = IntegerColumn::from(values.clone());
            values[row] = i64::MIN;
            column.set(row, i64::MIN);
            assert_eq!(Vec::from(column), values);
        }
    }

    /// Bytes of cells that the column has memory for.
    fn bytes(column: &IntegerColumn) -> usize {
        column.cells.capacity()
    }

    #[test]
    fn a_pack_takes_as_many_bytes_as_its_farthest_value() {
        let widths = [(0, 0), (127, 1), (-128, 1), (128, 2), (-129, 2), (40_000, 3)];
        let wide = [((1 << 31) - 1, 4), (1 << 31, 5), (i64::MAX, 8), (i64::MIN, 8)];
        for (difference, width) in widths.into_iter().chain(wide) {
            let mut column = IntegerColumn::new();
            column.reserve_exact(100 * TOGETHER);
            for _ in 0..100 {
                column.extend_from_slice(&[1 << 40; TOGETHER - 1]);
                column.push((1_i64 << 40).wrapping_add(difference));
            }
            let needed = 100 * TOGETHER * width;
            let most = needed + needed / 16 + PADDING;
            assert_eq!(column.cells.len(), needed + PADDING);
            assert!(bytes(&column) <= most, "{difference}: {} of {most}", bytes(&column));
        }
    }

    #[test]
    fn a_cleared_column_keeps_its_memory() {
        let values: Vec<i64> = (0..1_000).map(|row| row * 100_000).collect();
        let mut column = IntegerColumn::from(values);
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
        assert_eq!(serde_json::from_str::<IntegerColumn>(&text).unwrap(), column);
    }
}
