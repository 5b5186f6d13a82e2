//! TLS to servers: who vouches for a certificate, and what a connection is encrypted with. Its cryptography is ring's, whatever else is compiled.
//!
//! Which certificates a store takes besides is the store's matter: it puts a verifier of its own around this one.

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

/// Takes certificates that the public authorities vouch for, or those of a file. The option of a URL that names the file is said when it cannot be read.
///
/// # Errors
/// What is wrong with the file, and what it should be.
pub fn verifier(file: Option<&Path>, option: &str) -> Result<Arc<WebPkiServerVerifier>, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = Arc::new(roots(file, option)?);
    let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider).build();
    verifier.map_err(|error| error.to_string())
}

/// What a client encrypts with, where this verifier decides on the server's certificate. The client shows none.
///
/// # Errors
/// What the library says of its own versions of TLS.
pub fn configuration(verifier: Arc<dyn ServerCertVerifier>) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let verified = versions.dangerous().with_custom_certificate_verifier(verifier);
    Ok(verified.with_no_client_auth())
}

fn roots(file: Option<&Path>, option: &str) -> Result<RootCertStore, String> {
    let Some(file) = file else {
        return Ok(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() });
    };
    let unread = |text: &dyn Display| {
        let file = file.display();
        format!("{option} {file}: {text}; it is a file with certificates of authorities (PEM)")
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unread(&error))? {
        let certificate = certificate.map_err(|error| unread(&error))?;
        roots.add(certificate).map_err(|error| unread(&error))?;
    }
    match roots.is_empty() {
        true => Err(unread(&"there is no certificate in it")),
        false => Ok(roots),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_named_with_its_option() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("authority.pem");
        let refused = |file: &Path| verifier(Some(file), "tls_ca").expect_err("no authority");
        assert!(refused(&file).starts_with(&format!("tls_ca {}: ", file.display())));
        std::fs::write(&file, "no certificate").expect("the folder is ours");
        assert!(refused(&file).contains("there is no certificate in it"));
        configuration(verifier(None, "tls_ca").expect("the public authorities")).expect("TLS");
    }
}
