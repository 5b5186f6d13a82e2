//! Making text from elsewhere harmless to whatever shows it. Each format does itself what it needs besides (quotes, pipes).

use std::fmt::Write;

/// The text with line ends and tabs as spaces. Every other control character, escape, direction mark and invisible character is spelled out (`\u{1b}`). So none
/// of them can move a cursor, change a colour, set a title, turn the reading direction or hide a difference between two names.
pub fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\n' | '\r' | '\t') {
            clean.push(' ');
        } else if is_treacherous(character) {
            write!(clean, "\\u{{{:x}}}", u32::from(character)).expect("writing to memory");
        } else {
            clean.push(character);
        }
    }
    clean
}

/// Control characters of both sets, and format characters that are invisible or turn the reading direction.
fn is_treacherous(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn what_moves_hides_or_turns_is_spelled_out() {
        assert_eq!(clean("a\x1b[31mb\x07"), "a\\u{1b}[31mb\\u{7}");
        assert_eq!(clean("a\u{9b}31m\u{7f}"), "a\\u{9b}31m\\u{7f}");
        assert_eq!(clean("\u{202e}evil\u{200b}"), "\\u{202e}evil\\u{200b}");
        assert_eq!(clean("two\nlines\there"), "two lines here");
        assert_eq!(clean("Größe → 3 µs, –"), "Größe → 3 µs, –");
    }
}
