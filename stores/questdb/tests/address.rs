//! QuestDB on an address that other hosts reach: everything that reads or writes by HTTP asks for the password.

use sensormark_conformance::address::{Reachable, main as on_another_address};
use sensormark_kit::url::basic_authorization;
use sensormark_questdb::Questdb;

fn main() {
    on_another_address(Questdb::new(), asks_by_http);
}

fn asks_by_http(reachable: &Reachable<'_, Questdb>) -> Result<(), String> {
    let port = reachable.server.endpoint().ports[1];
    let ours = basic_authorization("sensormark", &reachable.server.folder().password);
    let ours = format!("Authorization: {}\r\n", ours.expose());
    let line = "readings,sensor=a value=1\n";
    for (request, body) in [
        ("GET /exec?query=select%201", ""),
        ("GET /exec?query=create%20table%20theirs(a%20int)", ""),
        ("GET /exp?query=select%201", ""),
        ("GET /chk?f=json&j=readings", ""),
        ("POST /write", line),
        ("POST /api/v2/write", line),
        ("POST /imp?name=theirs", line),
        ("PUT /settings?version=0", "{}"),
    ] {
        let status = reachable.status(port, request, ("", body))?;
        if status != 401 {
            return Err(format!("{request} without a password is answered {status}"));
        }
    }
    let asked = reachable.status(port, "GET /exec?query=select%201", (&ours, ""))?;
    if asked != 200 {
        return Err(format!("with the password it is answered {asked}"));
    }
    Ok(())
}
