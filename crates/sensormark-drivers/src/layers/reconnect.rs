//! A connection that broke is opened anew before the next operation, set up as it was, with the same prepared texts. The operation during which it broke fails:
//! whether it is tried again is for the caller to say.

use super::{Layer, Operation};
use crate::{Connection, Driver, Fault, Place};
use sensormark_store::{ErrorKind, LocalFuture};
use std::sync::Arc;

/// How to open the connection anew, and what it was told.
pub struct Reconnect {
    driver: Arc<dyn Driver>,
    place: Place,
    /// Texts that were run before the first was prepared: they set the session up.
    set_up: Vec<String>,
    prepared: Vec<(String, Vec<String>)>,
    broken: bool,
}

impl Reconnect {
    /// Opens by this driver at this place.
    pub const fn new(driver: Arc<dyn Driver>, place: Place) -> Self {
        Self { driver, place, set_up: Vec::new(), prepared: Vec::new(), broken: false }
    }

    async fn open(&mut self, connection: &mut Box<dyn Connection>) -> Result<(), Fault> {
        let mut opened = self.driver.open(&self.place).await?;
        opened.within(Some(self.place.timeout));
        for text in &self.set_up {
            opened.run(text).await?;
        }
        for (text, types) in &self.prepared {
            opened.prepare(text, types).await?;
        }
        *connection = opened;
        self.broken = false;
        Ok(())
    }
}

impl Layer for Reconnect {
    fn before<'a>(
        &'a mut self,
        connection: &'a mut Box<dyn Connection>,
    ) -> Option<LocalFuture<'a, Result<(), Fault>>> {
        if !self.broken {
            return None;
        }
        Some(Box::pin(self.open(connection)))
    }

    async fn failed(&mut self, _: &mut Box<dyn Connection>, _: Operation, fault: Fault) -> Fault {
        if let Fault::Known(error) = &fault {
            self.broken |=
                matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Timeout | ErrorKind::Crashed);
        }
        fault
    }

    fn within(&mut self, time: Option<std::time::Duration>) {
        if let Some(time) = time {
            self.place.timeout = time;
        }
    }

    fn has_run(&mut self, text: &str) {
        if self.prepared.is_empty() {
            self.set_up.push(text.to_owned());
        }
    }

    fn has_prepared(&mut self, text: &str, types: &[String]) {
        self.prepared.push((text.to_owned(), types.to_vec()));
    }

    fn has_forgotten(&mut self) {
        self.prepared.clear();
    }
}
