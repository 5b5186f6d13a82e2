//! Whether a store supports what a phase's loads ask of it, and what it does in the client.

use super::script::LoadSpec;
use crate::operations::{Request, Slot};
use sensormark_store::{Atomicity, Capability, Layout, Operation, Schema, Store};
use std::collections::BTreeSet;

/// So many operations of a load are looked at to find one of each class.
const LOOKED_AT: u64 = 1_000;

/// How a store does a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Support {
    /// By the database itself.
    Native,
    /// Something of it in the client, and why.
    ClientSide(String),
    /// Not at all, and why.
    Not(String),
}

/// How this store does this load with this layout: the worst of its classes of operations, each judged by its first operation.
pub fn support(store: &dyn Store, layout: &Layout, schema: &Schema, load: &LoadSpec) -> Support {
    let operations = load.operations.as_ref();
    let (mut seen, mut slot) = (BTreeSet::new(), Slot::new(schema));
    let mut support = Support::Native;
    for index in 0..operations.len().min(LOOKED_AT) {
        if seen.len() == operations.classes().len() {
            break;
        }
        if !seen.insert(operations.class(index)) {
            continue;
        }
        operations.outline(index, &mut slot);
        let (table, needed) = needed(&slot, schema);
        for operation in needed {
            match store.capability(operation, layout, &schema.tables[table]) {
                Capability::Native => {}
                Capability::ClientSide(reason) => support = Support::ClientSide(reason),
                Capability::Unsupported(reason) => return Support::Not(reason),
            }
        }
    }
    support
}

fn needed(slot: &Slot, schema: &Schema) -> (usize, Vec<Operation>) {
    match slot.request() {
        Request::Write(table) => (table, vec![Operation::Write]),
        Request::Upsert(table, Atomicity::Separate) => (table, vec![Operation::UpsertSeparately]),
        Request::Upsert(table, Atomicity::Atomic) => (table, vec![Operation::UpsertAtomically]),
        Request::Inquiry(table, needed) => (table, needed.to_vec()),
        Request::Query => {
            let query = slot.query();
            let table = &schema.tables[query.table];
            (query.table, Operation::needed(query, table))
        }
    }
}
