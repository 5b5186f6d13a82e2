//! Cassandra on an address that other hosts reach: the account that everybody knows is gone, and no other account is left unnoticed.

use scylla::client::session_builder::SessionBuilder;
use sensormark_conformance::address::{Reachable, main as on_another_address};
use sensormark_statements::FileStore;

fn main() {
    on_another_address(sensormark_stores::cassandra(), has_our_account_alone);
}

fn has_our_account_alone(reachable: &Reachable<'_, FileStore>) -> Result<(), String> {
    let endpoint = reachable.server.endpoint();
    let url = endpoint.url.expose();
    if url.contains("jmx") {
        return Err("management asks for no password".to_owned());
    }
    let place = format!("{}:{}", reachable.address, endpoint.ports[0]);
    reachable.keeps_out(&format!("cassandra://cassandra:cassandra@{place}/"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let password = reachable.server.folder().password.expose();
    runtime.block_on(async {
        let session = SessionBuilder::new()
            .known_node(&place)
            .user("sensormark", password)
            .build()
            .await
            .map_err(|error| error.to_string())?;
        let text = "CREATE ROLE stranger WITH PASSWORD = 'x' AND LOGIN = true";
        let made = session.query_unpaged(text, &()).await;
        made.map(drop).map_err(|error| error.to_string())
    })?;
    reachable.notices("stranger")
}
