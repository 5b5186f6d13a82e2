//! InfluxDB on an address that other hosts reach: everything that reads or writes by HTTP asks for the password, and no other user is left unnoticed.

use sensormark_conformance::address::{Reachable, main as on_another_address};
use sensormark_kit::url::basic_authorization;
use sensormark_statements::FileStore;

const USERS: &str =
    "POST /query?q=CREATE%20USER%20stranger%20WITH%20PASSWORD%20%27x%27%20WITH%20ALL%20PRIVILEGES";

fn main() {
    on_another_address(sensormark_stores::influxdb(), asks_by_http);
}

fn asks_by_http(reachable: &Reachable<'_, FileStore>) -> Result<(), String> {
    let endpoint = reachable.server.endpoint();
    if endpoint.url.expose().contains("udp") {
        return Err("it takes datagrams, which ask for no password".to_owned());
    }
    let port = endpoint.ports[0];
    let ours = basic_authorization("sensormark", &reachable.server.folder().password);
    let ours = format!("Authorization: {}\r\n", ours.expose());
    let flux = "Content-Type: application/vnd.flux\r\n";
    for (request, head, body) in [
        ("POST /query?q=SHOW%20DATABASES", "", ""),
        (USERS, "", ""),
        ("POST /write?db=theirs", "", "readings value=1"),
        ("POST /api/v2/write?bucket=theirs", "", "readings value=1"),
        ("POST /api/v2/query", flux, "buckets()"),
        ("POST /api/v1/prom/read?db=theirs", "", ""),
        ("POST /api/v1/prom/write?db=theirs", "", ""),
    ] {
        let status = reachable.status(port, request, (head, body))?;
        if status != 401 {
            return Err(format!("{request} without a password is answered {status}"));
        }
    }
    let made = reachable.status(port, USERS, (&ours, ""))?;
    if made != 200 {
        return Err(format!("with the password it is answered {made}"));
    }
    reachable.notices("stranger")
}
