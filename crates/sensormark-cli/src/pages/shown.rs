//! What a page shows as commands: lines of its blocks, and code within its sentences.

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

/// The commands in a page's code blocks, up to their comment. Blocks that are marked as another language are left out, because they are files, or what
/// a program printed. A manifest's (yaml) are those that begin a line.
pub(super) fn lines(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_shell = false;
    for event in super::parse(page) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => is_shell = true,
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                is_shell = ["", "sh", "bash", "console", "yaml"].contains(&language.as_ref());
            }
            Event::End(TagEnd::CodeBlock) => is_shell = false,
            Event::Text(text) if is_shell => {
                let text = text.replace("\\\n", " ");
                found.extend(text.lines().flat_map(parts));
            }
            _ => {}
        }
    }
    found
}

/// The commands of a line, without its comment. Where input and output are is the shell's business.
fn parts(line: &str) -> Vec<String> {
    let line =
        [" #", " > ", " < ", " || "].iter().fold(line, |line, end| line.split(end).next().unwrap_or(line));
    let parts = line.split("&&").map(str::trim);
    parts.map(|part| part.strip_prefix("$ ").unwrap_or(part).to_owned()).collect()
}

/// Code within the sentences of a page.
pub(super) fn inline(page: &str) -> Vec<String> {
    let code = super::parse(page).filter_map(|event| match event {
        Event::Code(text) => Some(parts(&text)),
        _ => None,
    });
    code.flatten().collect()
}

/// Whether a word stands for something that the reader puts in: FILE, I/N, STORE,…
pub(super) fn is_placeholder(word: &str) -> bool {
    let is_capital =
        |part: &str| !part.is_empty() && part.chars().all(|one| one.is_ascii_uppercase() || one == '_');
    word.contains('…') || word.split(|one: char| !one.is_ascii_alphanumeric() && one != '_').any(is_capital)
}

#[test]
fn placeholders_are_told_from_words() {
    for word in ["FILE", "I/N", "STORE,…", "FILE.csv", "S"] {
        assert!(is_placeholder(word), "{word}");
    }
    for word in ["run", "--scale", "plant.toml", "60GB", "sqlite:bulk"] {
        assert!(!is_placeholder(word), "{word}");
    }
}
