//! The addresses that a server listens on: loopback, or the one that the user named so that other hosts reach it.

use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::server::ServerOptions;
use sensormark_store::store::Store;
use std::net::{Ipv4Addr, TcpListener};

/// Where ports are reserved beside those of a server: on 127.0.0.1, if it listens elsewhere. Some servers listen there too, or first.
pub(super) fn beside(addresses: &[Ipv4Addr]) -> Option<Ipv4Addr> {
    let is_there = addresses.contains(&Ipv4Addr::LOCALHOST);
    (!is_there).then_some(Ipv4Addr::LOCALHOST)
}

/// The addresses of a server, or of the members of its cluster. Without the user's word they are 127.0.0.1 and those that follow.
///
/// # Errors
/// [`ErrorKind::Unsupported`] where the store's server keeps to loopback, or is a cluster. [`ErrorKind::Configuration`] where the address is none of this host.
pub(super) fn addresses(store: &dyn Store, options: &ServerOptions) -> Result<Vec<Ipv4Addr>, StoreError> {
    let members = options.cluster.as_ref().map_or(1, |one| one.members.max(1));
    let Some(address) = options.address else {
        let first = u32::from(Ipv4Addr::LOCALHOST);
        let all = (first..first.saturating_add(members)).map(Ipv4Addr::from);
        return Ok(all.collect());
    };
    let operation = format!("start {}", store.description().title);
    if options.cluster.is_some() {
        let text = "the members of a cluster have loopback addresses, and not the one that was named; leave one of both out";
        return Err(StoreError::unsupported(operation, text));
    }
    if let Some(why) = store.keeps_to_loopback().filter(|_| !address.is_loopback()) {
        let text = format!("it may not listen on {address}: {why}");
        return Err(StoreError::unsupported(operation, text));
    }
    let wrong = |why: &str| {
        let text =
            format!("it cannot listen on {address}: {why}; name an address that this host has (ip address)");
        StoreError::new(ErrorKind::Configuration, &operation, text)
    };
    if address.is_unspecified() || address.is_multicast() || address.is_broadcast() {
        return Err(wrong("that is not the address of one host"));
    }
    match TcpListener::bind((address, 0)) {
        Ok(_) => Ok(vec![address]),
        Err(error) => Err(wrong(&error.to_string())),
    }
}
