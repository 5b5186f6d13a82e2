//! Waiting until what was acknowledged shows, as the documentation advises: <https://questdb.com/docs/cookbook/operations/check-transaction-applied>.

use super::Session;
use crate::Fault;
use sensormark_store::{ErrorKind, StoreError};
use std::pin::pin;
use std::time::{Duration, Instant};
use tokio_postgres::{Client, Error, Statement};

const OPERATION: &str = "wait until writes show in QuestDB";

/// The first pause between two looks; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_micros(500);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);
/// How often sizes are looked at.
pub(super) const PAUSE: Duration = Duration::from_millis(100);
/// How long sizes are waited for. A server that leaves idle writers open for longer keeps what they allocated.
const REST: Duration = Duration::from_secs(60);
/// How long the size of a database at rest stands still, and how long it takes until logs that were applied are removed.
const STILL: Duration = Duration::from_secs(1);

/// A question for how far a table's log is applied, and what is known of the table.
pub(super) struct Look {
    text: String,
    /// The table that it is about.
    pub(super) table: String,
    prepared: Option<Statement>,
    /// Whether all showed when this session last looked, and it wrote nothing since.
    pub(super) is_quiet: bool,
    /// Whether this operation has looked.
    pub(super) is_done: bool,
}

/// How far a table's log is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    /// The latest transaction that shows.
    shown: i64,
    /// The latest transaction that is committed.
    committed: i64,
    is_suspended: bool,
}

impl State {
    /// Whether all that was committed shows.
    pub(super) const fn is_complete(self) -> bool {
        self.shown >= self.committed
    }
}

/// Looks once; nothing where there is no such table.
pub(super) async fn look(client: &Client, look: &Statement) -> Result<Option<State>, Error> {
    let row = client.query_opt(look, &[]).await?;
    let state = |row: &tokio_postgres::Row| {
        Ok(State { shown: row.try_get(0)?, committed: row.try_get(1)?, is_suspended: row.try_get(2)? })
    };
    row.as_ref().map(state).transpose()
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

fn failure(kind: ErrorKind, text: String) -> Fault {
    StoreError::new(kind, OPERATION, text).with_doubt(false).into()
}

impl Session {
    /// Where this look is among those of the session.
    pub(super) fn place(&mut self, text: &str) -> usize {
        let known = self.looks.iter().position(|look| look.text == text);
        known.unwrap_or_else(|| {
            let table = text.split('\'').nth(1).unwrap_or_default().to_owned();
            let text = text.to_owned();
            self.looks.push(Look { text, table, prepared: None, is_quiet: false, is_done: false });
            self.looks.len() - 1
        })
    }

    /// The look's statement.
    pub(super) async fn prepared_look(&mut self, place: usize) -> Result<Statement, Fault> {
        let (link, look) = (&mut self.asking.links[0], &mut self.looks[place]);
        if let Some(known) = &look.prepared {
            return Ok(known.clone());
        }
        let preparing = pin!(link.client.prepare(&look.text));
        let prepared = link.pump.run("prepare a statement in", preparing).await?;
        Ok(look.prepared.insert(prepared).clone())
    }

    /// Waits until all shows that is committed now, or was when this state was seen, and says whether it did at the first look. A table that is
    /// not there has nothing to wait for. After the last write ten times the time allowed is `for_each_step` forward: many transactions are applied as one, and a load that is applied slowly did not fail.
    pub(super) async fn wait(
        &mut self,
        place: usize,
        seen: Option<State>,
        for_each_step: bool,
    ) -> Result<bool, Fault> {
        let statement = self.prepared_look(place).await?;
        let mut patience = Patience { since: Instant::now(), shown: 0, for_each_step };
        let mut pause = FIRST_PAUSE;
        let mut target = seen.map(|state| state.committed);
        loop {
            let link = &mut self.asking.links[0];
            let looking = pin!(look(&link.client, &statement));
            let Some(state) = link.pump.run("look whether writes show in", looking).await? else {
                return Ok(true);
            };
            if state.shown >= *target.get_or_insert(state.committed) {
                return Ok(pause == FIRST_PAUSE);
            }
            let table = &self.looks[place].table;
            if state.is_suspended {
                let text = format!(
                    "QuestDB stopped applying writes to {table:?}; look into its log (a full disk is the usual cause), then ALTER TABLE … RESUME WAL"
                );
                return Err(failure(ErrorKind::Crashed, text));
            }
            if patience.is_over(state.shown, self.allowed) {
                let missing = state.committed - state.shown;
                let text = format!(
                    "{missing} transactions of {table:?} are not applied yet; allow more time or write less"
                );
                return Err(failure(ErrorKind::Timeout, text));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Waits as many ms as the first row of this question says, in which idle writers close and give back the 16 MiB a column that they had allocated ahead. Then
    /// the second row, a size, has to stand still, because logs that were applied are removed after that.
    pub(super) async fn wait_at_rest(&mut self, text: &str) -> Result<(), Fault> {
        let link = &mut self.asking.links[0];
        let start = Instant::now();
        let (mut last, mut since) = (None, start);
        while start.elapsed() < REST {
            let asking = pin!(async {
                let rows = link.client.query(text, &[]).await?;
                rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<Option<i64>>, _>>()
            });
            let found = link.pump.run("measure a database of", asking).await?;
            // While others make and drop tables, a value may for once be none.
            if let &[Some(idle_ms), Some(bytes)] = found.as_slice() {
                let idle = Duration::from_millis(idle_ms.unsigned_abs());
                if last.replace(bytes) != Some(bytes) {
                    since = Instant::now();
                }
                if idle >= REST || start.elapsed() >= idle + STILL && since.elapsed() >= STILL {
                    break;
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }
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
