//! Text broken into lines of a width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text in lines of at most `width`, broken at spaces, and within a word where it alone is too long.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(2);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for (word, is_new) in text.split(' ').flat_map(|word| pieces(word, width)) {
        let gap = usize::from(used > 0 && is_new);
        if used > 0 && used + gap + word.width() > width {
            lines.push(String::new());
            used = 0;
        } else if gap > 0 {
            lines.last_mut().expect("never empty").push(' ');
            used += gap;
        }
        for character in word.chars() {
            let wide = character.width().unwrap_or(0);
            if used + wide > width {
                lines.push(String::new());
                used = 0;
            }
            lines.last_mut().expect("never empty").push(character);
            used += wide;
        }
    }
    lines
}

/// The word, or where it alone is too long for a line, its parts up to each hyphen; and whether a space stands before it.
fn pieces(word: &str, width: usize) -> Vec<(&str, bool)> {
    if word.is_empty() {
        return vec![];
    }
    if word.width() <= width {
        return vec![(word, true)];
    }
    word.split_inclusive('-').enumerate().map(|(place, part)| (part, place == 0)).collect()
}
