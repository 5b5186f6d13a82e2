//! Where requests go: InfluxDB 1.8 has databases, InfluxDB 2 has buckets of an organisation, and Flux calls both buckets.
//!
//! InfluxQL and the answer to a ping are at the same place in both. It sends nothing.

use url::form_urlencoded::byte_serialize;

/// Where lines of points go.
pub(crate) fn write(organisation: Option<&str>, database: &str) -> String {
    organisation.map_or_else(
        || format!("/write?db={database}&precision=ns"),
        |organisation| format!("/api/v2/write?org={}&bucket={database}&precision=ns", encoded(organisation)),
    )
}

/// Where scripts of Flux go.
pub(crate) fn flux(organisation: Option<&str>) -> String {
    organisation.map_or_else(
        || "/api/v2/query".to_owned(),
        |organisation| format!("/api/v2/query?org={}", encoded(organisation)),
    )
}

/// What Flux calls a database.
pub(crate) fn bucket(organisation: Option<&str>, database: &str) -> String {
    if organisation.is_some() { database.to_owned() } else { format!("{database}/autogen") }
}

/// Where the organisation describes itself.
pub(crate) fn organisation(organisation: &str) -> String {
    format!("/api/v2/orgs?org={}", encoded(organisation))
}

/// Where up to a hundred of the organisation's buckets are listed, those with this name alone where there is one.
pub(crate) fn buckets(organisation: &str, name: Option<&str>, after: usize) -> String {
    let mut path = format!("/api/v2/buckets?org={}&limit=100&offset={after}", encoded(organisation));
    if let Some(name) = name {
        path.push_str("&name=");
        path.push_str(&encoded(name));
    }
    path
}

/// Where readings of a bucket are deleted.
pub(crate) fn delete(organisation: &str, bucket: &str) -> String {
    format!("/api/v2/delete?org={}&bucket={}", encoded(organisation), encoded(bucket))
}

/// A value as it stands in a URL's question, and in a form.
pub(crate) fn encoded(value: &str) -> String {
    let mut text = String::with_capacity(value.len() * 5 / 4);
    text.extend(byte_serialize(value.as_bytes()));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_a_form_as_its_standard_has_them() {
        assert_eq!(encoded("a-Z_9.* ~é&"), "a-Z_9.*+%7E%C3%A9%26");
    }

    #[test]
    fn buckets_stand_in_the_place_of_databases() {
        let organisation = "a & b";
        let some = Some(organisation);
        assert_eq!(write(None, "d"), "/write?db=d&precision=ns");
        assert_eq!(write(some, "d"), "/api/v2/write?org=a+%26+b&bucket=d&precision=ns");
        assert_eq!(flux(None), "/api/v2/query");
        assert_eq!(flux(some), "/api/v2/query?org=a+%26+b");
        assert_eq!(bucket(None, "d"), "d/autogen");
        assert_eq!(bucket(some, "d"), "d");
        assert_eq!(
            buckets(organisation, Some("d"), 200),
            "/api/v2/buckets?org=a+%26+b&limit=100&offset=200&name=d"
        );
        assert_eq!(delete(organisation, "d"), "/api/v2/delete?org=a+%26+b&bucket=d");
    }
}
