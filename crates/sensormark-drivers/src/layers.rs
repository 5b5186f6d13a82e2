//! What cuts across drivers, written once around any connection. A layer acts before, during and after each operation, and [`Layered`] is the connection with
//! it.

pub mod faults;

pub mod guard;

pub mod null;

pub mod reconnect;

use crate::{Block, Cell, Connection, Driver, EachRow, Fault, Place, Prepared};
use sensormark_store::{LocalFuture, SessionKind};
use std::time::Duration;

/// Opens a connection with the layer that each has: of a driver that waits, operations are bounded in time; it is known what is in doubt.
///
/// # Errors
/// The driver's, and that it takes too long.
pub async fn opened(driver: &dyn Driver, place: &Place) -> Result<Layered<guard::Guard>, Fault> {
    match driver.session() {
        // A library in this process bounds its own time, and what it refuses was rolled back.
        SessionKind::Blocking => {
            Ok(Layered { connection: driver.open(place).await?, layer: guard::Guard::without_time() })
        }
        SessionKind::Async => guard::opened(driver, place).await,
    }
}

/// What an operation of a connection may leave behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Nothing: it asks, or prepares.
    Read,
    /// What it writes.
    Write,
}

/// What a layer does around each operation.
#[expect(async_fn_in_trait, reason = "futures stay on their thread")]
pub trait Layer: 'static {
    /// What has to be done first, if anything; where it fails, the operation is not tried.
    fn before<'a>(
        &'a mut self,
        connection: &'a mut Box<dyn Connection>,
    ) -> Option<LocalFuture<'a, Result<(), Fault>>> {
        let _ = connection;
        None
    }

    /// Waits for the operation.
    ///
    /// # Errors
    /// The operation's own, or that the wait is over.
    async fn during<T>(&mut self, operation: LocalFuture<'_, Result<T, Fault>>) -> Result<T, Fault> {
        operation.await
    }

    /// What becomes of its failure.
    async fn failed(
        &mut self,
        connection: &mut Box<dyn Connection>,
        operation: Operation,
        fault: Fault,
    ) -> Fault {
        let _ = (connection, operation);
        fault
    }

    /// How long each operation may take from now on.
    fn within(&mut self, time: Option<Duration>) {
        let _ = time;
    }

    /// A text was run.
    fn has_run(&mut self, text: &str) {
        let _ = text;
    }

    /// A text was prepared.
    fn has_prepared(&mut self, text: &str, types: &[String]) {
        let _ = (text, types);
    }

    /// All that was prepared was given up.
    fn has_forgotten(&mut self) {}
}

/// A connection with a layer around it.
pub struct Layered<L> {
    connection: Box<dyn Connection>,
    layer: L,
}

/// Carries an operation out, with the layer around it.
macro_rules! carry_out {
    ($this:ident, $operation:ident, $method:ident($($argument:expr),*)) => {{
        if let Some(first) = $this.layer.before(&mut $this.connection) {
            first.await?;
        }
        match $this.layer.during($this.connection.$method($($argument),*)).await {
            Ok(done) => Ok(done),
            Err(fault) => {
                // Boxed, so that what seldom happens takes no room in each operation's future.
                let failed = $this.layer.failed(&mut $this.connection, Operation::$operation, fault);
                Err(Box::pin(failed).await)
            }
        }
    }};
}

/// Operations as they are called where the layer is known: they are not boxed once more.
impl<L: Layer> Layered<L> {
    /// Puts a layer around a connection.
    pub const fn around(connection: Box<dyn Connection>, layer: L) -> Self {
        Self { connection, layer }
    }

    /// As [`Connection::query`].
    ///
    /// # Errors
    /// The connection's, and the layer's own.
    pub async fn ask(
        &mut self,
        statement: Prepared,
        values: &[Cell<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<(), Fault> {
        carry_out!(self, Read, query(statement, values, each))
    }

    /// As [`Connection::write`].
    ///
    /// # Errors
    /// The connection's, and the layer's own.
    pub async fn send(&mut self, block: Block<'_>) -> Result<u64, Fault> {
        carry_out!(self, Write, write(block))
    }

    /// As [`Connection::close`].
    ///
    /// # Errors
    /// The connection's, and the layer's own.
    pub async fn end(self) -> Result<(), Fault> {
        let Self { connection, mut layer } = self;
        layer.during(connection.close()).await
    }
}

impl<L: Layer> Connection for Layered<L> {
    fn run<'a>(&'a mut self, text: &'a str) -> LocalFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            carry_out!(self, Write, run(text))?;
            self.layer.has_run(text);
            Ok(())
        })
    }

    fn prepare<'a>(
        &'a mut self,
        text: &'a str,
        types: &'a [String],
    ) -> LocalFuture<'a, Result<Prepared, Fault>> {
        Box::pin(async move {
            let prepared = carry_out!(self, Read, prepare(text, types))?;
            self.layer.has_prepared(text, types);
            Ok(prepared)
        })
    }

    fn text(&self, statement: Prepared) -> &str {
        self.connection.text(statement)
    }

    fn forget(&mut self) -> LocalFuture<'_, Result<(), Fault>> {
        self.layer.has_forgotten();
        self.connection.forget()
    }

    fn query<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
        each: &'a mut EachRow<'_>,
    ) -> LocalFuture<'a, Result<(), Fault>> {
        Box::pin(self.ask(statement, values, each))
    }

    fn execute<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
    ) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(async move { carry_out!(self, Write, execute(statement, values)) })
    }

    fn write<'a>(&'a mut self, block: Block<'a>) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(self.send(block))
    }

    fn within(&mut self, time: Option<Duration>) {
        self.layer.within(time);
        self.connection.within(time);
    }

    fn enter(&mut self) -> Result<(), Fault> {
        self.connection.enter()
    }

    fn leave(&mut self) {
        self.connection.leave();
    }

    fn wants(&mut self, setting: &str) -> bool {
        self.connection.wants(setting)
    }

    fn cancel(&mut self) -> LocalFuture<'_, Result<(), Fault>> {
        self.connection.cancel()
    }

    fn plan<'a>(
        &'a mut self,
        explain: &'a str,
        values: &'a [String],
    ) -> LocalFuture<'a, Result<Option<String>, Fault>> {
        Box::pin(async move { carry_out!(self, Read, plan(explain, values)) })
    }

    fn own_settings(&self) -> Vec<(String, String)> {
        self.connection.own_settings()
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), Fault>> {
        Box::pin(self.end())
    }
}

#[cfg(test)]
mod tests;
