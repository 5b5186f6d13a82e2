//! A text between its numbered placeholders (`?1`, `$1`), and with values in their place.

use crate::Cell;

/// Each piece of the text, with the number of the slot before it, from 0 on; none before the first. Placeholders without a number count by place.
pub fn pieces(text: &str) -> impl Iterator<Item = (Option<usize>, &str)> + Clone {
    text.split(['?', '$']).enumerate().map(|(place, piece)| {
        let behind = piece.trim_start_matches(|letter: char| place > 0 && letter.is_ascii_digit());
        let number = piece[..piece.len() - behind.len()].parse().unwrap_or(place);
        (number.checked_sub(1), behind)
    })
}

/// Appends the text with values as SQL writes them.
pub fn put_literals<'a>(
    pieces: impl Iterator<Item = (Option<usize>, &'a str)>,
    cell: impl Fn(usize) -> Cell<'a>,
    out: &mut Vec<u8>,
) {
    for (slot, piece) in pieces {
        if let Some(slot) = slot {
            cell(slot).literal(out);
        }
        out.extend_from_slice(piece.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_cut_at_their_slots() {
        let text = "INSERT INTO t VALUES (?2, 0, ?1)";
        let cut: Vec<_> = pieces(text).collect();
        assert_eq!(cut, [(None, "INSERT INTO t VALUES ("), (Some(1), ", 0, "), (Some(0), ")")]);
        let mut out = Vec::new();
        put_literals(
            pieces(text),
            |slot| if slot == 0 { Cell::Text("it's") } else { Cell::F64(2.0) },
            &mut out,
        );
        assert_eq!(out, b"INSERT INTO t VALUES (2.0, 0, 'it''s')");
    }
}
