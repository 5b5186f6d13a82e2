//! What is asked of an InfluxDB 2, request by request, as its documentation has it: paths, headers and bodies.
//!
//! A listener keeps what it is sent and gives the documented answers. It shows that requests are as documented, not that a server takes them.

use crate::Influxdb;
use crate::config::Options;
use crate::schema::PhysicalSchema;
use sensormark_kit::BackendAdministrator;
use sensormark_store::{
    Answer, Ask, Batch, DatabaseName, Durability, Field, FieldSet, FieldType, Layout, Plan, Query, Schema,
    Secret, Selection, Series, Store, Table, Tag, TagColumn, TimeRange, TimeResolution, Value,
};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;

/// A request: its first line, what it says of who asks, and its body.
#[derive(Debug)]
struct Request {
    line: String,
    authorization: String,
    body: String,
}

/// Gives these answers to the requests of one connection, and keeps the requests.
fn listen(answers: &'static [(u16, &'static str)]) -> (u16, JoinHandle<Vec<Request>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let kept = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut requests = Vec::new();
        for (status, answer) in answers {
            requests.push(receive(&mut reader));
            let length = answer.len();
            write!(stream, "HTTP/1.1 {status} As documented\r\ncontent-length: {length}\r\n\r\n{answer}")
                .unwrap();
        }
        requests
    });
    (port, kept)
}

fn receive(reader: &mut BufReader<std::net::TcpStream>) -> Request {
    let mut request = Request { line: String::new(), authorization: String::new(), body: String::new() };
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
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
    request
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
    layout.queries = sensormark_store::QueryStyle::SecondLanguage;
    Plan {
        endpoint: Options::parse(&url).unwrap().endpoint(&url),
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

/// The requests, each of which must bear the token.
fn lines(kept: JoinHandle<Vec<Request>>) -> Vec<(String, String)> {
    let requests = kept.join().unwrap();
    for request in &requests {
        assert_eq!(request.authorization, "Token t0ken", "{}", request.line);
    }
    let of = |request: Request| (request.line, request.body);
    requests.into_iter().map(of).collect()
}

#[test]
fn a_bucket_is_made_mapped_and_marked() {
    let (port, kept) = listen(&[
        (204, ""),
        (200, r#"{"buckets":[{"id":"01","name":"_monitoring"}]}"#),
        (200, r#"{"orgs":[{"id":"0a","name":"us"}]}"#),
        (201, r#"{"id":"0b","name":"sensormark_x"}"#),
        (200, r#"{"buckets":[{"id":"0b","name":"sensormark_x"}]}"#),
        (201, "{}"),
        (204, ""),
    ]);
    block_on(async {
        let plan = plan(port, "");
        let store = Influxdb::new();
        let mut administrator = store.administrator(&plan).await.unwrap();
        administrator.create().await.unwrap();
    });
    let requests = lines(kept);
    let firsts: Vec<&str> = requests.iter().map(|(line, _)| line.as_str()).collect();
    assert_eq!(
        firsts,
        [
            "GET /ping HTTP/1.1",
            "GET /api/v2/buckets?org=us&limit=100&offset=0 HTTP/1.1",
            "GET /api/v2/orgs?org=us HTTP/1.1",
            "POST /api/v2/buckets HTTP/1.1",
            "GET /api/v2/buckets?org=us&limit=100&offset=0&name=sensormark_x HTTP/1.1",
            "POST /api/v2/dbrps HTTP/1.1",
            "POST /api/v2/write?org=us&bucket=sensormark_x&precision=ns HTTP/1.1",
        ]
    );
    assert!(requests[3].1.contains(r#""orgID":"0a""#));
    assert!(requests[5].1.contains(r#""bucketID":"0b""#));
    assert_eq!(requests[6].1, "sensormark_owner mark=\"me\",name=\"sensormark_x\" 0\n");
}

#[test]
fn points_are_written_to_a_bucket_and_asked_of_it_in_flux() {
    let (port, kept) = listen(&[
        (204, ""),
        (
            200,
            ",result,table,_time,_field,_value\r\n,readings,0,1970-01-01T00:00:00.000000005Z,v,2.5\r\n\r\n",
        ),
    ]);
    let answer = block_on(async {
        let plan = plan(port, "");
        let store = Influxdb::new();
        let mut session = store.connect(&plan).await.unwrap();
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
    let requests = lines(kept);
    assert_eq!(
        requests[0],
        (
            "POST /api/v2/write?org=us&bucket=sensormark_x&precision=ns HTTP/1.1".to_owned(),
            "m,host=b v=2.5 5\n".to_owned()
        )
    );
    assert_eq!(requests[1].0, "POST /api/v2/query?org=us HTTP/1.1");
    // a range does not hold its stop there
    let script = r#"from(bucket: \"sensormark_x\") |> range(start: time(v: 0), stop: time(v: 10))"#;
    assert!(requests[1].1.contains(script), "{}", requests[1].1);
}

#[test]
fn a_bucket_that_is_given_is_emptied_and_stays() {
    let (port, kept) = listen(&[(204, ""), (204, ""), (204, "")]);
    block_on(async {
        let plan = plan(port, "?bucket=sensormark_q");
        let options = Options::parse(plan.endpoint.url.expose()).unwrap();
        let physical = Arc::new(PhysicalSchema::new(&plan.schema, plan.layout));
        let mut administrator =
            crate::admin::InfluxdbAdministrator::open(&options, plan, physical).await.unwrap();
        administrator.remove().await.unwrap();
    });
    let requests = lines(kept);
    for ((line, body), measurement) in requests.iter().skip(1).zip(["m", "sensormark_owner"]) {
        assert_eq!(line, "POST /api/v2/delete?org=us&bucket=sensormark_q HTTP/1.1");
        let predicate = format!(r#""predicate":"_measurement=\"{measurement}\"""#);
        assert!(body.contains(&predicate), "{body}");
    }
}

#[test]
fn a_token_shows_in_no_endpoint() {
    let plan = plan(1, "");
    assert!(!format!("{:?}", plan.endpoint).contains("t0ken"));
    assert_eq!(plan.endpoint.url, Secret::new("influxdb2://us:t0ken@127.0.0.1:1/"));
}
