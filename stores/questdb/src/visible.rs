//! Waiting until what was acknowledged shows.
//!
//! QuestDB acknowledges a write when it is in the write-ahead log, and applies it to the table afterwards. An answer lacks what is not applied.
//! So a session compares the table's two numbers of transactions, as the documentation advises:
//! <https://questdb.com/docs/cookbook/operations/check-transaction-applied>. What was acknowledged before it looked is in the answer that follows. The
//! wait is a part of the question's time.

use crate::asking::Link;
use sensormark_store::{ErrorKind, StoreError};
use std::time::{Duration, Instant};
use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row, Statement};

const OPERATION: &str = "wait until writes show in QuestDB";

/// The question: what is in the table, what is in its log, and whether it was suspended.
pub(crate) const STATE: &str = "SELECT writerTxn, sequencerTxn, suspended FROM wal_tables() WHERE name = $1";

/// The first pause between two looks; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_micros(500);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// How far a table's log is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State {
    /// The latest transaction that shows.
    pub(crate) shown: i64,
    /// The latest transaction that is committed.
    pub(crate) committed: i64,
    is_suspended: bool,
}

impl State {
    /// Whether all that was committed shows.
    pub(crate) const fn is_complete(self) -> bool {
        self.shown >= self.committed
    }
}

/// What looks at tables' states.
pub(crate) struct Lookout(Statement);

impl Lookout {
    /// Prepares its statement.
    pub(crate) async fn new(link: &Link) -> Result<Self, StoreError> {
        let preparing = link.client.prepare_typed(STATE, &[Type::VARCHAR]);
        Ok(Self(link.run(OPERATION, preparing).await?))
    }

    /// Looks once; nothing where there is no such table.
    pub(crate) async fn look(&self, link: &Link, table: &str) -> Result<Option<State>, Error> {
        let row = link.client.query_opt(&self.0, &[&table]).await?;
        row.as_ref().map(state).transpose()
    }

    /// Waits until all shows that is committed now, or was when this state was seen, and says whether it did at the first look. A table that is
    /// not there has nothing to wait for. After the last write ten times the time allowed is `for_each_step` forward: many transactions are applied as one, and a load that is applied slowly did not fail.
    pub(crate) async fn wait(
        &self,
        link: &Link,
        table: &str,
        seen: Option<State>,
        for_each_step: bool,
    ) -> Result<bool, StoreError> {
        let mut patience = Patience { since: Instant::now(), shown: 0, for_each_step };
        let mut pause = FIRST_PAUSE;
        let mut target = seen.map(|state| state.committed);
        loop {
            let Some(state) = link.run(OPERATION, self.look(link, table)).await? else {
                return Ok(true);
            };
            if state.shown >= *target.get_or_insert(state.committed) {
                return Ok(pause == FIRST_PAUSE);
            }
            if state.is_suspended {
                return Err(StoreError::new(
                    ErrorKind::Crashed,
                    OPERATION,
                    format!("QuestDB stopped applying writes to {table:?}; look into its log (a full disk is the usual cause), then ALTER TABLE … RESUME WAL"),
                )
                .with_doubt(false));
            }
            if patience.is_over(state.shown, link.allowed()) {
                return Err(StoreError::new(
                    ErrorKind::Timeout,
                    OPERATION,
                    format!(
                        "{} transactions of {table:?} are not applied yet; allow more time or write less",
                        state.committed - state.shown
                    ),
                )
                .with_doubt(false));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// How long somebody waits.
struct Patience {
    since: Instant,
    shown: i64,
    for_each_step: bool,
}

impl Patience {
    fn is_over(&mut self, shown: i64, allowed: Duration) -> bool {
        if self.for_each_step && shown > self.shown {
            (self.since, self.shown) = (Instant::now(), shown);
        }
        self.since.elapsed() > if self.for_each_step { 10 * allowed } else { allowed }
    }
}

fn state(row: &Row) -> Result<State, Error> {
    Ok(State { shown: row.try_get(0)?, committed: row.try_get(1)?, is_suspended: row.try_get(2)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_applied_slowly_is_waited_for_and_what_stands_still_is_not() {
        let allowed = Duration::from_millis(500);
        let long_ago = Instant::now().checked_sub(20 * allowed).expect("the machine runs for longer");
        let after = |for_each_step, shown| {
            Patience { since: long_ago, shown: 5, for_each_step }.is_over(shown, allowed)
        };
        assert_eq!([after(true, 6), after(true, 5), after(false, 6)], [false, true, true]);
    }
}
