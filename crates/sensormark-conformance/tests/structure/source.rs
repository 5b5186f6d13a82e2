//! Source text as words: without comments, literals and what is compiled for tests alone.

/// A word of the source: an identifier, `::`, or one other character.
pub type Words = Vec<String>;

/// The words of a file without its tests.
pub fn words(text: &str) -> Words {
    without_tests(split(&without_literals(text)))
}

/// The text with a blank in place of each comment, string and character.
fn without_literals(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let length = literal(rest, out.chars().next_back());
        if length > 0 {
            out.push(' ');
        } else {
            out.push(first);
        }
        rest = &rest[length.max(first.len_utf8())..];
    }
    out
}

/// The bytes of the comment or literal at the beginning of this text; 0 where there is none.
fn literal(text: &str, before: Option<char>) -> usize {
    let until = |end: &str, from: usize| {
        text[from..]
            .find(end)
            .map_or(text.len(), |at| from + at + end.len())
    };
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return until("*/", 2);
    }
    let in_word = before.is_some_and(|character| character.is_alphanumeric() || character == '_');
    let raw = text.trim_start_matches('b').strip_prefix('r');
    if let Some(raw) = raw.filter(|_| !in_word) {
        let marks = raw.len() - raw.trim_start_matches('#').len();
        if raw[marks..].starts_with('"') {
            let start = text.len() - raw.len() + marks + 1;
            return until(&format!("\"{}", "#".repeat(marks)), start);
        }
    }
    match text.chars().next() {
        Some('"') => quoted(text, '"'),
        // A lifetime has no quote behind its first letter.
        Some('\'') if text[1..].starts_with('\\') || text[1..].chars().nth(1) == Some('\'') => {
            quoted(text, '\'')
        }
        _ => 0,
    }
}

/// The bytes of a literal between two of these quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (place, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return place + 1,
            _ => {}
        }
    }
    text.len()
}

fn split(code: &str) -> Words {
    let (mut words, mut rest) = (Words::new(), code.trim_start());
    while let Some(first) = rest.chars().next() {
        let is_part = |character: char| character.is_alphanumeric() || character == '_';
        let length = if is_part(first) {
            rest.find(|character| !is_part(character))
                .unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        words.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    words
}

/// Where the group ends that begins at this place, with one of `(`, `[` and `{`: behind its last word.
pub fn end_of_group(words: &[String], start: usize) -> usize {
    let mut depth = 0_usize;
    for (place, word) in words.iter().enumerate().skip(start) {
        match word.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return place + 1;
        }
    }
    words.len()
}

fn without_tests(words: Words) -> Words {
    let (mut kept, mut place) = (Words::new(), 0);
    while place < words.len() {
        let behind = if words[place] == "#" && words.get(place + 1).is_some_and(|next| next == "[")
        {
            end_of_group(&words, place + 1)
        } else {
            place
        };
        let attribute = &words[place..behind];
        let is_for_tests = attribute.get(2).is_some_and(|word| word == "cfg")
            && attribute.iter().any(|word| word == "test")
            && !attribute.iter().any(|word| word == "not");
        if is_for_tests {
            place = end_of_item(&words, behind);
        } else {
            kept.push(words[place].clone());
            place += 1;
        }
    }
    kept
}

/// Behind the item that begins here: its semicolon or its block.
fn end_of_item(words: &[String], mut place: usize) -> usize {
    while place < words.len() {
        match words[place].as_str() {
            ";" | "," => return place + 1,
            "{" => return end_of_group(words, place),
            "(" | "[" => place = end_of_group(words, place),
            _ => place += 1,
        }
    }
    place
}

#[test]
fn words_are_those_of_the_code_that_is_shipped() {
    let text = r##"
        //! crate::comment
        use crate::one; /* crate::two */
        const TEXT: &str = "crate::three \" crate::four";
        const RAW: &str = r#"crate::five"#;
        fn f<'a>(x: &'a str) -> char { if x == "" { '"' } else { '\'' } }
        #[cfg(test)]
        mod tests { use crate::six; }
        #[cfg(test)]
        mod pins;
        #[cfg(not(test))]
        use crate::seven;
    "##;
    let words = words(text).join(" ");
    let found: Vec<&str> = words.split("crate :: ").skip(1).collect();
    assert_eq!(found.len(), 2, "{words}");
    assert!(found[0].starts_with("one ;"), "{words}");
    assert!(found[1].starts_with("seven ;"), "{words}");
    assert!(!words.contains("pins"), "{words}");
}
