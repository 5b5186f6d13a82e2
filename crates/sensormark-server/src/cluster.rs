//! The servers behind one handle: one alone, or the members of a cluster, how they are joined, and the loss of one on request.
//!
//! Each member is a server of its own to the rest of this crate, with its own folder, process, log and control group. So what a crash leaves of a cluster is found
//! member by member. The first start is in `start`.

use super::inner::Inner;
use super::ready::{self, Start, bring_up_again};
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::server::ServerFolder;
use sensormark_store::{Endpoint, ServerOptions, Store};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The servers behind one handle.
pub(super) struct Members {
    first: Arc<Inner>,
    cluster: Option<Cluster>,
}

/// The members of a cluster beside the first, and what joins them.
struct Cluster {
    others: Vec<Arc<Inner>>,
    /// One member's, as the store got them.
    options: ServerOptions,
    joined: Option<Endpoint>,
    /// Which members were killed on request, alone.
    lost: Vec<AtomicBool>,
}

impl Members {
    /// Servers that are about to be brought up; several are a cluster.
    ///
    /// # Panics
    /// Without any.
    pub(super) fn new(mut inners: Vec<Arc<Inner>>, options: &ServerOptions) -> Self {
        let others = inners.split_off(1);
        let first = inners.remove(0);
        let cluster = options.cluster.is_some().then(|| Cluster {
            lost: (0..=others.len()).map(|_| AtomicBool::new(false)).collect(),
            others,
            options: options.clone(),
            joined: None,
        });
        Self { first, cluster }
    }

    /// The first member; the server itself where it is alone.
    pub(super) const fn first(&self) -> &Arc<Inner> {
        &self.first
    }

    /// All members, in order; the server itself where it is alone.
    pub(super) fn all(&self) -> Vec<Arc<Inner>> {
        let others = self.cluster.iter().flat_map(|cluster| &cluster.others);
        let first = std::iter::once(&self.first);
        first.chain(others).map(Arc::clone).collect()
    }

    /// How many servers it is.
    pub(super) fn count(&self) -> usize {
        let others = self.cluster.as_ref();
        1 + others.map_or(0, |cluster| cluster.others.len())
    }

    /// Whether it is a cluster.
    pub(super) const fn is_cluster(&self) -> bool {
        self.cluster.is_some()
    }

    /// How the whole is spoken to; a cluster by its first member until it is formed.
    pub(super) fn endpoint(&self) -> &Endpoint {
        let cluster = self.cluster.as_ref();
        let joined = cluster.and_then(|cluster| cluster.joined.as_ref());
        joined.unwrap_or(&self.first.launch.endpoint)
    }

    /// Whether a member was killed on request, alone.
    pub(super) fn is_lost(&self, member: usize) -> bool {
        let lost = self.lost(member);
        lost.is_some_and(|lost| lost.load(Ordering::SeqCst))
    }

    fn set_lost(&self, member: usize, is_lost: bool) {
        if let Some(lost) = self.lost(member) {
            lost.store(is_lost, Ordering::SeqCst);
        }
    }

    fn lost(&self, member: usize) -> Option<&AtomicBool> {
        self.cluster.as_ref()?.lost.get(member)
    }

    /// Joins the members that were started for the first time. A server alone is ready as it is.
    pub(super) fn form(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        let joined = self.join(store)?;
        if let Some(cluster) = &mut self.cluster {
            cluster.joined = joined;
        }
        Ok(())
    }

    fn join(&self, store: &dyn Store) -> Result<Option<Endpoint>, StoreError> {
        let Some(cluster) = &self.cluster else {
            return Ok(None);
        };
        let inners = self.all();
        let endpoints = inners.iter().map(|inner| inner.launch.endpoint.clone());
        let endpoints: Vec<Endpoint> = endpoints.collect();
        let joined = ready::join(&inners, store, &endpoints, &cluster.options)?;
        Ok(Some(joined))
    }

    /// All are down because that was asked for, and none of them alone.
    pub(super) fn all_meant(&self) {
        for member in 0..self.count() {
            self.set_lost(member, false);
        }
    }

    /// Has members that are down recover, and the store write what they need; the order in which they start.
    fn start_order(&self, store: &dyn Store, down: &[usize]) -> Result<Vec<usize>, StoreError> {
        let inners = self.all();
        if self.cluster.is_none() {
            return Ok(down.to_vec());
        }
        for member in down {
            inners[*member].recover()?;
        }
        let folders = inners.iter().map(|inner| inner.server_folder.clone());
        let folders: Vec<ServerFolder> = folders.collect();
        let order = store.start_again(&folders, down)?;
        for member in down {
            inners[*member].take_over()?;
        }
        Ok(order)
    }

    /// Starts all again, which are down, and waits until they serve. Of a cluster, the store says which member starts first.
    pub(super) fn start_again(&self, store: &dyn Store) -> Result<(), StoreError> {
        let inners = self.all();
        let all: Vec<usize> = (0..inners.len()).collect();
        for member in self.start_order(store, &all)? {
            bring_up_again(&inners[member], store, Start::Again)?;
        }
        self.join(store).map(drop)
    }

    fn member(&self, member: usize) -> Result<Arc<Inner>, StoreError> {
        self.all().into_iter().nth(member).ok_or_else(|| {
            let text = format!("there is no member {} of {}", member + 1, self.count());
            StoreError::new(ErrorKind::NotFound, "find a member of the cluster", text)
        })
    }

    /// Ends one member, from 0, with SIGKILL.
    pub(super) fn kill(&self, member: usize) -> Result<(), StoreError> {
        let inner = self.member(member)?;
        self.set_lost(member, true);
        inner.kill()
    }

    /// Starts a member again that was killed alone, and waits until it serves.
    pub(super) fn restart(&self, member: usize, store: &dyn Store) -> Result<(), StoreError> {
        let inner = self.member(member)?;
        self.start_order(store, &[member])?;
        bring_up_again(&inner, store, Start::Rejoin)?;
        self.join(store)?;
        self.set_lost(member, false);
        Ok(())
    }
}
