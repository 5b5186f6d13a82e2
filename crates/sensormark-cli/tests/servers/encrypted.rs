//! TLS by URL on real servers. The certificates are of an authority of the test's own. One for the right name is taken; a wrong name and an expired certificate are refused.

use crate::existing_server::Running;
use crate::support::{Place, errors, missing, read_folder, said};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The settings of `openssl ca`, which makes certificates that have expired.
const SETTINGS: &str = "[ca]\ndefault_ca = own\n[own]\ndatabase = index.txt\nnew_certs_dir = .\nserial = serial\n\
    default_md = sha256\npolicy = any\nunique_subject = no\ncopy_extensions = copy\n[any]\ncommonName = supplied\n";
/// What servers run as where the test runs as root.
const NOBODY: u32 = 65_534;
const HERE: &str = "DNS:localhost,IP:127.0.0.1";
const ELSEWHERE: &str = "DNS:elsewhere.example";
const VALID: &str = "20991231235959Z";
const OVER: &str = "20210101000000Z";
/// How long the certificate of a server lives that does not start with one that has expired, in seconds.
const SHORT_LIFE: u64 = 15;

/// An authority in a folder of the test.
struct Authority(PathBuf);

/// The files of a certificate.
struct Certificate {
    certificate: PathBuf,
    key: PathBuf,
    /// Both in one.
    both: PathBuf,
}

impl Authority {
    fn new(place: &Place) -> Self {
        let folder = place.path().join("authority");
        std::fs::create_dir(&folder).expect("a folder");
        for (name, text) in [("ca.cnf", SETTINGS), ("index.txt", ""), ("serial", "01\n")] {
            std::fs::write(folder.join(name), text).expect("a file");
        }
        let authority = Self(folder);
        let own = "req -x509 -nodes -keyout ca.key -out ca.pem -days 30 -subj /CN=authority \
            -addext basicConstraints=critical,CA:TRUE -newkey ec -pkeyopt ec_paramgen_curve:prime256v1";
        authority.openssl(own);
        authority
    }

    fn openssl(&self, words: &str) {
        let mut command = Command::new("openssl");
        let command = command.args(words.split_whitespace()).current_dir(&self.0);
        let output = command.output().expect("openssl is there");
        assert!(output.status.success(), "{words}: {}", errors(&output));
    }

    /// The file that clients are given.
    fn file(&self) -> String {
        self.0.join("ca.pem").to_string_lossy().into_owned()
    }

    /// A certificate for these names that is valid from 2020 until `end`.
    fn certificate(&self, number: usize, names: &str, end: &str) -> Certificate {
        self.openssl(&format!(
            "req -nodes -keyout {number}.key -out {number}.csr -subj /CN=server -addext subjectAltName={names} \
             -newkey ec -pkeyopt ec_paramgen_curve:prime256v1"
        ));
        self.openssl(&format!(
            "ca -batch -config ca.cnf -cert ca.pem -keyfile ca.key -in {number}.csr -out {number}.pem -notext \
             -startdate 20200101000000Z -enddate {end}"
        ));
        let file = |ending: &str| self.0.join(format!("{number}.{ending}"));
        let made = Certificate { certificate: file("pem"), key: file("key"), both: file("both") };
        let read = |path: &Path| std::fs::read_to_string(path).expect("it was made");
        let text = read(&made.certificate) + &read(&made.key);
        std::fs::write(&made.both, text).expect("a file");
        for path in [&made.key, &made.both] {
            give(path);
        }
        made
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Gives a file or folder to the servers' user, who alone may read it.
pub fn give(path: &Path) {
    if is_root() {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).expect("root may do it");
    }
    let mode = if path.is_dir() { 0o700 } else { 0o600 };
    let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(path, mode).expect("it is ours");
}

/// A server that the test started itself.
pub struct Started(pub Child);

impl Drop for Started {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A command as the servers' user, with nothing of this environment but the path.
pub fn as_nobody(program: &Path, folder: &Path) -> Command {
    let mut command = match is_root() {
        true => {
            let mut command = Command::new("setpriv");
            let ids = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
            command.args(ids).args(["--clear-groups", "--"]).arg(program);
            command
        }
        false => Command::new(program),
    };
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", folder).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// The folder of a database's programs, as `doctor` says it.
pub fn programs(title: &str) -> PathBuf {
    let doctor = said(&Place::new().run(&["doctor"]));
    let mut lines = doctor.lines();
    let line = lines.find(|line| line.trim_start().starts_with(title));
    let path = line.and_then(|line| line.rsplit_once(", ")).map(|(_, path)| path);
    PathBuf::from(path.expect("a path").trim_end_matches(')'))
}

/// Looks into a server; whatever listens there has to come up first. On a busy machine Java takes minutes.
pub fn look(place: &Place, named: &str) -> Output {
    let deadline = Instant::now() + Duration::from_secs(240);
    loop {
        let output = place.run(&["clean", named, "--timeout", "3s"]);
        let text = errors(&output);
        let is_coming = text.contains("nobody listens") || text.contains("onnection refused");
        if !is_coming || Instant::now() > deadline {
            return output;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// The time in so many seconds, as openssl writes it.
fn time_in(seconds: u64) -> String {
    let mut date = Command::new("date");
    date.args(["-u", "-d", &format!("+{seconds} seconds"), "+%Y%m%d%H%M%SZ"]);
    let output = date.output().expect("date is there");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Tries the three certificates: `serve` has the server take one, `named` is `STORE=URL` with the authority's file.
fn try_all(
    place: &Place,
    authority: &Authority,
    mut serve: impl FnMut(&Certificate) -> Option<Started>,
    named: &str,
) {
    let refuses_old = named.starts_with("mongodb");
    let over = if refuses_old { String::new() } else { OVER.to_owned() };
    let cases = [
        (HERE, VALID, None),
        (ELSEWHERE, VALID, Some("not valid for")),
        (HERE, over.as_str(), Some("expired")),
    ];
    for (number, (names, end, problem)) in cases.into_iter().enumerate() {
        let made = match end {
            "" => authority.certificate(number, names, &time_in(SHORT_LIFE)),
            end => authority.certificate(number, names, end),
        };
        let _server = serve(&made);
        if end.is_empty() {
            std::thread::sleep(Duration::from_secs(SHORT_LIFE + 1));
        }
        let output = look(place, named);
        let text = said(&output);
        match problem {
            None => assert!(output.status.success(), "{named}: {text}"),
            Some(problem) => {
                assert!(!output.status.success(), "{named}: {text}");
                let text = text.to_lowercase();
                assert!(text.contains("certificate") && text.contains(problem), "{named}: {text}");
            }
        }
    }
}

fn no_openssl() -> Option<String> {
    let version = Command::new("openssl").arg("version").output();
    version.err().map(|error| format!("openssl, which makes certificates, is not here: {error}"))
}

/// Why a database's TLS cannot be tried here.
fn lacking(title: &str) -> Option<String> {
    missing(title).or_else(no_openssl)
}

pub fn postgresql() -> Option<String> {
    if let Some(reason) = lacking("PostgreSQL") {
        return Some(reason);
    }
    let place = Place::new();
    let (server, authority) = (Running::start(&place), Authority::new(&place));
    let mut serve = |made: &Certificate| {
        for (name, value) in [("ssl_cert_file", &made.certificate), ("ssl_key_file", &made.key)] {
            let value = value.display();
            server.sql("postgres", &format!("ALTER SYSTEM SET {name} = '{value}'"));
        }
        server.sql("postgres", "ALTER SYSTEM SET ssl = on");
        server.sql("postgres", "SELECT pg_reload_conf()");
        std::thread::sleep(Duration::from_millis(500));
        None
    };
    let url = server.url_of("postgres");
    let named = format!("postgresql={url}?sslmode=verify-full&sslrootcert={}", authority.file());
    try_all(&place, &authority, &mut serve, &named);
    // The authority is of the test's own, so the public ones do not know it.
    let output = look(&place, &format!("postgresql={url}?sslmode=verify-full"));
    assert!(!output.status.success() && said(&output).contains("sslrootcert"), "{}", said(&output));
    let named = format!("postgresql={url}?sslmode=verify-full&sslrootcert=/not/there.pem");
    assert!(said(&look(&place, &named)).contains("/not/there.pem"));
    // As PostgreSQL's manual makes one for itself, for another name than the URL's.
    authority.openssl(
        "req -new -x509 -days 365 -nodes -text -out server.crt -keyout server.key -subj /CN=dbhost.yourdomain.com",
    );
    let file = |name: &str| authority.0.join(name);
    give(&file("server.key"));
    let own = Certificate { certificate: file("server.crt"), key: file("server.key"), both: PathBuf::new() };
    serve(&own);
    let own = own.certificate.display();
    for (ending, words) in [
        (format!("verify-ca&sslrootcert={own}"), "nothing is left"),
        (format!("verify-full&sslrootcert={own}"), "certificate"),
        ("verify-ca".to_owned(), "sslrootcert names"),
        ("require".to_owned(), "nothing is left"),
    ] {
        let text = said(&look(&place, &format!("postgresql={url}?sslmode={ending}")));
        assert!(text.contains(words), "{ending}: {text}");
    }
    None
}

/// A folder for a server's data.
pub fn data(place: &Place) -> PathBuf {
    let folder = place.path().join("data");
    std::fs::create_dir(&folder).expect("a folder");
    give(&folder);
    folder
}

pub fn mariadb() -> Option<String> {
    if let Some(reason) = lacking("MariaDB") {
        return Some(reason);
    }
    let place = Place::new();
    let (folder, authority, port) = (data(&place), Authority::new(&place), free_port());
    let at = format!("--datadir={}", folder.display());
    let common = ["--no-defaults", at.as_str()];
    let mut install = as_nobody(Path::new("mariadb-install-db"), &folder);
    let installed = install.args(common).arg("--skip-test-db").status();
    assert!(installed.expect("it is there").success());
    let program = programs("MariaDB").join("mariadbd");
    let serve = |made: &Certificate| {
        let mut server = as_nobody(&program, &folder);
        server.args(common).args(["--skip-grant-tables", "--bind-address=127.0.0.1"]);
        server.arg(format!("--port={port}")).arg("--socket=socket").arg("--skip-log-bin");
        server.arg(format!("--ssl-cert={}", made.certificate.display()));
        server.arg(format!("--ssl-key={}", made.key.display()));
        Some(Started(server.spawn().expect("it starts")))
    };
    let ending = format!("?ssl-mode=verify-identity&ssl-ca={}", authority.file());
    let named = format!("mariadb=mariadb://root:x@127.0.0.1:{port}/{ending}");
    try_all(&place, &authority, serve, &named);
    None
}

pub fn mongodb() -> Option<String> {
    if let Some(reason) = lacking("MongoDB") {
        return Some(reason);
    }
    let place = Place::new();
    let (folder, authority, port) = (data(&place), Authority::new(&place), free_port());
    let program = programs("MongoDB").join("mongod");
    let serve = |made: &Certificate| {
        let mut server = as_nobody(&program, &folder);
        server.args(["--bind_ip", "127.0.0.1", "--tlsMode", "requireTLS", "--nounixsocket"]);
        server.arg("--dbpath").arg(&folder).arg("--port").arg(port.to_string());
        server.arg("--tlsCertificateKeyFile").arg(&made.both);
        server.args(["--tlsCAFile", &authority.file(), "--tlsAllowConnectionsWithoutCertificates"]);
        Some(Started(server.spawn().expect("it starts")))
    };
    let ending = format!("?tls=true&tlsCAFile={}", authority.file());
    try_all(&place, &authority, serve, &format!("mongodb=mongodb://127.0.0.1:{port}/{ending}"));
    None
}

pub fn influxdb() -> Option<String> {
    if let Some(reason) = lacking("InfluxDB") {
        return Some(reason);
    }
    let place = Place::new();
    let (folder, authority, port) = (data(&place), Authority::new(&place), free_port());
    let (program, other) = (programs("InfluxDB").join("influxd"), free_port());
    let serve = |made: &Certificate| {
        let mut server = as_nobody(&program, &folder);
        for name in ["META_DIR", "DATA_DIR", "DATA_WAL_DIR"] {
            server.env(format!("INFLUXDB_{name}"), folder.join(name));
        }
        server.env("INFLUXDB_REPORTING_DISABLED", "true");
        server.env("INFLUXDB_BIND_ADDRESS", format!("127.0.0.1:{other}"));
        server.env("INFLUXDB_HTTP_BIND_ADDRESS", format!("127.0.0.1:{port}"));
        server.env("INFLUXDB_HTTP_HTTPS_ENABLED", "true");
        server.env("INFLUXDB_HTTP_HTTPS_CERTIFICATE", &made.certificate);
        server.env("INFLUXDB_HTTP_HTTPS_PRIVATE_KEY", &made.key);
        // The program asks for a file even where the environment says all.
        server.args(["run", "-config", "/dev/null"]);
        Some(Started(server.spawn().expect("it starts")))
    };
    let named = format!("influxdb=https://127.0.0.1:{port}/?tls_ca={}", authority.file());
    try_all(&place, &authority, serve, &named);
    None
}

/// How a Cassandra is started: Java's command line, and the files that it names.
pub struct Cassandra {
    pub command: Vec<String>,
    pub configuration: String,
    /// The other files, which it takes as they are.
    pub files: [(&'static str, String); 2],
    pub port: u16,
}

impl Cassandra {
    /// As sensormark starts one, with `folder` in the place of its folder, and without accounts.
    pub fn learn(place: &Place, folder: &Path) -> Self {
        let start = ["servers", "start", "cassandra", "--server-memory", "384"];
        let started = place.run(&start);
        assert!(started.status.success(), "{}", errors(&started));
        let owners = read_folder(&place.path().join("state"));
        let mut owners = owners.iter().filter_map(|run| {
            let text = std::fs::read(run.join("sensormark-owner.json")).ok()?;
            serde_json::from_slice::<serde_json::Value>(&text).ok()
        });
        let process = owners.find_map(|owner| owner["server"]["pid"].as_u64());
        let line = format!("/proc/{}/cmdline", process.expect("a process"));
        let line = std::fs::read_to_string(line).expect("it runs");
        let root = line
            .split('\0')
            .find_map(|word| word.strip_prefix("-Dcassandra.storagedir="))
            .expect("its folder")
            .to_owned();
        let moved = |text: &str| text.replace(&root, &folder.to_string_lossy());
        let file = |name: &str| {
            let text = std::fs::read_to_string(Path::new(&root).join(name));
            moved(&text.expect("its file"))
        };
        let configuration = file("cassandra.yaml");
        let port = configuration
            .lines()
            .find_map(|line| line.strip_prefix("native_transport_port: "))
            .and_then(|port| port.parse().ok());
        let learnt = Self {
            command: line.split_terminator('\0').map(&moved).collect(),
            configuration: configuration.replace("PasswordAuthenticator", "AllowAllAuthenticator"),
            files: ["logback.xml", "jvm-server.options"].map(|name| (name, file(name))),
            port: port.expect("its port"),
        };
        let stopped = place.run(&["servers", "stop", "cassandra"]);
        assert!(stopped.status.success(), "{}", errors(&stopped));
        learnt
    }

    /// Starts it with a certificate for its clients, who have none.
    fn serve(&self, folder: &Path, authority: &Authority, made: &Certificate) -> Started {
        let (key, certificate) = (made.key.display(), made.certificate.display());
        let store = made.both.with_extension("p12");
        authority.openssl(&format!(
            "pkcs12 -export -in {certificate} -inkey {key} -out {} -passout pass:certificate",
            store.display()
        ));
        give(&store);
        let encryption = format!(
            "\nclient_encryption_options:\n  enabled: true\n  optional: false\n  keystore: {}\n  \
             keystore_password: certificate\n  store_type: PKCS12\n  require_client_auth: false\n",
            store.display()
        );
        let configuration = ("cassandra.yaml", self.configuration.clone() + &encryption);
        for (name, text) in self.files.iter().chain([&configuration]) {
            let path = folder.join(name);
            std::fs::write(&path, text).expect("a file");
            give(&path);
        }
        let (program, options) = self.command.split_first().expect("a program");
        let mut server = as_nobody(Path::new(program), folder);
        Started(server.args(options).spawn().expect("it starts"))
    }
}

pub fn cassandra() -> Option<String> {
    if let Some(reason) = lacking("Cassandra") {
        return Some(reason);
    }
    let place = Place::new();
    let (folder, authority) = (data(&place), Authority::new(&place));
    let server = Cassandra::learn(&place, &folder);
    let (port, file) = (server.port, authority.file());
    let at = |host: &str| format!("cassandra=cassandra://{host}:{port}/");
    let ending = format!("?tls=true&tls_ca={file}");
    let serve = |made: &Certificate| Some(server.serve(&folder, &authority, made));
    try_all(&place, &authority, serve, &(at("127.0.0.1") + &ending));
    // A certificate for a name alone is taken from whom the URL calls by it. The driver itself asks for one for the address.
    let made = authority.certificate(9, "DNS:localhost", VALID);
    let _server = server.serve(&folder, &authority, &made);
    let output = look(&place, &(at("localhost") + &ending));
    assert!(output.status.success(), "{}", said(&output));
    // The authority is of the test's own, so the public ones do not know it. Without TLS the connection breaks.
    for (named, problem) in [
        (at("127.0.0.1") + &ending, "not valid for"),
        (at("localhost") + "?tls=true", "tls_ca"),
        (at("localhost"), "tls=true"),
        (at("localhost") + "?tls=true&tls_ca=/not/there.pem", "/not/there.pem"),
    ] {
        let output = look(&place, &named);
        let text = said(&output);
        assert!(!output.status.success(), "{named}: {text}");
        assert!(text.contains(problem), "{named}: {text}");
    }
    None
}
