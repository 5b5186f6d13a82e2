//! TLS to the nodes of a cluster: whose certificates are taken, and for which names.
//!
//! The driver knows a node by its address and asks for a certificate for that. Certificates are often for names instead. The names that the URL gives its contact
//! points are as good: whoever wrote the URL trusts them. So each node may show a certificate for its address or for one of these names.

use super::url::Options;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, SignatureScheme};
use sensormark_kit::tls;
use sensormark_store::{ErrorKind, StoreError};
use std::sync::Arc;

fn unprepared(text: String) -> StoreError {
    StoreError::new(ErrorKind::Configuration, "prepare TLS for Cassandra", text)
}

/// What the driver encrypts its connections with.
pub(super) fn configuration(options: &Options) -> Result<Arc<ClientConfig>, StoreError> {
    let verifier = tls::verifier(options.authorities.as_deref(), "tls_ca").map_err(unprepared)?;
    let names = options.hosts.iter().filter_map(|(host, _)| {
        let name = ServerName::try_from(host.clone()).ok()?;
        matches!(name, ServerName::DnsName(_)).then_some(name)
    });
    let verifier = AddressOrName { verifier, names: names.collect() };
    let config = tls::configuration(Arc::new(verifier)).map_err(unprepared)?;
    Ok(Arc::new(config))
}

/// Takes what rustls takes for a node's address, and for a name of the URL.
#[derive(Debug)]
struct AddressOrName {
    verifier: Arc<WebPkiServerVerifier>,
    /// Names of the contact points.
    names: Vec<ServerName<'static>>,
}

impl ServerCertVerifier for AddressOrName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        further: &[CertificateDer<'_>],
        address: &ServerName<'_>,
        revocation: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = |name: &ServerName<'_>| {
            self.verifier.verify_server_cert(certificate, further, name, revocation, now)
        };
        verified(address).or_else(|error| {
            let mut others = self.names.iter().filter(|_| is_of_another(&error));
            others.find_map(|name| verified(name).ok()).ok_or(error)
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

/// Whether nothing is wrong with a certificate but its name.
const fn is_of_another(error: &rustls::Error) -> bool {
    matches!(
        error,
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
        )
    )
}
