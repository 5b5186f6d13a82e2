//! A Java server whose heap is too small for it: the message names the heap, its size and what to do. (Else it would advise less memory.)

use crate::support::Place;
use sensormark_server::Supervisor;
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Administrator, Capability, Description, Endpoint, ErrorKind, Family, Installation, Launch, Layout,
    LayoutOption, Limits, LocalFuture, Operation, Plan, Schema, ServerOptions, Session, Store, StoreError,
    Table, WriteSize,
};

/// A store whose servers get a heap of so many MB, less than it would give them itself.
struct SmallHeap<'s> {
    store: &'s dyn Store,
    megabytes: u64,
}

impl Store for SmallHeap<'_> {
    fn launch(
        &self,
        installation: &Installation,
        folder: &ServerFolder,
        options: &ServerOptions,
    ) -> Result<Launch, StoreError> {
        let mut launch = self.store.launch(installation, folder, options)?;
        let arguments = &mut launch.server.arguments;
        arguments.retain(|argument| !argument.starts_with("-Xms"));
        let mut sizes = arguments.iter_mut();
        let size = sizes.find(|argument| argument.starts_with("-Xmx"));
        *size.expect("a largest heap") = format!("-Xmx{}m", self.megabytes);
        Ok(launch)
    }

    fn description(&self) -> Description {
        self.store.description()
    }

    fn layouts(&self, schema: &Schema, family: Family) -> Vec<LayoutOption> {
        self.store.layouts(schema, family)
    }

    fn capability(&self, operation: Operation, layout: &Layout, table: &Table) -> Capability {
        self.store.capability(operation, layout, table)
    }

    fn limits(&self, layout: &Layout, table: &Table) -> Limits {
        self.store.limits(layout, table)
    }

    fn write_size(&self, layout: &Layout, table: &Table) -> WriteSize {
        self.store.write_size(layout, table)
    }

    fn installation(&self) -> Result<Installation, StoreError> {
        self.store.installation()
    }

    fn endpoint(&self, url: &str) -> Result<Endpoint, StoreError> {
        self.store.endpoint(url)
    }

    fn version<'a>(&'a self, endpoint: &'a Endpoint) -> LocalFuture<'a, Result<String, StoreError>> {
        self.store.version(endpoint)
    }

    fn administrator<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Administrator>, StoreError>> {
        self.store.administrator(plan)
    }

    fn connect<'a>(&'a self, plan: &'a Plan) -> LocalFuture<'a, Result<Box<dyn Session>, StoreError>> {
        self.store.connect(plan)
    }
}

/// Starts a server that cannot come up with so small a heap.
fn is_named(store: &dyn Store, megabytes: u64) {
    let place = Place::new();
    let supervisor = Supervisor::new(Some(place.path().join("state"))).expect("a state folder");
    let small = SmallHeap { store, megabytes };
    let started = supervisor.start(&small, &ServerOptions::default(), None);
    let error = started.err().expect("its heap is too small");
    let text = error.to_string();
    assert_eq!(error.kind(), ErrorKind::Crashed, "{text}");
    let told = format!("the server ran out of its heap of {megabytes} MB (");
    assert!(text.contains(&told), "{text}");
    assert!(text.contains("more with --server-memory"), "{text}");
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
}

pub fn questdb() {
    #[cfg(feature = "questdb")]
    is_named(&sensormark_stores::questdb(), 16);
}

pub fn cassandra() {
    #[cfg(feature = "cassandra")]
    is_named(&sensormark_stores::cassandra(), 32);
}
