//! `sensormark serve`: the pages of many runs, on loopback only. It reads results and writes nothing.

use crate::arguments::ServeArguments;
use crate::failure::Failure;
use crate::report::runs;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use sensormark::measurement::ResultsFolder;
use sensormark::report::compare::Comparison;
use sensormark::report::field::Field;
use sensormark::report::html::index::{self, Entry};
use sensormark::report::{Report, ReportError, ReportOptions, html};
use std::cmp::Reverse;
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use tokio::net::TcpListener;

/// The smallest change that a comparison's page counts: 2 %.
const THRESHOLD: f64 = 0.02;

/// A page, or why there is none.
type Answer = Result<String, (StatusCode, String)>;

/// Serves until it is broken off.
pub fn serve(arguments: &ServeArguments) -> Result<ExitCode, Failure> {
    let listed = newest_first(runs(&arguments.results)?);
    let runtime = sensormark_server::runtime().map_err(Failure::input_output)?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, arguments.port)).await.map_err(|error| {
            Failure::usage(format!(
                "cannot listen on port {} of loopback: {error}; try --port 0, which takes a free one",
                arguments.port
            ))
        })?;
        let address = listener.local_addr().map_err(Failure::usage)?;
        crate::output::line(format_args!(
            "{} runs on http://{address}/ (Ctrl-C ends it)",
            listed.runs.len()
        ))?;
        let listed: &'static Listed = Box::leak(Box::new(listed));
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                continue;
            };
            let service = service_fn(move |request| async move {
                Ok::<_, Infallible>(respond(listed, address.port(), &request))
            });
            let connection = hyper::server::conn::http1::Builder::new();
            let served = connection.serve_connection(TokioIo::new(stream), service);
            tokio::spawn(served);
        }
    })
}

fn respond<B>(listed: &Listed, port: u16, request: &Request<B>) -> Response<Full<Bytes>> {
    let answer = if !is_ours(request, port) {
        Err((StatusCode::FORBIDDEN, "this server answers to its own address alone".to_owned()))
    } else if request.method() != Method::GET && request.method() != Method::HEAD {
        Err((StatusCode::METHOD_NOT_ALLOWED, "pages are only read".to_owned()))
    } else {
        page(listed, request.uri().path(), request.uri().query())
    };
    let (status, text) = match answer {
        Ok(page) => (StatusCode::OK, page),
        Err((status, why)) => (status, index::refusal(&why)),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    headers.insert(CONTENT_TYPE, kind);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Whether the browser meant this server: a foreign name that leads to loopback must not read results.
fn is_ours<B>(request: &Request<B>, port: u16) -> bool {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let own = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    host.is_some_and(|host| own.iter().any(|name| name == host))
}

fn page(listed: &Listed, path: &str, query: Option<&str>) -> Answer {
    let runs = &listed.runs;
    if path == "/" {
        return Ok(listed.list().to_owned());
    }
    if path == "/compare" {
        return comparison(runs, query.unwrap_or_default());
    }
    let place = path.strip_prefix("/runs/").unwrap_or_default();
    let folder = ResultsFolder::open(find(runs, place)?).map_err(unreadable)?;
    let report = Report::from_folder(&folder, &ReportOptions::default()).map_err(unreadable)?;
    Ok(report.html(Some(&folder)))
}

fn comparison(runs: &[PathBuf], query: &str) -> Answer {
    let chosen = |side: &str| {
        let mut pairs = url::form_urlencoded::parse(query.as_bytes());
        let place = pairs.find(|(name, _)| name == side);
        let place = place.map(|(_, value)| value.into_owned()).unwrap_or_default();
        let folder = ResultsFolder::open(find(runs, &place)?).map_err(unreadable)?;
        let run = folder.run().map_err(unreadable)?;
        Ok::<_, (StatusCode, String)>(Field::new(run, folder.trials().map_err(unreadable)?))
    };
    let compared = Comparison::new(&chosen("first")?, &chosen("second")?, THRESHOLD);
    let compared = compared.map_err(unreadable)?;
    Ok(html::render_document(compared.document(), compared.headline()))
}

fn find<'a>(runs: &'a [PathBuf], place: &str) -> Result<&'a Path, (StatusCode, String)> {
    let found = place.parse::<usize>().ok().and_then(|place| runs.get(place));
    let missing = || (StatusCode::NOT_FOUND, "there is no such page; / lists the runs".to_owned());
    found.map(PathBuf::as_path).ok_or_else(missing)
}

fn unreadable(error: impl std::fmt::Display) -> (StatusCode, String) {
    (StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
}

/// Runs in the order in which they are listed, and the list, once somebody has asked for it.
struct Listed {
    runs: Vec<PathBuf>,
    list: OnceLock<String>,
}

impl Listed {
    /// The list, which shows what each run came to: that takes a while, so it is made once.
    fn list(&self) -> &str {
        self.list.get_or_init(|| {
            let entries: Vec<Entry> = self.runs.iter().map(|run| entry(run)).collect();
            index::render(&entries)
        })
    }
}

/// The newest first, then what cannot be read.
fn newest_first(mut runs: Vec<PathBuf>) -> Listed {
    runs.sort_by_cached_key(|path| {
        let run = ResultsFolder::open(path).and_then(|folder| folder.run());
        (Reverse(run.ok().map(|run| run.started)), path.clone())
    });
    Listed { runs, list: OnceLock::new() }
}

fn entry(path: &Path) -> Entry {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let read = || {
        let folder = ResultsFolder::open(path)?;
        let report = Report::from_folder(&folder, &ReportOptions::default())?;
        Ok::<_, ReportError>((report.field().run.clone(), report.summary()))
    };
    Entry { run: read().map_err(|error| error.to_string()), name: name.to_string_lossy().into_owned() }
}
