//! The first reading of a file: what the cells of each column look like, counted over all rows.
//!
//! Nothing is decided here (that is `plan`), and rows that are of another width or not UTF-8 count for nothing; they
//! are reported by the second reading.

use super::*;

/// How many different texts of a column are told apart.
pub const DISTINCT: usize = 64;

/// Looks at every cell of a file.
pub fn gather(dialect: &Dialect) -> Result<Evidence> {
    let rules = CellRules::new(&dialect.options);
    let columns = dialect.names.iter().enumerate().map(|(number, name)| {
        let label = if name.is_empty() { format!("column_{}", number + 1) } else { name.clone() };
        ColumnEvidence { number, label, ..ColumnEvidence::default() }
    });
    let mut evidence = Evidence { rows: 0, columns: columns.collect() };
    dialect.each_row(|Row { record, .. }| {
        evidence.rows += 1;
        if str::from_utf8(record.as_slice()).is_ok()
            && record.len() == dialect.names.len()
            && !dialect.is_header(record)
        {
            for (column, cell) in evidence.columns.iter_mut().zip(record) {
                // The row is UTF-8, and cells are cut at ASCII characters.
                let text = str::from_utf8(cell).unwrap_or_default().trim();
                column.add(text, rules.look(text), &rules);
            }
        }
        Ok(())
    })?;
    Ok(evidence)
}

impl Tally {
    /// Cells that are numbers with this decimal mark.
    pub fn count(&self) -> u64 {
        self.absent + self.values()
    }

    /// Those of them that are values.
    pub fn values(&self) -> u64 {
        self.integers + self.floats
    }

    /// The smallest and the largest number.
    pub fn extremes(&self) -> Option<(f64, f64)> {
        self.powers
            .values()
            .map(|&(_, least, most)| (least, most))
            .reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// The same of those numbers that have the most frequent power of two.
    pub fn usual(&self) -> Option<(f64, f64)> {
        self.powers.values().max_by_key(|(count, ..)| count).map(|&(_, least, most)| (least, most))
    }

    fn add(&mut self, text: &str, read: &ReadNumber, rules: &CellRules) {
        match read.number {
            number if rules.is_absent_number(number) => {
                self.absent += 1;
                return;
            }
            Integer(_) => self.integers += 1,
            Float(_) => self.floats += 1,
        }
        let value = read.number.float();
        if read.is_rounded {
            self.rounded += 1;
            self.rounded_example.get_or_insert_with(|| (text.to_owned(), value));
        }
        if let Some(group) = read.group {
            self.grouped.get_or_insert_with(|| (group, text.to_owned()));
        }
        if read.has_decimal {
            self.decimal.get_or_insert_with(|| text.to_owned());
        }
        if value.is_finite() {
            let (count, least, most) = self.powers.entry(value.to_bits() >> 52).or_insert((0, value, value));
            (*count, *least, *most) = (*count + 1, least.min(value), most.max(value));
        }
    }
}

impl ColumnEvidence {
    /// Cells with a value.
    pub fn present(&self) -> u64 {
        self.numeric - self.point.absent.max(self.comma.absent)
            + self.truths
            + self.times
            + self.clocks
            + self.texts
    }

    /// Whether more than half of the cells with a value are of this kind.
    pub fn is_mostly(&self, cells: u64) -> bool {
        cells * 2 > self.present()
    }

    /// Whether it holds as many whole numbers as there are from the smallest to the largest: it counts the rows.
    pub fn is_count(&self) -> bool {
        let integers = self.point.integers;
        let extremes = self.point.extremes();
        integers == self.present()
            && extremes.is_some_and(|(least, most)| most - least + 1.0 == integers as f64)
    }

    fn add(&mut self, text: &str, look: Look, rules: &CellRules) {
        if look != Absent && self.example.is_empty() {
            text.clone_into(&mut self.example);
        }
        if (rules.has_units || look == Words)
            && let Some((_, unit)) = unit(text)
            && (self.units.len() < 8 || self.units.contains_key(unit))
        {
            *self.units.entry(unit.to_owned()).or_default() += 1;
        }
        if !matches!(look, Absent | Numeric(..))
            && self.distinct.len() < DISTINCT
            && !self.distinct.contains(text)
        {
            self.distinct.insert(text.to_owned());
        }
        match look {
            Absent => {}
            Numeric(point, comma) => {
                self.numeric += 1;
                let is_grouped = point.is_some_and(|read| read.group.is_some());
                let text = rules.plain(text);
                self.unusual_integers += (text.starts_with('+') || text == "-0" || is_grouped) as u64;
                point.iter().for_each(|read| self.point.add(text, read, rules));
                comma.iter().for_each(|read| self.comma.add(text, read, rules));
            }
            Truth(_) => self.truths += 1,
            Moment(written) => {
                self.times += 1;
                self.midnights += (written.clock.since_ns == Ok(0)) as u64;
                self.zoned += written.clock.zone.is_some() as u64;
                self.short_years += written.is_short as u64;
                for (fit, date) in self.orders.iter_mut().zip(written.dates) {
                    *fit += date.is_some() as u64;
                }
            }
            Daytime(zoned) => {
                self.clocks += 1;
                self.zoned += zoned as u64;
            }
            LeadingZeros | Words => {
                self.leading_zeros += (look == LeadingZeros) as u64;
                self.texts += 1;
                let plain = text.trim_matches(|one: char| !one.is_alphanumeric());
                let is_near = look == Words && !text.starts_with('#');
                let ways = [plain, &text.replace(|one: char| ",_' $€£()".contains(one), "")];
                let is_number = |way: &&str| Marks::PLAIN.read(&way.replace(['D', 'd'], "E")).is_some();
                self.near_numbers += (is_near && ways.iter().any(is_number)) as u64;
            }
        }
    }
}
