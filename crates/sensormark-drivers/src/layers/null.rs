//! A connection without a database: writes are taken and questions have no answer. What a client costs besides its database is measured with it.

use crate::{Block, Cell, Connection, EachRow, Fault, Prepared};
use sensormark_store::LocalFuture;
use std::time::Duration;

/// Takes everything and answers nothing.
#[derive(Debug, Default)]
pub struct Null {
    texts: Vec<String>,
}

fn ready<'a, T: 'a>(done: T) -> LocalFuture<'a, Result<T, Fault>> {
    Box::pin(std::future::ready(Ok(done)))
}

impl Connection for Null {
    fn run<'a>(&'a mut self, _: &'a str) -> LocalFuture<'a, Result<(), Fault>> {
        ready(())
    }

    fn prepare<'a>(&'a mut self, text: &'a str, _: &'a [String]) -> LocalFuture<'a, Result<Prepared, Fault>> {
        self.texts.push(text.to_owned());
        ready(Prepared(self.texts.len() - 1))
    }

    fn text(&self, statement: Prepared) -> &str {
        &self.texts[statement.0]
    }

    fn forget(&mut self) -> LocalFuture<'_, Result<(), Fault>> {
        self.texts.clear();
        ready(())
    }

    fn query<'a>(
        &'a mut self,
        _: Prepared,
        _: &'a [Cell<'a>],
        _: &'a mut EachRow<'_>,
    ) -> LocalFuture<'a, Result<(), Fault>> {
        ready(())
    }

    fn execute<'a>(&'a mut self, _: Prepared, _: &'a [Cell<'a>]) -> LocalFuture<'a, Result<u64, Fault>> {
        ready(1)
    }

    /// Each value is looked at, as an encoder would.
    fn write<'a>(&'a mut self, block: Block<'a>) -> LocalFuture<'a, Result<u64, Fault>> {
        for row in 0..block.rows.len() {
            for slot in 0..block.rows.sources.len() {
                std::hint::black_box(block.rows.cell(row, slot));
            }
        }
        ready(1)
    }

    fn within(&mut self, _: Option<Duration>) {}

    fn plan<'a>(&'a mut self, _: &'a str, _: &'a [String]) -> LocalFuture<'a, Result<Option<String>, Fault>> {
        ready(None)
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), Fault>> {
        ready(())
    }
}
