//! The first user of a server that sensormark started, and that nobody else is one.

use super::http::Message;
use super::{Session, escaped};
use crate::Fault;
use sensormark_kit::url::is_loopback;
use sensormark_store::{ErrorKind, StoreError};

fn wrong(what: &str) -> Fault {
    let text = format!("{what}; see who uses its host, and start again");
    StoreError::new(ErrorKind::Configuration, "check the users of InfluxDB", text).into()
}

impl Session {
    /// Sees whether it is let in. A server that sensormark started gets its first user where there is none. Where other hosts reach it, no other user may be there.
    pub(super) async fn enter(&mut self, is_own: bool) -> Result<(), Fault> {
        if let Some(organisation) = &self.link.options.organisation {
            let path = format!("/api/v2/orgs?org={}", escaped(organisation));
            return self.link.ask(Message::get(&path), &mut self.body).await.map(drop);
        }
        let asked = self.shown("SHOW DATABASES").await;
        let is_on_loopback = is_loopback(&self.link.options.host);
        match (asked, self.link.options.user.clone()) {
            (asked, _) if !is_own => asked.map(drop),
            (Err(Fault::Refused { text, .. }), Some((user, password)))
                if is_on_loopback && text.contains("create admin user first") =>
            {
                self.link.forget_user();
                let password = password.expose();
                let text = format!("CREATE USER \"{user}\" WITH PASSWORD '{password}' WITH ALL PRIVILEGES");
                // What the server answers may quote the statement.
                let made = self.shown(&text).await;
                made.map(drop).map_err(|_| {
                    let text = "InfluxDB refuses to; see its log";
                    StoreError::new(ErrorKind::Configuration, "make the first user", text).into()
                })
            }
            // No user comes later than the first answer.
            (Err(Fault::Refused { codes, .. }), _)
                if codes.iter().any(|code| code == "401" || code == "403") =>
            {
                Err(wrong(
                    "the server does not know the user that sensormark made, so somebody else made its first one",
                ))
            }
            (Ok(_), Some((user, _))) if !is_on_loopback => {
                let mut others = self.shown("SHOW USERS").await?;
                others.retain(|other| *other != user);
                match others.as_slice() {
                    [] => Ok(()),
                    _ => Err(wrong(&format!(
                        "other hosts can reach the server, and it has users that sensormark did not make: {}",
                        others.join(", ")
                    ))),
                }
            }
            (asked, _) => asked.map(drop),
        }
    }
}
