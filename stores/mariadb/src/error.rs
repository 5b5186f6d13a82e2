//! From MariaDB's errors to the contract's: by error number, one by one, and by the kind of an input/output error.
//!
//! It decides what a failure means; it does not retry. The texts are the server's own message and a next step. No password is ever part
//! of them: neither server nor driver repeats one. Values of a rejected row may be, as the server quotes them.

use mysql_async::{DriverError, Error, IoError, ServerError};
use sensormark_kit::io_error;
use sensormark_store::{ErrorKind, StoreError};
use std::io;

/// The contract's error for a native one, met during `operation`.
pub(crate) fn store_error(operation: &str, error: Error) -> StoreError {
    let (kind, doubt, text) = match &error {
        Error::Server(native) => {
            let (kind, advice) = meaning(native.code);
            (kind, in_doubt(native.code), server_text(native, advice))
        }
        Error::Io(IoError::Io(cause)) => io_text(cause),
        Error::Io(IoError::Tls(cause)) => (
            ErrorKind::Configuration,
            false,
            format!("TLS: {cause}; check ssl-mode and ssl-ca in the URL against the server's certificate"),
        ),
        Error::Driver(native) => driver_text(native),
        Error::Url(native) => (ErrorKind::Configuration, false, native.to_string()),
        Error::Other(native) => (ErrorKind::Protocol, true, native.to_string()),
    };
    let error = match error {
        // These carry the values of a statement, which may be long: their text says enough.
        Error::Driver(DriverError::BulkExecute(_)) => {
            return StoreError::new(kind, operation, text).with_doubt(doubt);
        }
        other => other,
    };
    StoreError::new(kind, operation, text).with_doubt(doubt).with_source(error)
}

fn server_text(native: &ServerError, advice: &str) -> String {
    let stop = if advice.is_empty() { "" } else { "; " };
    format!("{} (error {}){stop}{advice}", native.message, native.code)
}

fn driver_text(native: &DriverError) -> (ErrorKind, bool, String) {
    use DriverError as Native;
    use ErrorKind as Kind;
    match native {
        Native::ConnectionClosed | Native::PoolDisconnected => (
            Kind::Unavailable,
            true,
            "the server closed the connection; look into its log and connect again".to_owned(),
        ),
        Native::PacketTooLarge | Native::StmtParamsNumberExceedsLimit { .. } => (
            Kind::TooLarge,
            false,
            format!("{native}; make the batch smaller or raise the server's max_allowed_packet"),
        ),
        Native::BulkExecute(_) => (
            Kind::TooLarge,
            false,
            "a reading is larger than the server's max_allowed_packet; raise it or shorten the text"
                .to_owned(),
        ),
        Native::NoClientSslFlagFromServer => (
            Kind::Configuration,
            false,
            "the server offers no TLS; set ssl-mode=disabled in the URL or turn TLS on in the server"
                .to_owned(),
        ),
        Native::UnknownAuthPlugin { .. }
        | Native::MysqlOldPasswordDisabled
        | Native::CleartextPluginDisabled
        | Native::InvalidParsecSalt => (
            Kind::Authentication,
            false,
            format!("{native}; give the user a password with mysql_native_password"),
        ),
        Native::LocalInfile(cause) => {
            (Kind::Rejected, true, format!("{cause}; turn local_infile on in the server"))
        }
        Native::CantParseServerVersion { .. }
        | Native::PacketOutOfOrder
        | Native::BadCompressedPacketHeader => {
            (Kind::Protocol, true, format!("{native} Is this a MariaDB server's port?"))
        }
        Native::UnexpectedPacket { .. } => (
            Kind::Protocol,
            true,
            "a packet that does not belong here; is this a MariaDB server's port?".to_owned(),
        ),
        other => (Kind::Protocol, true, other.to_string()),
    }
}

/// Kind, whether a write may nevertheless be stored, and what happened with a next step.
fn io_text(cause: &io::Error) -> (ErrorKind, bool, String) {
    use ErrorKind as Kind;
    use io::ErrorKind as Io;
    let (kind, doubt, advice) = io_error::meaning(cause.kind()).unwrap_or_else(|| match cause.kind() {
        Io::InvalidInput | Io::InvalidData | Io::Other => {
            (Kind::Protocol, true, "is this a MariaDB server's port?")
        }
        _ => (Kind::Unavailable, true, "check that the server runs, then connect again"),
    });
    (kind, doubt, format!("{cause}; {advice}"))
}

/// Whether the connection is of no further use after this error.
pub(crate) fn is_fatal(error: &Error) -> bool {
    match error {
        Error::Server(native) => {
            matches!(native.code, 1047 | 1053 | 1927 | 4150 | 1080 | 1180 | 1184)
        }
        Error::Driver(DriverError::BulkExecute(_) | DriverError::StmtParamsMismatch { .. }) => false,
        _ => true,
    }
}

/// A statement that the server refused did not happen, except where the server died or the connection was killed.
const fn in_doubt(code: u16) -> bool {
    matches!(code, 1053 | 1080 | 1152 | 1158..=1161 | 1180 | 1184 | 1927 | 2006 | 2013 | 4150)
}

/// What an error number means, and the next step.
fn meaning(code: u16) -> (ErrorKind, &'static str) {
    connection_meaning(code)
        .or_else(|| state_meaning(code))
        .or_else(|| statement_meaning(code))
        .unwrap_or((ErrorKind::Rejected, ""))
}

/// Errors of the connection and of who connects.
fn connection_meaning(code: u16) -> Option<(ErrorKind, &'static str)> {
    use ErrorKind as Kind;
    Some(match code {
        1040 | 1203 | 1226 => {
            (Kind::Overload, "raise max_connections (max_user_connections) or use fewer clients")
        }
        1044 | 1142 | 1143 | 1227 | 1370 | 1410 => (
            Kind::Authentication,
            "give the URL's user this right; GRANT ALL ON `sensormark\\_%`.* is enough to measure",
        ),
        1045 | 1698 | 1251 | 1275 | 1524 | 1820 | 1862 | 3118 | 4151 => {
            (Kind::Authentication, "check user and password in the URL")
        }
        1129 | 1130 => (
            Kind::Authentication,
            "the server does not accept this client's host: see FLUSH HOSTS and the user's host name",
        ),
        3159 => (Kind::Authentication, "the server insists on TLS: set ssl-mode=required in the URL"),
        1046 | 1049 => (Kind::NotFound, "the database is not there: create it first or correct the URL"),
        1047 => (
            Kind::Unavailable,
            "this member of the cluster takes no statements now: most of the members have to run and see each other",
        ),
        1180 => (
            Kind::Unavailable,
            "the commit did not get through to the other members of the cluster: connect again",
        ),
        1053 | 1077 | 1079 => (Kind::Unavailable, "the server is shutting down: start it again"),
        1080 | 1927 | 4150 => (Kind::Unavailable, "the connection was killed: connect again"),
        1152 | 1158..=1161 | 1184 | 2006 | 2013 => {
            (Kind::Unavailable, "the connection broke: look into the server's log and connect again")
        }
        _ => return None,
    })
}

/// Errors of the server's disk, memory and data.
fn state_meaning(code: u16) -> Option<(ErrorKind, &'static str)> {
    use ErrorKind as Kind;
    Some(match code {
        1021 => (Kind::DiskFull, "free space on the data folder's disk"),
        1114 => (
            Kind::DiskFull,
            "the table has no room: free space on the data folder's disk, or raise tmp_table_size for a temporary table",
        ),
        1037 | 1038 | 1041 | 1135 => {
            (Kind::Overload, "the server is out of memory or threads: use fewer clients or smaller batches")
        }
        1023 | 1026 | 1030 => (Kind::Crashed, "the server met an input/output error: check its disk and log"),
        1034 | 1035 | 1194 | 1195 | 1712 | 1932 => {
            (Kind::Crashed, "the server's data is damaged: check its disk and log")
        }
        1290 | 1792 | 1836 => {
            (Kind::Rejected, "the server is read-only (a replica?) or forbids this: use the primary")
        }
        _ => return None,
    })
}

/// Errors of single statements.
fn statement_meaning(code: u16) -> Option<(ErrorKind, &'static str)> {
    use ErrorKind as Kind;
    Some(match code {
        1007 => (Kind::Conflict, "a database of this name is there"),
        1050 => (Kind::Conflict, "a table of this name is there"),
        1022 | 1062 | 1169 | 1586 => (Kind::Conflict, "a row with this key is there"),
        1048 | 1364 => (Kind::Conflict, "a value is missing that must not be"),
        1216 | 1217 | 1451 | 1452 => (Kind::Conflict, "a row that this one refers to is missing"),
        4025 => (Kind::Conflict, "a check does not hold"),
        1008 => (Kind::NotFound, "the database is not there"),
        1051 | 1109 | 1146 => {
            (Kind::NotFound, "the table is not there: was the database created with another layout?")
        }
        1054 => (Kind::NotFound, "the column is not there: was the database created with another schema?"),
        1153 => (Kind::TooLarge, "raise the server's max_allowed_packet or make the batch smaller"),
        1071 | 1074 | 1117 | 1118 | 1406 | 1436 => {
            (Kind::TooLarge, "a text, row or key is longer than MariaDB takes")
        }
        1390 | 1461 => (Kind::TooLarge, "make the batch smaller, or raise max_prepared_stmt_count"),
        1205 => (
            Kind::Timeout,
            "a lock was not to be had in time: use fewer writers of the same rows, or try again",
        ),
        1317 | 1969 | 3024 => {
            (Kind::Timeout, "the statement took longer than allowed: allow more time or ask for less")
        }
        1213 => (Kind::Overload, "a deadlock was broken: try again"),
        1020 => (Kind::Overload, "the row was changed meanwhile: try again"),
        1148 | 4166 => {
            (Kind::Unsupported, "turn local_infile on in the server, or choose a layout without LOAD DATA")
        }
        1305 | 1235 | 1286 => {
            (Kind::Unsupported, "this server lacks something: MariaDB 10.6 or later is needed")
        }
        1064 => {
            (Kind::Rejected, "the server did not understand the statement: MariaDB 10.6 or later is needed")
        }
        1264 | 1366 | 1367 | 1690 => (Kind::Rejected, "a value does not fit its column"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_apart() {
        for (code, kind) in [
            (1045, ErrorKind::Authentication),
            (1049, ErrorKind::NotFound),
            (1146, ErrorKind::NotFound),
            (1062, ErrorKind::Conflict),
            (1586, ErrorKind::Conflict),
            (1114, ErrorKind::DiskFull),
            (1021, ErrorKind::DiskFull),
            (1153, ErrorKind::TooLarge),
            (1040, ErrorKind::Overload),
            (1203, ErrorKind::Overload),
            (1213, ErrorKind::Overload),
            (1205, ErrorKind::Timeout),
            (1969, ErrorKind::Timeout),
            (1047, ErrorKind::Unavailable),
            (1053, ErrorKind::Unavailable),
            (1180, ErrorKind::Unavailable),
            (1927, ErrorKind::Unavailable),
            (9999, ErrorKind::Rejected),
        ] {
            assert_eq!(meaning(code).0, kind, "{code}");
        }
    }

    #[test]
    fn a_refused_statement_is_not_in_doubt() {
        assert!(!in_doubt(1969));
        assert!(!in_doubt(1213));
        assert!(!in_doubt(1047));
        assert!(in_doubt(1180));
        assert!(in_doubt(1053));
        let refused = io_text(&io::Error::from(io::ErrorKind::ConnectionRefused));
        assert_eq!((refused.0, refused.1), (ErrorKind::Unavailable, false));
    }
}
