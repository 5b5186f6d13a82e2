//! What is asked of an InfluxDB 2, request by request, as its documentation has it: paths, headers and bodies.
//!
//! Listeners keep what they are sent and give the documented answers. This shows that requests are as documented, not that a server takes them.

use sensormark_store::{
    Answer, Ask, Batch, DatabaseName, Durability, Field, FieldSet, FieldType, Layout, Plan, Query,
    QueryStyle, Schema, Secret, Selection, Series, Store, Table, Tag, TagColumn, TimeRange, TimeResolution,
    Value,
};
use sensormark_stores::influxdb;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

/// A request: its first line, what it says of who asks, and its body.
#[derive(Debug)]
struct Request {
    line: String,
    authorization: String,
    body: String,
}

/// Answers each request of any connection with the first answer whose words begin the request's line, and keeps the requests until one comes that nothing answers.
fn listen(answers: &'static [(&'static str, u16, &'static str)]) -> (u16, JoinHandle<Vec<Request>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let kept = std::thread::spawn(move || {
        let mut requests = Vec::new();
        while let Ok((mut stream, _)) = listener.accept() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            while let Some(request) = receive(&mut reader) {
                if request.line.starts_with("END") {
                    return requests;
                }
                let found = answers.iter().find(|(begin, ..)| request.line.starts_with(begin));
                let (_, status, answer) = found.unwrap_or_else(|| panic!("nothing answers {request:?}"));
                let length = answer.len();
                write!(
                    stream,
                    "HTTP/1.1 {status} As documented\r\nx-influxdb-version: v2.7\r\ncontent-length: {length}\r\n\r\n{answer}"
                )
                .unwrap();
                requests.push(request);
            }
        }
        requests
    });
    (port, kept)
}

fn receive(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut request = Request { line: String::new(), authorization: String::new(), body: String::new() };
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        match line.split_once(": ") {
            Some(("authorization", value)) => request.authorization = value.to_owned(),
            Some(("content-length", value)) => length = value.parse().unwrap(),
            Some(_) => {}
            None => request.line = line.to_owned(),
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    request.body = String::from_utf8(body).unwrap();
    Some(request)
}

fn plan(port: u16, question: &str) -> Plan {
    let url = format!("influxdb2://us:t0ken@127.0.0.1:{port}/{question}");
    let table = Table {
        name: "m".to_owned(),
        tags: vec![Tag { name: "host".to_owned() }],
        fields: vec![Field { name: "v".to_owned(), kind: FieldType::F64, nullable: false }],
        entity: None,
        time_resolution: TimeResolution::Nanoseconds,
        series: Series::new(vec![TagColumn::Text(vec!["a".into(), "b".into()])]),
    };
    let mut layout = Layout::row_per_reading();
    layout.queries = QueryStyle::SecondLanguage;
    Plan {
        endpoint: influxdb().endpoint(&url).unwrap(),
        database: DatabaseName::new("x").unwrap(),
        owner: "me".to_owned(),
        schema: Arc::new(Schema { tables: vec![table] }),
        layout,
        durability: Durability::Default,
        clients: 1,
        timeout_ms: 5_000,
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

/// The requests but pings, each of which must bear the token.
fn lines(port: u16, kept: JoinHandle<Vec<Request>>) -> Vec<(String, String)> {
    TcpStream::connect(("127.0.0.1", port)).unwrap().write_all(b"END\r\n\r\n").unwrap();
    let mut requests = kept.join().unwrap();
    for request in &requests {
        assert_eq!(request.authorization, "Token t0ken", "{}", request.line);
    }
    requests.retain(|request| !request.line.starts_with("GET /ping"));
    requests.into_iter().map(|request| (request.line, request.body)).collect()
}

#[test]
fn a_bucket_is_made_mapped_and_marked() {
    let (port, kept) = listen(&[
        ("GET /ping", 204, ""),
        (
            "GET /api/v2/buckets?org=us&limit=100&offset=0 ",
            200,
            r#"{"buckets":[{"id":"01","name":"_monitoring"}]}"#,
        ),
        ("GET /api/v2/orgs", 200, r#"{"orgs":[{"id":"0a","name":"us"}]}"#),
        ("POST /api/v2/buckets", 201, r#"{"id":"0b","name":"sensormark_x"}"#),
        (
            "GET /api/v2/buckets?org=us&limit=100&offset=0&name=sensormark_x",
            200,
            r#"{"buckets":[{"id":"0b","name":"sensormark_x"}]}"#,
        ),
        ("POST /api/v2/dbrps", 201, "{}"),
        ("POST /api/v2/write", 204, ""),
    ]);
    block_on(async {
        let mut administrator = influxdb().administrator(&plan(port, "")).await.unwrap();
        administrator.create().await.unwrap();
    });
    let requests = lines(port, kept);
    let firsts: Vec<&str> = requests.iter().map(|(line, _)| line.as_str()).collect();
    assert_eq!(
        firsts,
        [
            "GET /api/v2/buckets?org=us&limit=100&offset=0 HTTP/1.1",
            "GET /api/v2/orgs?org=us HTTP/1.1",
            "POST /api/v2/buckets HTTP/1.1",
            "GET /api/v2/buckets?org=us&limit=100&offset=0&name=sensormark_x HTTP/1.1",
            "POST /api/v2/dbrps HTTP/1.1",
            "POST /api/v2/write?org=us&bucket=sensormark_x&precision=ns HTTP/1.1",
        ]
    );
    let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(
        parsed(&requests[2].1),
        parsed(
            r#"{"orgID":"0a","name":"sensormark_x","retentionRules":[{"type":"expire","everySeconds":0,"shardGroupDurationSeconds":604800}]}"#
        )
    );
    assert_eq!(
        parsed(&requests[4].1),
        parsed(
            r#"{"orgID":"0a","bucketID":"0b","database":"sensormark_x","retention_policy":"autogen","default":true}"#
        )
    );
    assert_eq!(requests[5].1, "sensormark_owner mark=\"me\",name=\"sensormark_x\" 0");
}

#[test]
fn points_are_written_to_a_bucket_and_asked_of_it_in_flux() {
    const FOUND: &str =
        ",result,table,_time,_field,_value\r\n,readings,0,1970-01-01T00:00:00.000000005Z,v,2.5\r\n\r\n";
    let (port, kept) = listen(&[
        ("POST /api/v2/write", 204, ""),
        ("POST /api/v2/query", 200, FOUND),
        ("GET /ping", 204, ""),
    ]);
    let answer = block_on(async {
        let plan = plan(port, "");
        let mut session = influxdb().connect(&plan).await.unwrap();
        let mut batch = Batch::new(0, &plan.schema.tables[0]);
        batch.times_ns.push(5);
        batch.series.push(1);
        batch.columns[0].push(Value::F64(2.5)).unwrap();
        let done = session.write(&batch).await.unwrap();
        assert_eq!(done.readings, 1);
        let query = Query {
            table: 0,
            series: Selection::One(1),
            range: TimeRange::new(0, 10),
            ask: Ask::Range { fields: FieldSet::one(0), coarse_filter: false },
        };
        session.query(&query).await.unwrap()
    });
    let Answer::Readings(found) = answer else { panic!("a range is answered by readings") };
    assert_eq!((found.times_ns, found.series), (vec![5], vec![1]));
    let requests = lines(port, kept);
    assert_eq!(
        requests[0],
        (
            "POST /api/v2/write?org=us&bucket=sensormark_x&precision=ns HTTP/1.1".to_owned(),
            "m,host=b v=2.5 5\n".to_owned()
        )
    );
    assert_eq!(requests[1].0, "POST /api/v2/query?org=us HTTP/1.1");
    // A range does not hold its stop there.
    let script = r#"from(bucket: \"sensormark_x\") |> range(start: time(v: 0), stop: time(v: 10))"#;
    assert!(requests[1].1.contains(script), "{}", requests[1].1);
}

#[test]
fn a_token_shows_in_no_endpoint() {
    let plan = plan(1, "");
    assert!(!format!("{:?}", plan.endpoint).contains("t0ken"));
    assert_eq!(plan.endpoint.url, Secret::new("influxdb2://us:t0ken@127.0.0.1:1/"));
}
