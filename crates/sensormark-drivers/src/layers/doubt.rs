//! Whether what failed may nevertheless be stored. What only asked or prepared stores nothing, and a transaction that was not yet to be committed neither.

use super::{Layer, Operation};
use crate::{Connection, Fault};

/// Whether a transaction is open.
#[derive(Debug, Default)]
pub struct Doubt {
    in_transaction: bool,
}

impl Layer for Doubt {
    async fn failed(&mut self, _: &mut Box<dyn Connection>, operation: Operation, fault: Fault) -> Fault {
        match fault {
            Fault::Known(error) if operation == Operation::Read || self.in_transaction => {
                Fault::Known(error.with_doubt(false))
            }
            fault => fault,
        }
    }

    fn has_run(&mut self, text: &str) {
        self.in_transaction = text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("BEGIN"));
    }
}
