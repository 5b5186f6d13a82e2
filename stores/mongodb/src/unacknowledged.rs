//! A connection on which nothing is acknowledged: each write goes out with the flag that more is to come, and the server answers none.
//!
//! The driver refuses unacknowledged writes, so this speaks MongoDB's wire protocol itself: OP_MSG and SCRAM-SHA-256, to one host,
//! without TLS. <https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/>. A server does the commands of one connection one
//! after the other, so the answer to a `ping` says that it has done all before it.

use crate::config::Options;
use crate::error::coded;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use mongodb::bson::{Binary, Bson, Document, RawDocument, RawDocumentBuf, doc, spec::BinarySubtype};
use sensormark_store::{ErrorKind, StoreError};
use sha2::{Digest, Sha256};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const OPERATION: &str = "write to MongoDB without acknowledgement";
const OP_MSG: i32 = 2013;
/// The server sends no answer.
const MORE_TO_COME: u32 = 2;
/// Length, request, what it answers, kind.
const HEADER_BYTES: usize = 16;
/// The largest answer that is read: those of a handshake and of a ping are small.
const LARGEST_ANSWER: usize = 1 << 20;

/// The connection.
pub(crate) struct Silent {
    stream: TcpStream,
    database: String,
    timeout: Duration,
    next: i32,
    /// Whether something was sent since the server was last known to have done all.
    is_behind: bool,
    buffer: Vec<u8>,
}

fn broken(error: io::Error) -> StoreError {
    StoreError::new(
        ErrorKind::Unavailable,
        OPERATION,
        format!("the connection broke: {error}; is the server still there?"),
    )
    .with_source(error)
}

fn unreadable(what: &str) -> StoreError {
    StoreError::new(
        ErrorKind::Protocol,
        OPERATION,
        format!("the server's answer cannot be understood: {what}"),
    )
}

impl Silent {
    /// Connects to the only host, and says who asks.
    pub(crate) async fn open(
        options: &Options,
        database: &str,
        timeout: Duration,
    ) -> Result<Self, StoreError> {
        let (host, port) = options.sole_host().ok_or_else(|| {
            StoreError::unsupported(
                OPERATION,
                "unacknowledged writes go to a single host without TLS; choose another class of durability for this URL",
            )
        })?;
        let stream = TcpStream::connect((host.as_str(), port)).await.map_err(broken)?;
        stream.set_nodelay(true).map_err(broken)?;
        let mut silent = Self {
            stream,
            database: database.to_owned(),
            timeout,
            next: 1,
            is_behind: false,
            buffer: Vec::new(),
        };
        if let Some(credential) = options.credential() {
            let user = credential.username.as_deref().unwrap_or_default();
            let password = credential.password.as_deref().unwrap_or_default();
            let source = credential.source.as_deref().unwrap_or("admin");
            silent.authenticate(user, password, source).await?;
        }
        Ok(silent)
    }

    /// Hands a command to the kernel; nobody answers.
    pub(crate) async fn send(&mut self, command: &RawDocument) -> Result<(), StoreError> {
        self.is_behind = true;
        let database = self.database.clone();
        self.message(command.as_bytes(), &database, MORE_TO_COME).await
    }

    /// Waits until the server has done all that was sent.
    pub(crate) async fn catch_up(&mut self) -> Result<(), StoreError> {
        if self.is_behind {
            self.ask("admin", &doc! { "ping": 1 }).await?;
            self.is_behind = false;
        }
        Ok(())
    }

    async fn ask(&mut self, database: &str, command: &Document) -> Result<Document, StoreError> {
        let command = RawDocumentBuf::try_from(command).map_err(|error| unreadable(&error.to_string()))?;
        let timeout = self.timeout;
        let asking = async {
            self.message(command.as_bytes(), database, 0).await?;
            self.answer().await
        };
        let answer = tokio::time::timeout(timeout, asking).await.map_err(|_| {
            StoreError::new(
                ErrorKind::Timeout,
                OPERATION,
                format!("no answer within {} ms; allow more time", timeout.as_millis()),
            )
        })??;
        if answer.get_f64("ok").is_ok_and(|ok| ok > 0.0) {
            return Ok(answer);
        }
        let code = answer.get_i32("code").unwrap_or(0);
        Err(coded(OPERATION, code, answer.get_str("errmsg").unwrap_or("no words")))
    }

    /// Sends a command for a database.
    async fn message(&mut self, command: &[u8], database: &str, flags: u32) -> Result<(), StoreError> {
        // The command's own length and end are replaced, because `$db` is added.
        let elements = command
            .get(4..command.len().saturating_sub(1))
            .ok_or_else(|| unreadable("a command is no document"))?;
        let name_bytes = whole(database.len() + 1)?;
        let document_bytes = 4 + elements.len() + 5 + 4 + database.len() + 1 + 1;
        let length = whole(HEADER_BYTES + 4 + 1 + document_bytes)?;
        let buffer = &mut self.buffer;
        buffer.clear();
        for number in [length, self.next, 0, OP_MSG] {
            buffer.extend(number.to_le_bytes());
        }
        buffer.extend(flags.to_le_bytes());
        buffer.push(0);
        buffer.extend(whole(document_bytes)?.to_le_bytes());
        buffer.extend(elements);
        buffer.extend(b"\x02$db\0");
        buffer.extend(name_bytes.to_le_bytes());
        buffer.extend(database.as_bytes());
        buffer.extend([0, 0]);
        self.next = self.next.wrapping_add(1);
        self.stream.write_all(&self.buffer).await.map_err(broken)
    }

    async fn answer(&mut self) -> Result<Document, StoreError> {
        let mut header = [0; HEADER_BYTES];
        self.stream.read_exact(&mut header).await.map_err(broken)?;
        let [a, b, c, d, ..] = header;
        let length = usize::try_from(i32::from_le_bytes([a, b, c, d])).unwrap_or(0);
        if !(HEADER_BYTES + 5..=LARGEST_ANSWER).contains(&length) {
            return Err(unreadable("its length"));
        }
        let mut body = vec![0; length - HEADER_BYTES];
        self.stream.read_exact(&mut body).await.map_err(broken)?;
        let document = body.get(5..).unwrap_or_default();
        let document = RawDocument::from_bytes(document)
            .and_then(Document::try_from)
            .map_err(|error| unreadable(&error.to_string()))?;
        Ok(document)
    }

    /// SCRAM-SHA-256, RFC 7677.
    async fn authenticate(&mut self, user: &str, password: &str, source: &str) -> Result<(), StoreError> {
        let user = user.replace('=', "=3D").replace(',', "=2C");
        let nonce = nonce()?;
        let first = format!("n={user},r={nonce}");
        let begin = doc! {
            "saslStart": 1,
            "mechanism": "SCRAM-SHA-256",
            "payload": binary(format!("n,,{first}")),
            "options": { "skipEmptyExchange": true },
        };
        let answer = self.ask(source, &begin).await?;
        let challenge = payload(&answer)?;
        let part = |name: &str| {
            let mut parts = challenge.split(',');
            parts.find_map(|part| part.strip_prefix(name)).ok_or_else(|| unreadable("the challenge"))
        };
        let (combined, salt, rounds) = (part("r=")?, part("s=")?, part("i=")?);
        let salt = BASE64.decode(salt).map_err(|_| unreadable("the salt"))?;
        let rounds: u32 = rounds.parse().map_err(|_| unreadable("the rounds"))?;
        if !combined.starts_with(&nonce) {
            return Err(unreadable("the nonce is not ours"));
        }
        let salted = salted(password.as_bytes(), &salt, rounds)?;
        let key = keyed(&salted, b"Client Key")?;
        let bare = format!("c=biws,r={combined}");
        let signed = format!("{first},{challenge},{bare}");
        let signature = keyed(&Sha256::digest(key), signed.as_bytes())?;
        let proof: Vec<u8> = key.iter().zip(signature).map(|(key, sign)| key ^ sign).collect();
        let conclude = doc! {
            "saslContinue": 1,
            "conversationId": answer.get("conversationId").cloned().unwrap_or(Bson::Int32(1)),
            "payload": binary(format!("{bare},p={}", BASE64.encode(proof))),
        };
        let answer = self.ask(source, &conclude).await?;
        let verifier = keyed(&keyed(&salted, b"Server Key")?, signed.as_bytes())?;
        if payload(&answer)? == format!("v={}", BASE64.encode(verifier)) {
            Ok(())
        } else {
            Err(unreadable("the server does not know the password either"))
        }
    }
}

fn whole(bytes: usize) -> Result<i32, StoreError> {
    i32::try_from(bytes).map_err(|_| {
        let text = format!("a command of {bytes} bytes; write smaller batches");
        StoreError::new(ErrorKind::TooLarge, OPERATION, text)
    })
}

fn binary(text: String) -> Bson {
    Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: text.into_bytes() })
}

fn payload(answer: &Document) -> Result<String, StoreError> {
    let bytes = match answer.get("payload") {
        Some(Bson::Binary(binary)) => binary.bytes.clone(),
        _ => return Err(unreadable("an answer of the handshake")),
    };
    String::from_utf8(bytes).map_err(|_| unreadable("an answer of the handshake"))
}

/// Letters that nobody can guess.
fn nonce() -> Result<String, StoreError> {
    let mut bytes = [0; 24];
    let mut source = std::fs::File::open("/dev/urandom").map_err(broken)?;
    io::Read::read_exact(&mut source, &mut bytes).map_err(broken)?;
    Ok(BASE64.encode(bytes))
}

fn keyed(key: &[u8], text: &[u8]) -> Result<[u8; 32], StoreError> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(|_| unreadable("a key"))?;
    mac.update(text);
    Ok(mac.finalize().into_bytes().into())
}

/// The password with the salt, hashed so many times.
fn salted(password: &[u8], salt: &[u8], rounds: u32) -> Result<[u8; 32], StoreError> {
    let mut block = keyed(password, &[salt, &[0, 0, 0, 1]].concat())?;
    let mut all = block;
    for _ in 1..rounds {
        block = keyed(password, &block)?;
        for (sum, byte) in all.iter_mut().zip(block) {
            *sum ^= byte;
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677, section 3.
    #[test]
    fn the_proof_is_that_of_the_standard() {
        let salt = BASE64.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let salted = salted(b"pencil", &salt, 4096).unwrap();
        let key = keyed(&salted, b"Client Key").unwrap();
        let bare = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        let signed = format!(
            "n=user,r=rOprNGfwEbeRWgbNEkqO,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
             s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,{bare}"
        );
        let signature = keyed(&Sha256::digest(key), signed.as_bytes()).unwrap();
        let proof: Vec<u8> = key.iter().zip(signature).map(|(key, sign)| key ^ sign).collect();
        assert_eq!(BASE64.encode(proof), "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
    }
}
