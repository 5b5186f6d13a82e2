//! Asking: the relational planner writes the statements of a question and puts the answer together; here they are sent.
//!
//! Statements are prepared once for each shape of question and session. Before an answer counts, all that was acknowledged must show
//! ([`crate::visible`]).

pub(crate) mod value;

pub(crate) use self::value::Value;
use self::value::{kinds, values};
use crate::asking::Link;
use crate::schema::{in_database, table_name, written_tables};
use crate::sent::Kept;
use crate::visible::{Lookout, STATE, State};
use futures_util::future::join;
use sensormark_kit::ByShape;
use sensormark_relational::decode::{Decoder, entity};
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::plan::shape::QueryShape;
use sensormark_relational::plan::slot::{Bindings, Slot};
use sensormark_relational::plan::{self, Form, Plan, checked, entities, nothing_to_find};
use sensormark_relational::wire::{WireRow, read_piece, read_rows};
use sensormark_store::{Answer, Ask, Batch, Query, Selection, StoreError};
use std::pin::pin;
use std::rc::Rc;

const OPERATION: &str = "query QuestDB";

/// Readings in a piece of a scan.
const PIECE: usize = 4096;

/// Prepared statements for questions, by shape.
pub(crate) type Statements = ByShape<QueryShape, Rc<Vec<Prepared>>>;

/// One prepared statement.
pub(crate) struct Prepared {
    statement: tokio_postgres::Statement,
    text: Rc<str>,
    slots: Vec<Slot>,
    form: Form,
}

/// What asks questions over a connection.
pub(crate) struct Reader<'a> {
    /// The connection.
    pub(crate) link: &'a Link,
    /// What looks whether writes show.
    pub(crate) lookout: &'a Lookout,
    /// Of each table, whether they all did when it last looked.
    pub(crate) quiet: &'a mut [bool],
    /// Whether no session writes, so that it need not look again.
    pub(crate) nobody_writes: bool,
    /// The prepared statements.
    pub(crate) statements: &'a mut Statements,
    /// What was sent, where statements are shown.
    pub(crate) kept: &'a mut Kept,
    /// The plan's tables.
    pub(crate) physical: &'a PhysicalSchema,
    /// The plan's database.
    pub(crate) database: &'a str,
}

impl Reader<'_> {
    /// Answers a question. Where all showed before, it looks and asks in one go; where something does not show yet, it waits and asks again. Where nobody writes,
    /// it looks until all shows, and not again.
    pub(crate) async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        let physical = self.physical;
        let asked = checked(physical, query)?;
        if let Some(nothing) = nothing_to_find(&asked) {
            return Ok(nothing);
        }
        let prepared = self.prepared(asked).await?;
        let name = table_name(self.database, &asked.description.name);
        let was_quiet = self.quiet[query.table];
        let looks = was_quiet && !self.nobody_writes;
        if looks || !was_quiet {
            self.note_look(&name);
        }
        if !was_quiet {
            let at_once = self.lookout.wait(self.link, &name, None, false).await?;
            self.quiet[query.table] = at_once || self.nobody_writes;
        }
        let (state, answer) = self.ask(asked, &prepared, looks.then_some(&name)).await?;
        if state.is_none_or(State::is_complete) {
            return Ok(answer);
        }
        self.quiet[query.table] = false;
        self.lookout.wait(self.link, &name, state, false).await?;
        let (_, answer) = self.ask(asked, &prepared, None).await?;
        Ok(answer)
    }

    fn note_look(&mut self, name: &str) {
        let value = || vec![Value::Text(name.to_owned())];
        self.kept.note(STATE, value);
    }

    /// Sends the statements, the first together with a look at the table's state.
    async fn ask(
        &mut self,
        asked: Bindings<'_>,
        prepared: &[Prepared],
        mut looked_at: Option<&String>,
    ) -> Result<(Option<State>, Answer), StoreError> {
        let mut decoder = Decoder::new(asked, prepared.len());
        let mut seen = None;
        let mut last = &Form::Series;
        for one in prepared {
            let values = values(&one.slots, asked);
            self.kept.note(&one.text, || values.clone());
            let asking = async {
                let rows = self.link.client.query_raw(&one.statement, &values).await?;
                read_rows(rows, |row| decoder.row(&one.form, &WireRow::<true>(row))).await
            };
            match looked_at.take() {
                None => self.link.run(OPERATION, asking).await??,
                Some(name) => {
                    let both = async {
                        let (state, asked) = join(self.lookout.look(self.link, name), asking).await;
                        let asked = asked?;
                        Ok((state?, asked))
                    };
                    let (state, asked) = self.link.run(OPERATION, both).await?;
                    seen = state;
                    asked?;
                }
            }
            last = &one.form;
        }
        Ok((seen, decoder.finish(last)))
    }

    async fn prepared(&mut self, asked: Bindings<'_>) -> Result<Rc<Vec<Prepared>>, StoreError> {
        let (physical, link, database) = (self.physical, self.link, self.database);
        let make = async || {
            let plan = Plan::new(physical, asked.query)?;
            let mut all = Vec::with_capacity(plan.statements.len());
            for statement in plan.statements {
                all.push(prepare(link, database, statement, asked).await?);
            }
            Ok(Rc::new(all))
        };
        if names_series(asked.query) {
            return make().await;
        }
        let shape = QueryShape::of(asked.query, physical);
        self.statements.prepared(shape, make).await
    }

    /// Every reading of a table, in pieces. The time allowed is for each piece.
    pub(crate) async fn scan(
        &mut self,
        number: usize,
        sink: &mut dyn FnMut(&Batch),
    ) -> Result<(), StoreError> {
        let physical = self.physical;
        let (statement, query) = Plan::everything(physical, number)?;
        let asked = Bindings::new(physical, &query)?;
        let name = table_name(self.database, &asked.description.name);
        self.note_look(&name);
        self.lookout.wait(self.link, &name, None, false).await?;
        let prepared = prepare(self.link, self.database, statement, asked).await?;
        self.kept.note(&prepared.text, Vec::new);
        let nothing: [Value; 0] = [];
        let asking = self.link.client.query_raw(&prepared.statement, &nothing);
        let mut rows = pin!(self.link.run(OPERATION, asking).await?);
        let mut decoder = Decoder::new(asked, 1).in_pieces(PIECE);
        loop {
            let reading = read_piece::<true>(rows.as_mut(), &mut decoder, &prepared.form);
            match self.link.run(OPERATION, reading).await?? {
                Some(piece) => sink(&piece),
                None => break,
            }
        }
        decoder.finish_pieces(sink);
        Ok(())
    }

    /// Every entity of a table.
    pub(crate) async fn scan_entities(
        &mut self,
        number: usize,
        sink: &mut dyn FnMut(u32, i64, &[sensormark_store::Value]),
    ) -> Result<(), StoreError> {
        let physical = self.physical;
        let text = in_database(&entities(physical, number)?, self.database);
        for name in written_tables(self.database, &physical.schema.tables[number]) {
            self.note_look(&name);
            self.lookout.wait(self.link, &name, None, false).await?;
        }
        self.kept.note(&text, Vec::new);
        let (mut key, mut values) = (String::new(), Vec::new());
        for row in &self.link.rows(OPERATION, &text).await? {
            let row = WireRow::<true>(row);
            let (series, last_ns) = entity(physical, number, &row, &mut key, &mut values)?;
            sink(series, last_ns, &values);
        }
        Ok(())
    }
}

async fn prepare(
    link: &Link,
    database: &str,
    statement: plan::Statement,
    asked: Bindings<'_>,
) -> Result<Prepared, StoreError> {
    let plan::Statement { text, mut slots, form, .. } = statement;
    let mut written = Vec::new();
    if names_series(asked.query) {
        for slot in &slots {
            match slot {
                Slot::Members => written.extend(values(&[Slot::Members], asked).into_iter().map(Some)),
                _ => written.push(None),
            }
        }
        slots.retain(|slot| *slot != Slot::Members);
    }
    let text = numbered(&in_database(&text, database), written);
    let kinds = kinds(&slots, asked);
    let preparing = link.client.prepare_typed(&text, &kinds);
    Ok(Prepared { statement: link.run("prepare a query", preparing).await?, text: text.into(), slots, form })
}

/// Whether the series stand in the text. QuestDB 9.3.4 gives a compiled LATEST ON from one connection to the next, with the symbols of the bound list that it ran with
/// first: the next one was answered about other series.
const fn names_series(query: &Query) -> bool {
    matches!((&query.ask, &query.series), (Ask::LastReading { .. }, Selection::Set(_)))
}

/// The text with numbers for its question marks, which stand for parameters alone, or with these values in their place.
fn numbered(text: &str, written: Vec<Option<Value>>) -> String {
    let mut pieces = text.split('?');
    let mut numbered = pieces.next().unwrap_or_default().to_owned();
    let (mut written, mut number) = (written.into_iter(), 0);
    for piece in pieces {
        match written.next().flatten() {
            Some(value) => numbered.push_str(&value.to_string()),
            None => {
                number += 1;
                numbered.push_str(&format!("${number}"));
            }
        }
        numbered.push_str(piece);
    }
    numbered
}
