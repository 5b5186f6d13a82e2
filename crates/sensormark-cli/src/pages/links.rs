//! Every link between pages leads to a file that is there, and to a heading that it has; the site has all pages but contributors' notes, and leads to
//! nothing outside of it.

use super::{Page, all, parse, root};
use pulldown_cmark::{Event, Tag, TagEnd};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// What a page links to and shows, but for other sites.
fn targets(text: &str) -> Vec<String> {
    let targets = parse(text).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url),
        _ => None,
    });
    let local = |target: &String| !target.contains("://") && !target.starts_with("mailto:");
    targets.map(|target| target.to_string()).filter(local).collect()
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut times: HashMap<String, usize> = HashMap::new();
    let mut heading: Option<String> = None;
    for event in parse(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let anchor = anchor(&heading.take().unwrap_or_default());
                let before = times.entry(anchor.clone()).or_default();
                found.insert(match before {
                    0 => anchor,
                    _ => format!("{anchor}-{before}"),
                });
                *before += 1;
            }
            _ => {}
        }
    }
    found
}

fn anchor(heading: &str) -> String {
    let letters = heading.trim().chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ => letter.is_alphanumeric().then(|| letter.to_ascii_lowercase()),
    });
    letters.collect()
}

/// What is wrong with a link, if anything.
fn fault(page: &Page, target: &str, site: &Path) -> Option<String> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let full = match path {
        "" => page.path.clone(),
        _ => page.path.parent()?.join(path),
    };
    let Ok(full) = full.canonicalize() else {
        return Some("there is no such file".to_owned());
    };
    if page.path.starts_with(site) && !full.starts_with(site) {
        return Some("it leads out of docs/, which is not on the site; name the path instead".to_owned());
    }
    let notes = site.join("notes");
    if page.path.starts_with(site) && !page.path.starts_with(&notes) && full.starts_with(&notes) {
        return Some("notes are for contributors and not on the site; name the path instead".to_owned());
    }
    let is_summary = page.path == site.join("SUMMARY.md");
    if page.path.starts_with(site) && !is_summary && full.ends_with("README.md") {
        return Some(
            "mdBook makes index.html of a README.md and leaves this link; link to another page".to_owned(),
        );
    }
    let is_page = full.extension().is_some_and(|ending| ending == "md");
    if anchor.is_empty() || !is_page {
        return None;
    }
    let text = std::fs::read_to_string(&full).ok()?;
    (!anchors(&text).contains(anchor)).then(|| "the page has no such heading".to_owned())
}

#[test]
fn every_link_leads_somewhere() {
    let site = root().join("docs");
    let (mut tried, mut faults) = (0, Vec::new());
    for page in all() {
        for target in targets(&page.text) {
            tried += 1;
            if let Some(fault) = fault(&page, &target, &site) {
                faults.push(format!("{}: {target}: {fault}", page.path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(tried >= 150, "{tried}");
}

#[test]
fn the_contents_of_the_site_name_every_page_once() {
    let site = root().join("docs");
    let summary = super::page(site.join("SUMMARY.md"));
    let named: Vec<PathBuf> = targets(&summary.text).into_iter().map(|target| site.join(target)).collect();
    let once: HashSet<&PathBuf> = named.iter().collect();
    assert_eq!(once.len(), named.len(), "a page is named twice: {named:?}");
    let notes = site.join("notes");
    for page in super::below(&site) {
        assert!(
            page.path == summary.path || page.path.starts_with(&notes) || once.contains(&page.path),
            "docs/SUMMARY.md does not name {}",
            page.path.display()
        );
    }
}

#[test]
fn every_note_begins_with_its_date() {
    let notes = super::below(&root().join("docs/notes"));
    assert!(notes.len() >= 3, "{}", notes.len());
    for note in notes {
        let mut lines = note.text.lines().skip(1).filter(|line| !line.is_empty());
        let is_dated = lines.next().is_some_and(|line| line.starts_with("Note of 20"));
        assert!(is_dated, "{}: begin with \"Note of\" and its date", note.path.display());
    }
}

#[test]
fn faults_of_links_are_found() {
    let site = root().join("docs");
    let text = "# One `two`\n\n## Size of a write\n\n## Size of a write\n\n[a](#one-two) | `[b](c)`\n";
    let page = Page { path: site.join("SUMMARY.md"), text: text.to_owned() };
    let mut found: Vec<String> = anchors(text).into_iter().collect();
    found.sort();
    assert_eq!(found, ["one-two", "size-of-a-write", "size-of-a-write-1"]);
    assert_eq!(targets(text), ["#one-two"]);
    assert!(fault(&page, "absent.md", &site).is_some());
    assert!(fault(&page, "#absent", &site).is_some());
    assert!(fault(&page, "../README.md", &site).is_some());
    let other = Page { path: site.join("reference/commands.md"), text: String::new() };
    assert!(fault(&other, "../README.md", &site).is_some());
    assert!(fault(&other, "../notes/verification.md", &site).is_some());
    assert_eq!(fault(&page, "SUMMARY.md", &site), None);
}
