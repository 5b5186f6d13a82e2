//! Texts of statements: blanks, slots, several statements in one text.

use sensormark_drivers::pieces;

/// The parts of a text: quoted ones whole, slots (`:name`) whole, two colons together, and every other character by itself.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let behind = &rest[first.len_utf8()..];
        let length = match first {
            '\'' | '"' | '`' => behind.find(first).map_or(rest.len(), |end| end + 2),
            ':' if behind.starts_with(':') => 2,
            ':' if behind.starts_with(|letter: char| letter.is_ascii_lowercase()) => {
                let end = behind.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                end.map_or(rest.len(), |end| end + 1)
            }
            _ => first.len_utf8(),
        };
        let (part, more) = rest.split_at(length);
        rest = more;
        Some(part)
    })
}

/// One line; blanks only where they separate words, so that a template may be laid out as its reader likes.
pub fn tidy(text: &str) -> String {
    let (mut line, mut blank) = (String::new(), false);
    for part in parts(text) {
        if part.trim().is_empty() {
            blank = true;
            continue;
        }
        let separates = !part.starts_with([')', ',', ';']) && !line.is_empty() && !line.ends_with(['(', ' ']);
        if blank && separates {
            line.push(' ');
        }
        line.push_str(part);
        blank = part == ",";
    }
    line
}

/// The statements of a text, which semicolons separate.
pub fn statements(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for part in parts(text) {
        match all.last_mut() {
            Some(last) if part != ";" => last.push_str(part),
            _ => all.push(String::new()),
        }
    }
    let all = all.iter().map(|one| one.trim().to_owned());
    all.filter(|one| !one.is_empty()).collect()
}

/// A text with placeholders in place of its slots (`:name`), and the slots' names in the order of their numbers.
pub fn numbered(text: &str, style: &str) -> (String, Vec<String>) {
    let (mut out, mut names) = (String::with_capacity(text.len()), Vec::<String>::new());
    for part in parts(text) {
        let Some(name) = part.strip_prefix(':').filter(|name| !name.is_empty() && *name != ":") else {
            out.push_str(part);
            continue;
        };
        let known = names.iter().position(|known| known == name).filter(|_| style != "?");
        let number = known.unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        });
        out.push_str(&style.replace('1', &(number + 1).to_string()));
    }
    (out, names)
}

/// An INSERT of so many rows, made of one of a row, which ends with `VALUES (…)`: slots of further rows follow those of the first.
pub fn repeated(text: &str, slots: usize, style: &str, rows: usize) -> String {
    let Some((_, row)) = text.rsplit_once(" VALUES ").filter(|_| rows > 1) else {
        return text.to_owned();
    };
    let mut out = text.to_owned();
    for number in 1..rows {
        out.push_str(", ");
        for (slot, piece) in pieces(row) {
            if let Some(slot) = slot {
                out.push_str(&style.replace('1', &(slot + 1 + number * slots).to_string()));
            }
            out.push_str(piece);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_separate_words_and_quotes_keep_theirs() {
        assert_eq!(
            tidy("SELECT  a ,b\n FROM ( SELECT 'x  ,( y' ) q ;"),
            "SELECT a, b FROM (SELECT 'x  ,( y') q;"
        );
        assert_eq!(tidy(" f(a,\n  \"b  c\")"), "f(a, \"b  c\")");
    }

    #[test]
    fn slots_get_numbers_and_casts_and_quotes_are_no_slots() {
        let text = "SELECT ':a' FROM t WHERE x = :b AND y = :a::int4 AND z = :b";
        let names = ["b".to_owned(), "a".to_owned()];
        assert_eq!(
            numbered(text, "$1"),
            ("SELECT ':a' FROM t WHERE x = $1 AND y = $2::int4 AND z = $1".to_owned(), names.to_vec())
        );
        assert_eq!(numbered("a = :x, b = :x", "?").0, "a = ?, b = ?");
        assert_eq!(numbered("a = :x, b = :x", "?").1.len(), 2);
    }

    #[test]
    fn rows_are_repeated_with_slots_of_their_own() {
        assert_eq!(
            repeated("INSERT INTO t (a, b) VALUES (?1, 0, ?2)", 2, "?1", 3),
            "INSERT INTO t (a, b) VALUES (?1, 0, ?2), (?3, 0, ?4), (?5, 0, ?6)"
        );
    }

    #[test]
    fn statements_end_at_semicolons_outside_of_quotes() {
        assert_eq!(statements("a 'x;y'; b; "), ["a 'x;y'", "b"]);
    }
}
