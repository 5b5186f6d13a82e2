//! The address that a server listens on: loopback, or the one that the user named so that other hosts reach it.

use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::server::ServerOptions;
use sensormark_store::store::Store;
use std::net::{Ipv4Addr, TcpListener};

/// The address of a server: 127.0.0.1 without the user's word.
///
/// # Errors
/// [`ErrorKind::Unsupported`] where the store's server keeps to loopback. [`ErrorKind::Configuration`] where the address is none of this host.
pub(super) fn address(store: &dyn Store, options: &ServerOptions) -> Result<Ipv4Addr, StoreError> {
    let Some(address) = options.address else {
        return Ok(Ipv4Addr::LOCALHOST);
    };
    let operation = format!("start {}", store.description().title);
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
        Ok(_) => Ok(address),
        Err(error) => Err(wrong(&error.to_string())),
    }
}
