//! A thread that clients work on: its runtime, its tallies, and the stages that all threads of a phase go through together.
//!
//! A driver that blocks has one client a thread, and its runtime drives nothing else; other drivers' clients share the thread's runtime.

use super::client::{Client, LoadState};
use super::client_threads::{Message, Seat, Shared, Stage, ThreadDone, tally_options};
use super::connection::{Connection, patience};
use super::operations::Slot;
use super::pacing::{sleep_until_ns, thread_cpu_ns};
use super::sharing::ClientDone;
use super::tally::Tally;
use super::watchdog::{Watch, walk};
use sensormark_store::SessionKind;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::task::LocalSet;

/// A thread that is to be started.
pub(super) struct Thread {
    /// Its number.
    pub number: usize,
    /// Its clients.
    pub seats: Vec<Seat>,
    /// How their driver waits.
    pub kind: SessionKind,
    /// What all threads share.
    pub shared: Arc<Shared>,
    /// Where it reports.
    pub sender: Sender<Message>,
    /// How far the phase is.
    pub stage: watch::Receiver<Stage>,
}

/// What the clients of one thread share.
struct Own {
    number: usize,
    alone: bool,
    shared: Arc<Shared>,
    sender: Sender<Message>,
    cpu_start_ns: OnceCell<u64>,
    parts: BTreeMap<usize, Part>,
}

/// The thread's clients of one load.
struct Part {
    tally: OnceCell<RefCell<Tally>>,
    ended: RefCell<Ended>,
    clients: usize,
}

/// Those of them that have ended.
#[derive(Default)]
struct Ended {
    all: bool,
    clients: Vec<ClientDone>,
    reconnects: u64,
    datagram_bytes: u64,
}

impl Thread {
    /// Connects, works and says goodbye.
    pub fn run(self) {
        let blocking = self.kind == SessionKind::Blocking;
        let mut builder = Builder::new_current_thread();
        if !blocking {
            builder.enable_all();
        }
        let runtime = builder
            .build()
            .expect("a runtime needs an epoll descriptor: raise the limit of open files");
        let local = LocalSet::new();
        local.block_on(&runtime, self.clients(blocking));
    }

    async fn clients(self, alone: bool) {
        let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
        for (load, _) in &self.seats {
            let part = parts.entry(*load).or_insert_with(|| Part {
                tally: OnceCell::new(),
                ended: RefCell::default(),
                clients: 0,
            });
            part.clients += 1;
        }
        let own = Rc::new(Own {
            number: self.number,
            alone,
            shared: self.shared,
            sender: self.sender,
            cpu_start_ns: OnceCell::new(),
            parts,
        });
        let watches: Vec<Rc<Watch>> = self.seats.iter().map(|_| Rc::default()).collect();
        if !alone {
            let limit = patience(&own.shared.target.plan);
            tokio::task::spawn_local(walk(watches.clone(), limit));
        }
        let clients: Vec<_> = self
            .seats
            .iter()
            .zip(watches)
            .map(|(seat, watch)| {
                let client = one_client(Rc::clone(&own), *seat, watch, self.stage.clone());
                tokio::task::spawn_local(client)
            })
            .collect();
        for client in clients {
            // A client that panicked ends its thread, which the phase notices.
            client.await.expect("a client panicked");
        }
    }
}

/// One client, from its connection to its goodbye.
async fn one_client(
    own: Rc<Own>,
    (load, number): Seat,
    watch: Rc<Watch>,
    mut stage: watch::Receiver<Stage>,
) {
    let target = &own.shared.target;
    let store = target.store.as_ref();
    let opened = Connection::open_watched(store, &target.plan, Rc::clone(&watch)).await;
    let (mut connection, result) = match opened {
        Ok(connection) => (Some(connection), Ok(())),
        Err(error) => (None, Err(error)),
    };
    // Nobody listens any more when another client could not connect.
    let _ = own.sender.send(Message::Connected(result));
    let work = stage.wait_for(|stage| *stage != Stage::Connect).await;
    let work = work.map_or(Stage::Close, |stage| *stage);
    if let (
        Stage::Work {
            start_ns,
            deadline_ns,
        },
        Some(connection),
    ) = (work, &mut connection)
    {
        // All clients of all threads start at this instant.
        sleep_until_ns(start_ns);
        own.cpu_start_ns.get_or_init(thread_cpu_ns);
        let state = &own.shared.loads[load];
        let done = own
            .client(load, number, &watch, start_ns, deadline_ns, state)
            .run(connection, start_ns)
            .await;
        own.ended(load, done, connection);
        // An error means that the caller is gone, which is a goodbye too.
        let _ = stage.wait_for(|stage| *stage == Stage::Close).await;
    }
    if let Some(connection) = connection
        && let Err(error) = connection.close().await
    {
        tracing::debug!(%error, "saying goodbye failed");
    }
}

impl Own {
    fn client<'a>(
        &'a self,
        load: usize,
        number: u32,
        watch: &'a Watch,
        start_ns: u64,
        deadline_ns: u64,
        state: &'a LoadState,
    ) -> Client<'a> {
        let tally = || RefCell::new(Tally::new(tally_options(&self.shared, load, start_ns)));
        Client {
            load: state,
            number,
            alone: self.alone,
            tally: self.parts[&load].tally.get_or_init(tally),
            watch,
            counter: &self.shared.counters[load][self.number],
            slot: Slot::new(&self.shared.target.plan.schema),
            deadline_ns,
        }
    }

    /// A client of a load has ended; the last one hands over what all of them counted.
    fn ended(&self, load: usize, done: ClientDone, connection: &Connection<'_>) {
        let part = &self.parts[&load];
        let mut ended = part.ended.borrow_mut();
        ended.clients.push(done);
        ended.reconnects += connection.reconnects();
        ended.datagram_bytes += connection.datagram_bytes();
        if ended.clients.len() < part.clients {
            return;
        }
        ended.all = true;
        let tally = part.tally.get().expect("made before the first client ran");
        let nothing = Tally::new(tally_options(&self.shared, load, 0));
        let begun_ns = self.cpu_start_ns.get().copied().unwrap_or(0);
        let others = self.parts.iter().filter(|(other, _)| **other != load);
        let is_last = others.into_iter().all(|(_, part)| part.ended.borrow().all);
        let message = ThreadDone {
            load,
            tally: tally.replace(nothing),
            clients: std::mem::take(&mut ended.clients),
            reconnects: ended.reconnects,
            datagram_bytes: ended.datagram_bytes,
            // The thread's time is counted once, when the last of its loads ends.
            cpu_ns: if is_last {
                thread_cpu_ns().saturating_sub(begun_ns)
            } else {
                0
            },
        };
        // Nobody listens any more when the phase was given up.
        let _ = self.sender.send(Message::Done(Box::new(message)));
    }
}
