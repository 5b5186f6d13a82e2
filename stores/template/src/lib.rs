//! A store to copy: the whole contract over a map in memory.
//!
//! In the order in which a plan meets them: what the store is (here), making and dropping a database ([`admin`]), one client's session
//! ([`session`]), asking (`query`). It measures nothing and knows no workload.

pub mod admin;

pub mod session;

mod query;

use crate::admin::{Databases, TemplateAdministrator};
use crate::session::TemplateSession;
use sensormark_kit::{Adapter, Backend, Declaration, offer};
use sensormark_store::{
    Capability, DefaultSelection, Durability, Endpoint, ErrorKind, Family, Installation, Layout,
    LayoutOption, Limits, Operation, Plan, RepeatedWrite, Schema, Secret, SessionKind, StoreError, Table,
    TimeResolution, WriteSize,
};
use std::sync::Arc;

/// The store.
pub type Template = Adapter<TemplateBackend>;

/// What [`Template`] is made of: databases that live as long as it does.
#[derive(Debug, Default)]
pub struct TemplateBackend(Databases);

fn layouts(_: &Schema, family: Family) -> Vec<LayoutOption> {
    let (layout, usual) = (Layout::row_per_reading(), DefaultSelection::Usual);
    let offer = offer("", layout, usual, "readings in memory, as they came");
    Vec::from_iter((family == Family::PerReading).then_some(offer))
}

fn capability(operation: Operation, _: &Layout, _: &Table) -> Capability {
    match operation {
        Operation::FromSums | Operation::ExtremesOfPartsFromSums => {
            Capability::Unsupported("no sums are kept at write time".to_owned())
        }
        Operation::Write
        | Operation::UpsertSeparately
        | Operation::UpsertAtomically
        | Operation::Point
        | Operation::Range => Capability::Native,
        _ => Capability::ClientSide("the answer is made of the readings".to_owned()),
    }
}

fn endpoint(url: &str) -> Result<Endpoint, StoreError> {
    if url.is_empty() {
        let (kind, hint) = (ErrorKind::Configuration, "write template:anything");
        return Err(StoreError::new(kind, "read a URL", hint));
    }
    Ok(Endpoint { url: Secret::new(url), label: "template".to_owned(), managed: true, ports: Vec::new() })
}

impl Backend for TemplateBackend {
    /// What a schema becomes in a layout; a store with tables has their names and columns here.
    type PhysicalSchema = ();
    type Session = TemplateSession;
    type Administrator = TemplateAdministrator;

    const DECLARATION: Declaration<()> = Declaration {
        name: "template",
        title: "Template",
        embedded: true,
        session: SessionKind::Blocking,
        durability: &[(Durability::Default, "kept in memory")],
        url_example: "template:anything",
        repeated_write: RepeatedWrite::KeepsBoth,
        logs: &[],
        log_bound: None,
        native_resolution: TimeResolution::Nanoseconds,
        layouts,
        capability,
        limits: |_, _| Limits { readings_per_statement: usize::MAX },
        write_size: |_, _| WriteSize {
            readings: 1_000,
            bytes: 1 << 20,
            reading_bytes: 64,
            advice: "No database is behind it; 1,000 readings.",
            link: "https://doc.rust-lang.org/std/collections/",
        },
        installation: || Ok(Installation::bundled(env!("CARGO_PKG_VERSION"))),
        launch: None,
        endpoint,
        physical_schema: |_| Ok(()),
    };

    async fn version(&self, _: &Endpoint) -> Result<String, StoreError> {
        Ok(env!("CARGO_PKG_VERSION").to_owned())
    }

    async fn administrator(&self, plan: &Plan, _: Arc<()>) -> Result<TemplateAdministrator, StoreError> {
        Ok(TemplateAdministrator { databases: self.0.clone(), plan: plan.clone() })
    }

    async fn connect(&self, plan: &Plan, _: Arc<()>) -> Result<TemplateSession, StoreError> {
        self.0.with(plan, |_| ())?;
        Ok(TemplateSession { databases: self.0.clone(), plan: plan.clone() })
    }
}
