//! What a server has beside its first member where it is a cluster: the other members, how all are joined, and the loss of one on request.
//!
//! Each member is a server of its own to the rest of this crate, with its own folder, process, log and control group. So what a crash leaves of a cluster is found
//! member by member. The first start is in `start`.

use super::Shared;
use super::inner::Inner;
use super::managed::{ManagedServer, kill_one, restart_one};
use super::ready::{self, Start};
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::server::ServerFolder;
use sensormark_store::{Endpoint, ServerOptions, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The members of a cluster beside the first, and what joins them.
pub(super) struct ClusterState {
    others: Vec<Arc<Inner>>,
    /// One member's, as the store got them.
    options: ServerOptions,
    joined: Option<Endpoint>,
    /// Which members were killed on request, alone.
    lost: Vec<AtomicBool>,
}

impl ClusterState {
    /// How the whole is spoken to, once it is formed.
    pub(super) const fn endpoint(&self) -> Option<&Endpoint> {
        self.joined.as_ref()
    }

    /// Whether a member was killed on request, alone.
    pub(super) fn is_lost(&self, member: usize) -> bool {
        let lost = self.lost.get(member);
        lost.is_some_and(|lost| lost.load(Ordering::SeqCst))
    }

    fn set_lost(&self, member: usize, is_lost: bool) {
        if let Some(lost) = self.lost.get(member) {
            lost.store(is_lost, Ordering::SeqCst);
        }
    }
}

impl ManagedServer {
    /// The handle of servers that are about to be brought up; several are a cluster.
    ///
    /// # Panics
    /// Without any.
    pub(super) fn new(
        mut inners: Vec<Arc<Inner>>,
        shared: &Arc<Shared>,
        options: &ServerOptions,
    ) -> Self {
        let others = inners.split_off(1);
        let first = inners.remove(0);
        let cluster = options.cluster.is_some().then(|| ClusterState {
            lost: (0..=others.len()).map(|_| AtomicBool::new(false)).collect(),
            others,
            options: options.clone(),
            joined: None,
        });
        Self {
            inner: first,
            shared: Arc::clone(shared),
            cluster,
        }
    }

    /// All members, in order; the server itself where it is alone.
    pub(super) fn inners(&self) -> Vec<Arc<Inner>> {
        let others = self.cluster.iter().flat_map(|cluster| &cluster.others);
        let first = std::iter::once(&self.inner);
        first.chain(others).map(Arc::clone).collect()
    }

    /// How many servers it is.
    pub fn members(&self) -> usize {
        self.inners().len()
    }

    /// The ids of all members' root processes, in order, without those that are down.
    pub fn process_ids(&self) -> Vec<u32> {
        let inners = self.inners();
        let ids = inners.iter().map(|inner| inner.process_id());
        ids.filter(|id| *id != 0).collect()
    }

    /// The folders of all members' data.
    pub fn data_folders(&self) -> Vec<PathBuf> {
        let inners = self.inners();
        let data = inners.iter().map(|inner| inner.server_folder.data.clone());
        data.collect()
    }

    /// The folders of all members' logs on another disk, where the user chose one.
    pub fn log_folders(&self) -> Vec<PathBuf> {
        let inners = self.inners();
        let logs = inners.iter().filter_map(|inner| {
            let logs = inner.server_folder.logs.as_deref();
            logs.map(Path::to_path_buf)
        });
        logs.collect()
    }

    /// Joins the members that were started for the first time. A server alone is ready as it is.
    pub(super) fn form(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        let joined = self.join(store)?;
        if let Some(cluster) = &mut self.cluster {
            cluster.joined = joined;
        }
        Ok(())
    }

    /// Waits until members that were started again serve.
    pub(super) fn wait_for_cluster(&self, store: &dyn Store) -> Result<(), StoreError> {
        self.join(store).map(|_| ())
    }

    fn join(&self, store: &dyn Store) -> Result<Option<Endpoint>, StoreError> {
        let Some(cluster) = &self.cluster else {
            return Ok(None);
        };
        let inners = self.inners();
        let endpoints = inners.iter().map(|inner| inner.launch.endpoint.clone());
        let endpoints: Vec<Endpoint> = endpoints.collect();
        let joined = ready::join(&inners, store, &endpoints, &cluster.options)?;
        Ok(Some(joined))
    }

    /// All are down because that was asked for, and none of them alone.
    pub(super) fn all_meant(&self) {
        for member in 0..self.members() {
            self.set_lost(member, false);
        }
    }

    fn set_lost(&self, member: usize, is_lost: bool) {
        if let Some(cluster) = &self.cluster {
            cluster.set_lost(member, is_lost);
        }
    }

    /// Has members that are down recover, and the store write what they need; the order in which they start.
    pub(super) fn start_order(
        &self,
        store: &dyn Store,
        down: &[usize],
    ) -> Result<Vec<usize>, StoreError> {
        let inners = self.inners();
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

    fn member(&self, member: usize) -> Result<Arc<Inner>, StoreError> {
        self.inners().into_iter().nth(member).ok_or_else(|| {
            let text = format!("there is no member {} of {}", member + 1, self.members());
            StoreError::new(ErrorKind::NotFound, "find a member of the cluster", text)
        })
    }

    /// Ends one member, from 0, with SIGKILL, as its machine's loss would; the others run on, and [`ManagedServer::check`] says nothing of its absence.
    ///
    /// # Errors
    /// When there is no such member, or its processes are still there after 20 s.
    pub fn kill_member(&self, member: usize) -> Result<(), StoreError> {
        let inner = self.member(member)?;
        self.set_lost(member, true);
        kill_one(&inner)
    }

    /// Starts a member again that was killed alone, and waits until it serves.
    ///
    /// # Errors
    /// As [`ManagedServer::restart`].
    pub fn restart_member(&self, member: usize, store: &dyn Store) -> Result<(), StoreError> {
        let inner = self.member(member)?;
        self.start_order(store, &[member])?;
        restart_one(&inner, store, Start::Rejoin)?;
        self.wait_for_cluster(store)?;
        self.set_lost(member, false);
        Ok(())
    }
}
