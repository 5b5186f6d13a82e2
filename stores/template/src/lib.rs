//! A store to copy: the whole contract over a map in memory.
//!
//! In the order in which a plan meets them: what the store is (here), making and dropping a database ([`admin`]), one client's session
//! ([`session`]), asking ([`query`]). It measures nothing and knows no workload.

pub mod admin;

pub mod session;

pub mod query;

use crate::admin::{Databases, TemplateAdministrator};
use crate::session::TemplateSession;
use sensormark_kit::{Adapter, Backend};
use sensormark_store::{
    Capability, DefaultSelection, Description, Durability, Endpoint, ErrorKind, Family,
    Installation, Layout, LayoutOption, Limits, Operation, Plan, RepeatedWrite, Schema, Secret,
    SessionKind, StoreError, Table, WriteSize,
};
use std::path::PathBuf;
use std::sync::Arc;

/// Readings in one statement.
const STATEMENT: usize = 10_000;

/// The store.
pub type Template = Adapter<TemplateBackend>;

/// What [`Template`] is made of: databases that live as long as it does.
#[derive(Debug, Default)]
pub struct TemplateBackend(Databases);

impl Backend for TemplateBackend {
    /// What a schema becomes in a layout; a store with tables has their names and columns here.
    type PhysicalSchema = ();
    type Session = TemplateSession;
    type Administrator = TemplateAdministrator;

    fn description(&self) -> Description {
        Description {
            name: "template".to_owned(),
            title: "Template".to_owned(),
            embedded: true,
            session: SessionKind::Blocking,
            durability: vec![(Durability::Default, "kept in memory".to_owned())],
            url_example: "template:anything".to_owned(),
            repeated_write: RepeatedWrite::KeepsBoth,
        }
    }

    fn layouts(&self, _: &Schema, family: Family) -> Vec<LayoutOption> {
        let offer = LayoutOption {
            variant: String::new(),
            layout: Layout::row_per_reading(),
            default_selection: DefaultSelection::Usual,
            description: "readings in memory, in the order in which they came".to_owned(),
        };
        Vec::from_iter((family == Family::PerReading).then_some(offer))
    }

    fn capability(&self, operation: Operation, _: &Layout, table: &Table) -> Capability {
        let unsupported = |reason: &str| Capability::Unsupported(reason.to_owned());
        match operation {
            Operation::UpsertSeparately | Operation::UpsertAtomically if table.entity.is_none() => {
                unsupported("the table has no entities")
            }
            Operation::FromSums | Operation::ExtremesOfPartsFromSums => {
                unsupported("no sums are kept at write time")
            }
            _ => Capability::Native,
        }
    }

    fn limits(&self, _: &Layout, _: &Table) -> Limits {
        Limits {
            readings_per_statement: STATEMENT,
        }
    }

    fn write_size(&self, _: &Layout, _: &Table) -> WriteSize {
        WriteSize {
            readings: 1_000,
            bytes: 1 << 20,
            reading_bytes: 64,
            advice: "No database is behind it; 1,000 readings.",
            link: "https://doc.rust-lang.org/std/collections/",
        }
    }

    fn installation(&self) -> Result<Installation, StoreError> {
        Ok(Installation {
            path: PathBuf::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            origin: "bundled".to_owned(),
        })
    }

    fn endpoint(&self, url: &str) -> Result<Endpoint, StoreError> {
        if url.is_empty() {
            return Err(StoreError::new(
                ErrorKind::Configuration,
                "read the URL of a template",
                "it is empty; a URL looks like template:anything",
            ));
        }
        Ok(Endpoint {
            url: Secret::new(url),
            label: "template".to_owned(),
            managed: true,
            ports: Vec::new(),
        })
    }

    fn model(&self, _: &Plan) -> Result<(), StoreError> {
        Ok(())
    }

    async fn version(&self, _: &Endpoint) -> Result<String, StoreError> {
        Ok(env!("CARGO_PKG_VERSION").to_owned())
    }

    async fn administrator(
        &self,
        plan: &Plan,
        _: Arc<()>,
    ) -> Result<TemplateAdministrator, StoreError> {
        Ok(TemplateAdministrator {
            databases: self.0.clone(),
            plan: plan.clone(),
        })
    }

    async fn connect(&self, plan: &Plan, _: Arc<()>) -> Result<TemplateSession, StoreError> {
        TemplateSession::open(self.0.clone(), plan)
    }
}
