//! One operation in memory that is used again for the next: what is written, or what is asked.

use sensormark_store::{
    Ask, Atomicity, Batch, Column, Operation, Query, Schema, Selection, TimeRange, Value,
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
    entity: Vec<Value>,
    query: Query,
}

impl Slot {
    /// An empty slot for operations on this schema.
    pub fn new(schema: &Schema) -> Self {
        let tables = schema.tables.iter().enumerate();
        Self {
            request: Request::Query,
            batches: tables.map(|(number, table)| Batch::new(number, table)).collect(),
            entity: Vec::new(),
            query: Query {
                table: 0,
                series: Selection::All,
                range: TimeRange::new(0, 0),
                ask: Ask::LastReading { fields: sensormark_store::FieldSet::first(0) },
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

    /// The same, and frees what the other tables' batches hold: a client holds one write, however many tables there are. For large writes to many tables.
    ///
    /// Columns are not handed on from table to table: a client would then hold the longest that any table needs, and as many as any table needs.
    ///
    /// # Panics
    /// When the schema has no such table: a defect of the workload.
    pub fn write_alone(&mut self, table: usize) -> &mut Batch {
        for (number, batch) in self.batches.iter_mut().enumerate() {
            if number != table && batch.times_ns.capacity() > 0 {
                batch.times_ns = Vec::new();
                batch.series = Vec::new();
                for column in &mut batch.columns {
                    *column = Column::new(column.values.kind());
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
    use sensormark_store::{Field, FieldType, Series, Table, TimeResolution, Values};

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

    /// Numbers for which the columns of all batches have memory.
    fn held(slot: &Slot) -> usize {
        let columns = slot.batches.iter().flat_map(|batch| &batch.columns);
        let of = |values: &Values| match values {
            Values::F64(values) => values.capacity(),
            Values::U16(values) => values.capacity(),
            other => panic!("{other:?}"),
        };
        columns.map(|column| of(&column.values)).sum()
    }

    #[test]
    fn writes_to_many_tables_take_the_memory_of_one() {
        use FieldType::{F64, U16};
        let mixed = [F64, F64, U16].repeat(10);
        let tables = vec![table(&mixed), table(&[F64; 2]), table(&[U16; 5])];
        let mut slot = Slot::new(&Schema { tables });
        let writes = [(0, 1_000), (1, 15_000), (2, 6_000)];
        for (table, rows) in writes.into_iter().cycle().take(60) {
            let batch = slot.write_alone(table);
            assert!(batch.is_empty() && batch.columns.iter().all(|one| one.values.is_empty()));
            batch.times_ns.resize(rows, 1);
            for column in &mut batch.columns {
                match &mut column.values {
                    Values::F64(values) => {
                        values.reserve_exact(rows);
                        values.resize(rows, 0.5);
                    }
                    Values::U16(values) => {
                        values.reserve_exact(rows);
                        values.resize(rows, 5);
                    }
                    other => panic!("{other:?}"),
                }
            }
            let one = rows * batch.columns.len();
            assert_eq!(slot.batch().map(Batch::len), Some(rows));
            assert_eq!(held(&slot), one);
        }
    }
}
