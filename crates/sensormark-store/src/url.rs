//! What URLs of databases have in common, whatever their scheme. Which parts one has is its store's matter.

/// Undoes the percent encoding of a part of a URL (RFC 3986, section 2.1).
///
/// # Errors
/// What is wrong: a percent sign without two hexadecimal digits after it, or bytes that are not UTF-8.
pub fn percent_decoded(text: &str) -> Result<String, &'static str> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let pair = digit().zip(digit());
        let byte = pair.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        bytes.push(byte.ok_or("a % is not followed by two hexadecimal digits")?);
    }
    String::from_utf8(bytes).map_err(|_| "a part of it, decoded, is not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::percent_decoded;

    #[test]
    fn percent_signs_become_bytes() {
        assert_eq!(percent_decoded("p%40s%c3%A9"), Ok("p@s\u{e9}".to_owned()));
        for wrong in ["%", "%4", "%4x", "%+1", "%ff"] {
            assert!(percent_decoded(wrong).is_err(), "{wrong}");
        }
    }
}
