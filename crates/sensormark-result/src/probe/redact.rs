//! Takes passwords and user names out of command lines before they reach a result, a log or an error. It would rather
//! hide too much than too little: what stands before an `@` goes, wherever it is. It does not know the command's own
//! grammar, so it holds for any.

/// What stands in for something that was taken out.
pub const HIDDEN: &str = "***";

/// Names whose values are secret, as options (`--password X`), as keys of a URL (`?token=X`) or of a connection
/// string (`password=X`). A name that ends in one of these (`--influx-token`, `sslpassword`) is secret too.
const SECRET_NAMES: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "user",
    "username",
    "login",
    "credentials",
    "credential",
    "auth",
];

/// Redacts a whole command line, one entry an argument.
///
/// `scheme://user:password@host/db` becomes `scheme://***@host/db`; the value of an option or key that sounds secret
/// becomes `***`, also where it is the next argument; what stands before an `@` becomes `***`.
#[must_use]
pub fn redact_arguments<S: AsRef<str>>(arguments: &[S]) -> Vec<String> {
    let mut hide_next = false;
    arguments
        .iter()
        .map(|argument| {
            let argument = argument.as_ref();
            let is_option = argument.starts_with('-');
            // A password may begin with a dash; with two it is the next option.
            if std::mem::take(&mut hide_next) && !argument.starts_with("--") {
                return HIDDEN.to_owned();
            }
            hide_next = is_option && !argument.contains('=') && is_secret_name(argument);
            redact(argument)
        })
        .collect()
}

/// Redacts one text: an argument, a URL, a connection string, or a message with any of them inside.
#[must_use]
pub fn redact(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len());
    for piece in pieces(text) {
        redacted.push_str(&hide_values(&hide_user_information(piece)));
    }
    redacted
}

/// Cuts at white space, and before a further `name=scheme://` or `name:layout=scheme://` of a comma-separated list, so
/// that each piece holds at most one URL. The pieces joined are the text.
fn pieces(text: &str) -> Vec<&str> {
    let mut cuts = vec![0];
    for (at, character) in text.char_indices() {
        if character.is_whitespace() {
            cuts.push(at);
            cuts.push(at + character.len_utf8());
        } else if character == ',' && starts_assignment_of_url(&text[at + 1..]) {
            cuts.push(at + 1);
        }
    }
    cuts.push(text.len());
    cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect()
}

fn starts_assignment_of_url(text: &str) -> bool {
    let is_name = |part: &str, also: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || also.contains(c))
    };
    text.split_once("://")
        .and_then(|(before, _)| before.split_once('='))
        .is_some_and(|(name, scheme)| is_name(name, "-_:#") && is_name(scheme, "+-."))
}

/// In a piece: everything between `://` (or the first `=`, or the start) and the last `@`.
fn hide_user_information(piece: &str) -> String {
    let Some(at) = piece.rfind('@') else {
        return piece.to_owned();
    };
    let start = match (piece[..at].find("://"), piece[..at].find('=')) {
        (Some(scheme), _) => scheme + 3,
        (None, Some(equals)) => equals + 1,
        (None, None) => 0,
    };
    format!("{}{HIDDEN}{}", &piece[..start], &piece[at..])
}

/// In a piece: the value after each secret `name=`, up to the next `&` or `;`. A `#` or `,` may be of the value.
fn hide_values(piece: &str) -> String {
    let mut redacted = String::with_capacity(piece.len());
    let mut rest = piece;
    while let Some(equals) = rest.find('=') {
        let (before, value) = rest.split_at(equals + 1);
        redacted.push_str(before);
        let name_start =
            before[..equals].rfind(['?', '&', ';', ',', ' ', '/', '=']).map_or(0, |separator| separator + 1);
        let end = value.find(['&', ';']).unwrap_or(value.len());
        rest = if is_secret_name(&before[name_start..equals]) && end > 0 {
            redacted.push_str(HIDDEN);
            &value[end..]
        } else {
            value
        };
    }
    redacted.push_str(rest);
    redacted
}

/// Whether a name's last word is secret: `--influx-token`, `PGPASSWORD` and `sslpassword` are, `--keyspace` is not.
fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let last = name.rsplit(['-', '_', '.', ':']).next().unwrap_or_default();
    SECRET_NAMES.contains(&last)
        || ["password", "passwd", "passphrase", "secret", "token", "apikey", "username"]
            .iter()
            .any(|ending| last.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_password_of_urls_go() {
        for (given, expected) in [
            ("postgres://ann:s3cret@db/x", "postgres://***@db/x"),
            ("postgres://ann@db/x", "postgres://***@db/x"),
            ("mongodb+srv://a:b@h1,h2:27017/x?w=1", "mongodb+srv://***@h1,h2:27017/x?w=1"),
            ("--on=postgresql=postgres://a:b@h/x", "--on=postgresql=postgres://***@h/x"),
            ("http://[::1]:8086/", "http://[::1]:8086/"),
            ("http://a:b@[::1]:8086", "http://***@[::1]:8086"),
            ("postgres://db:5432/x", "postgres://db:5432/x"),
            ("postgresql:bulk", "postgresql:bulk"),
        ] {
            assert_eq!(redact(given), expected);
        }
    }

    #[test]
    fn odd_passwords_do_not_leak() {
        for given in [
            "postgres://ann:p@ss@db/x",
            "postgres://ann:p/ss@db/x",
            "postgres://ann:p?s#s@db/x",
            "postgres://ann:p://s@db/x",
            "postgres://ann:p,ss=s@db/x",
            "postgres://ann:p,b=ss@db/x",
            "postgres://:ss@db/x",
            "postgres://ann:pässwörd@db/x",
        ] {
            assert_eq!(redact(given), "postgres://***@db/x", "{given}");
        }
    }

    #[test]
    fn lists_keep_each_host() {
        assert_eq!(
            redact("postgresql=postgres://a:b@h1/x,mariadb:bulk=mysql://c:d@h2/y,sqlite"),
            "postgresql=postgres://***@h1/x,mariadb:bulk=mysql://***@h2/y,sqlite"
        );
        assert_eq!(
            redact("postgresql#a=postgres://a:b@h1/x,postgresql#b:bulk=postgres://c:d@h2/y"),
            "postgresql#a=postgres://***@h1/x,postgresql#b:bulk=postgres://***@h2/y"
        );
        assert_eq!(redact("a://u:p@h1,b://v:q@h2"), "a://***@h2");
    }

    #[test]
    fn no_scheme_is_no_excuse() {
        assert_eq!(redact("ann:s3cret@db/x"), "***@db/x");
        assert_eq!(redact("mariadb=ann:s3cret@db/x"), "mariadb=***@db/x");
    }

    #[test]
    fn secret_keys_lose_their_values() {
        for (given, expected) in [
            ("http://h/?token=abc&org=x", "http://h/?token=***&org=x"),
            ("http://h/?org=x&password=a=b", "http://h/?org=x&password=***"),
            ("host=db user=ann password=x dbname=y", "host=db user=*** password=*** dbname=y"),
            ("Server=h;Pwd=a,b;Database=x", "Server=h;Pwd=***;Database=x"),
            ("PGPASSWORD=hush", "PGPASSWORD=***"),
            ("--influx-token=abc", "--influx-token=***"),
            ("--set influxdb.token=abc", "--set influxdb.token=***"),
            ("--set hosts=1000", "--set hosts=1000"),
            ("--keyspace=x", "--keyspace=x"),
            ("password=", "password="),
        ] {
            assert_eq!(redact(given), expected);
        }
    }

    #[test]
    fn values_in_the_next_argument_go_too() {
        let given = ["sensormark", "run", "--password", "hush", "--user", "ann", "--seed", "7"];
        let expected = ["sensormark", "run", "--password", "***", "--user", "***", "--seed", "7"];
        assert_eq!(redact_arguments(&given), expected);
        assert_eq!(redact_arguments(&["--token", "-x"]), ["--token", "***"]);
        let flag = ["--ask-password", "--seed", "7"];
        assert_eq!(redact_arguments(&flag), flag);
    }

    #[test]
    fn messages_keep_their_words() {
        assert_eq!(
            redact("cannot reach postgres://a:b@h/x: refused\nsee log"),
            "cannot reach postgres://***@h/x: refused\nsee log"
        );
        assert_eq!(redact(""), "");
        assert_eq!(redact("machine-tool"), "machine-tool");
    }
}
