//! One operation in memory that is used again for the next: what is written, or what is asked.

use sensormark_store::{
    Ask, Atomicity, Batch, Operation, Query, Schema, Selection, TimeRange, Value, Values,
};

/// What a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// A batch to be written to the table of this number.
    Write(usize),
    /// A reading and its entity, in the table of this number.
    Upsert(usize, Atomicity),
    /// A question.
    Query,
    /// Several questions to the table of this number, which need so much of the store. Each is made from the answers before it
    /// ([`Operations::inquire`](super::operations::Operations::inquire)).
    Inquiry(usize, &'static [Operation]),
}

/// One operation, in memory that is used again for the next.
#[derive(Debug, Clone)]
pub struct Slot {
    request: Request,
    batches: Vec<Batch>,
    /// Columns in which no table's batch lies now; see [`Slot::write_alone`].
    spare: Vec<Values>,
    entity: Vec<Value>,
    query: Query,
}

impl Slot {
    /// An empty slot for operations on this schema.
    pub fn new(schema: &Schema) -> Self {
        let tables = schema.tables.iter().enumerate();
        Self {
            request: Request::Query,
            batches: tables
                .map(|(number, table)| Batch::new(number, table))
                .collect(),
            spare: Vec::new(),
            entity: Vec::new(),
            query: Query {
                table: 0,
                series: Selection::All,
                range: TimeRange::new(0, 0),
                ask: Ask::LastReading {
                    fields: sensormark_store::FieldSet::first(0),
                },
            },
        }
    }

    /// Makes this a write to the table of this number, and gives its batch, emptied, to be filled.
    ///
    /// # Panics
    /// When the schema has no such table: a defect of the workload.
    #[inline]
    pub fn write(&mut self, table: usize) -> &mut Batch {
        self.request = Request::Write(table);
        let batch = &mut self.batches[table];
        batch.clear();
        batch
    }

    /// The same in memory that all tables share: a client holds one write, however many tables there are. For large writes to many tables.
    ///
    /// # Panics
    /// When the schema has no such table: a defect of the workload.
    pub fn write_alone(&mut self, table: usize) -> &mut Batch {
        let (mut times, mut series) = (Vec::new(), Vec::new());
        let others = self.batches.iter_mut().enumerate();
        for (_, batch) in
            others.filter(|(number, batch)| *number != table && batch.times_ns.capacity() > 0)
        {
            batch.clear();
            times = std::mem::take(&mut batch.times_ns);
            series = std::mem::take(&mut batch.series);
            for column in &mut batch.columns {
                let empty = Values::new(column.values.kind());
                self.spare
                    .push(std::mem::replace(&mut column.values, empty));
            }
        }
        let batch = &mut self.batches[table];
        if batch.times_ns.capacity() == 0 {
            batch.times_ns = times;
            batch.series = series;
            for column in &mut batch.columns {
                let kind = column.values.kind();
                // A table of few fields has many rows. So the largest columns are enough for it, and the others stay small.
                let spare = self.spare.iter().enumerate();
                let fits = spare.filter(|(_, spare)| spare.kind() == kind);
                let largest = fits.max_by_key(|(_, spare)| spare.capacity());
                if let Some((place, _)) = largest {
                    column.values = self.spare.swap_remove(place);
                }
            }
        }
        self.write(table)
    }

    /// Makes this an upsert in the table of this number, and gives its batch to be filled with one reading. The batch is emptied, and the entity's columns are
    /// as the last upsert of this slot left them.
    ///
    /// # Panics
    /// When the schema has no such table: a defect of the workload.
    #[inline]
    pub fn upsert(&mut self, table: usize, atomicity: Atomicity) -> (&mut Batch, &mut Vec<Value>) {
        self.request = Request::Upsert(table, atomicity);
        let batch = &mut self.batches[table];
        batch.clear();
        (batch, &mut self.entity)
    }

    /// Makes this a question, and gives it as the last question of this slot left it.
    #[inline]
    pub const fn ask(&mut self) -> &mut Query {
        self.request = Request::Query;
        &mut self.query
    }

    /// Makes this an inquiry: several questions to the table of this number. The store must be able to do `needed`.
    #[inline]
    pub const fn inquire(&mut self, table: usize, needed: &'static [Operation]) {
        self.request = Request::Inquiry(table, needed);
    }

    /// What it holds.
    #[inline]
    pub const fn request(&self) -> Request {
        self.request
    }

    /// The readings of a write or upsert; none of questions.
    #[inline]
    pub fn batch(&self) -> Option<&Batch> {
        match self.request {
            Request::Write(table) | Request::Upsert(table, _) => self.batches.get(table),
            Request::Query | Request::Inquiry(..) => None,
        }
    }

    /// The entity's columns of an upsert.
    #[inline]
    pub fn entity(&self) -> &[Value] {
        &self.entity
    }

    /// The question.
    #[inline]
    pub const fn query(&self) -> &Query {
        &self.query
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::{Field, FieldType, Series, Table, TimeResolution};

    fn table(kinds: &[FieldType]) -> Table {
        let field = |(number, kind): (usize, &FieldType)| Field {
            name: format!("f{number}"),
            kind: *kind,
            nullable: false,
        };
        Table {
            name: "t".to_owned(),
            tags: Vec::new(),
            fields: kinds.iter().enumerate().map(field).collect(),
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::single(),
        }
    }

    /// Rows that fit into the memory of all batches and spare columns of floating point numbers.
    fn rows_held(slot: &Slot) -> usize {
        let columns = slot.batches.iter().flat_map(|batch| &batch.columns);
        let of = |values: &Values| match values.kind() {
            FieldType::F64 => values.capacity(),
            _ => 0,
        };
        let held: usize = columns.map(|column| of(&column.values)).sum();
        held + slot.spare.iter().map(of).sum::<usize>()
    }

    #[test]
    fn writes_to_many_tables_take_the_memory_of_the_widest() {
        const ROWS: usize = 1_000;
        use FieldType::{F64, I64};
        let tables = vec![
            table(&[F64, F64, I64]),
            table(&[F64]),
            table(&[F64, F64, F64]),
        ];
        let mut slot = Slot::new(&Schema { tables });
        for turn in 0..12 {
            let batch = slot.write_alone(turn % 3);
            assert!(batch.is_empty() && batch.columns.iter().all(|one| one.values.is_empty()));
            batch.times_ns.resize(ROWS, 1);
            batch.series.resize(ROWS, 0);
            for column in &mut batch.columns {
                match &mut column.values {
                    Values::F64(values) => values.resize(ROWS, 0.5),
                    Values::I64(values) => values.resize(ROWS, 5),
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(slot.batch().map(Batch::len), Some(ROWS));
            assert!(rows_held(&slot) <= 3 * ROWS, "{}", rows_held(&slot));
        }
        assert_eq!(rows_held(&slot), 3 * ROWS);
    }

    #[test]
    fn many_rows_of_few_fields_do_not_enlarge_all_columns() {
        use FieldType::F64;
        let tables = vec![table(&[F64; 30]), table(&[F64; 2])];
        let mut slot = Slot::new(&Schema { tables });
        for (table, rows) in [(0, 1_000), (1, 15_000)].into_iter().cycle().take(60) {
            let batch = slot.write_alone(table);
            batch.times_ns.resize(rows, 1);
            for column in &mut batch.columns {
                let Values::F64(values) = &mut column.values else {
                    panic!("{column:?}");
                };
                values.reserve_exact(rows);
                values.resize(rows, 0.5);
            }
        }
        assert_eq!(rows_held(&slot), 28 * 1_000 + 2 * 15_000);
    }
}
