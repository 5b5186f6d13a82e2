//! Texts of statements: blanks, slots, several statements in one text.

/// Calls for each piece of a text: outside of quotes character by character, quoted pieces whole.
fn pieces(text: &str, mut outside: impl FnMut(char), mut quoted: impl FnMut(&str)) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if matches!(first, '\'' | '"' | '`') {
            let end = rest[1..].find(first).map_or(rest.len(), |end| end + 2);
            quoted(&rest[..end]);
            end
        } else {
            outside(first);
            first.len_utf8()
        };
        rest = &rest[length..];
    }
}

/// One line; blanks only where they separate words, so that a template may be laid out as its reader likes.
pub fn tidy(text: &str) -> String {
    #[derive(Default)]
    struct Line {
        text: String,
        blank: bool,
    }
    impl Line {
        fn push(&mut self, next: &str) {
            let closes = next.starts_with([')', ',', ';']);
            let wants = std::mem::take(&mut self.blank) && !closes && !self.text.is_empty();
            if wants && !self.text.ends_with(['(', ' ']) {
                self.text.push(' ');
            }
            self.text.push_str(next);
            self.blank |= next == ",";
        }
    }
    let line = std::cell::RefCell::new(Line::default());
    pieces(
        text,
        |letter| {
            let mut line = line.borrow_mut();
            if letter.is_whitespace() {
                line.blank = true;
            } else {
                line.push(letter.encode_utf8(&mut [0; 4]));
            }
        },
        |quoted| line.borrow_mut().push(quoted),
    );
    line.into_inner().text
}

/// The statements of a text, which semicolons separate.
pub fn statements(text: &str) -> Vec<String> {
    let all = std::cell::RefCell::new(vec![String::new()]);
    let push = |piece: &str| {
        if let Some(last) = all.borrow_mut().last_mut() {
            last.push_str(piece);
        }
    };
    pieces(
        text,
        |letter| match letter {
            ';' => all.borrow_mut().push(String::new()),
            _ => push(letter.encode_utf8(&mut [0; 4])),
        },
        push,
    );
    let all = all.into_inner().into_iter().map(|one| one.trim().to_owned());
    all.filter(|one| !one.is_empty()).collect()
}

/// A text with placeholders in place of its slots (`:name`), and the slots' names in the order of their numbers.
pub fn numbered(text: &str, style: &str) -> (String, Vec<String>) {
    let (mut out, mut names) = (String::with_capacity(text.len()), Vec::<String>::new());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        let name = &rest[1.min(rest.len())..];
        if matches!(first, '\'' | '"' | '`') {
            length = rest[1..].find(first).map_or(rest.len(), |end| end + 2);
            out.push_str(&rest[..length]);
        } else if first == ':'
            && name.starts_with(|letter: char| letter.is_ascii_lowercase())
            && !out.ends_with(':')
        {
            let end = name.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            let name = &name[..end.unwrap_or(name.len())];
            let known = names.iter().position(|known| known == name).filter(|_| style != "?");
            let number = known.unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
            if style == "?" {
                out.push('?');
            } else {
                out.push_str(&style.replace('1', &(number + 1).to_string()));
            }
            length = name.len() + 1;
        } else {
            out.push(first);
        }
        rest = &rest[length..];
    }
    (out, names)
}

/// An INSERT of so many rows, made of one of a row, which ends with `VALUES (…)`: slots of further rows follow those of the first.
pub fn repeated(text: &str, slots: usize, style: &str, rows: usize) -> String {
    let Some((head, row)) = text.rsplit_once(" VALUES ") else {
        return text.to_owned();
    };
    let sign = style.chars().next().unwrap_or('?');
    let mut out = format!("{head} VALUES {row}");
    for number in 1..rows {
        out.push_str(", ");
        let mut rest = row;
        while let Some(place) = rest.find(sign).filter(|_| style != "?") {
            let digits = rest[place + 1..].find(|letter: char| !letter.is_ascii_digit());
            let end = digits.map_or(rest.len(), |digits| place + 1 + digits);
            let slot: usize = rest[place + 1..end].parse().unwrap_or(0);
            out.push_str(&rest[..=place]);
            out.push_str(&(slot + number * slots).to_string());
            rest = &rest[end..];
        }
        out.push_str(rest);
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
