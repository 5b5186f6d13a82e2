//! Requirements in words: what a limit is about, what was wanted, and the answer in sentences.

use super::answer::{LayoutAnswer, Requirements, Standing};
use crate::prelude::*;

/// Layouts that are named in one sentence; of more only how many.
const MOST_NAMED: usize = 3;
/// What is met where more data decides the rest.
const ALL_DECIDED: &str = "all that could be decided";
/// Figures that a busy machine does not move.
const STEADY: [&str; 7] = ["lost", "duplicated", "altered", "wrong answers", "disk", DISK_FOR, "memory"];

/// What a limit is about, its sign, and its bound.
fn parts(limit: &LimitRecord) -> Option<(&str, &str, &str)> {
    let text = limit.text.as_str();
    let is_sign = |one: char| matches!(one, '<' | '>' | '=');
    let start = text.find(is_sign)?;
    let rest = &text[start..];
    let length = rest.find(|one| !is_sign(one)).unwrap_or(rest.len());
    Some((text[..start].trim(), &rest[..length], rest[length..].trim()))
}

/// The time in `disk for 90d < 100 GB`.
pub fn time_of(limit: &LimitRecord) -> &str {
    parts(limit).map_or("", |(about, ..)| about).strip_prefix(DISK_FOR).unwrap_or("").trim()
}

/// Whether a busy machine makes the figure worse.
pub fn is_moved(limit: &LimitRecord) -> bool {
    let about = parts(limit).map_or(limit.text.as_str(), |(about, ..)| about);
    !STEADY.iter().any(|steady| about.starts_with(steady))
}

/// What is missed: "misses p99 of dashboard (340 ms, wanted 100 ms)".
pub fn missed(limit: &LimitRecord) -> String {
    let words = &limit.words;
    match parts(limit) {
        None => format!("misses {} ({words})", limit.text),
        Some((about, sign, bound)) => {
            let wanted = match sign {
                ">=" => format!("at least {bound}"),
                ">" => format!("more than {bound}"),
                _ => bound.to_owned(),
            };
            if is_left_open(limit) {
                format!("{about} is undecided: {words}")
            } else if limit.measured.is_none() && limit.is_undecided {
                format!("{about} is open ({words}, wanted {wanted})")
            } else {
                format!("misses {about} ({words}, wanted {wanted})")
            }
        }
    }
}

/// The whole answer.
pub fn sentences(requirements: &Requirements) -> Vec<String> {
    let layouts = &requirements.layouts;
    let of = |standing: Standing| -> Vec<&LayoutAnswer> {
        layouts.iter().filter(|one| one.standing() == standing).collect()
    };
    let (able, so_far) = (of(Standing::Meets), of(Standing::MeetsDecided));
    let undecided = of(Standing::Undecided);
    let is_open = !undecided.is_empty() || !so_far.is_empty();
    let decided = format!("{}.", who(requirements, &able, is_open));
    let open = || {
        let who = named(requirements, &so_far, "meet", ALL_DECIDED);
        // What nothing of this size decides, each once.
        let open = each_once(so_far.iter().flat_map(|one| &one.reasons).map(String::as_str));
        format!("{who}; {}.", open.join("; "))
    };
    let (leading, first, second) = match (able.is_empty(), so_far.is_empty()) {
        (_, true) => (&able, decided, None),
        (true, false) => (&so_far, open(), None),
        (false, false) => (&able, decided, Some(open())),
    };
    let mut sentences = vec![first];
    if leading.len() > 1 {
        sentences.extend(cost(requirements));
    }
    sentences.extend(second);
    let told = |one: &&LayoutAnswer| !one.is_told_below;
    for one in of(Standing::Misses).into_iter().filter(told) {
        sentences.push(format!("{} {}.", one.label, reasons(&[one])));
    }
    let same = undecided
        .into_iter()
        .filter(told)
        .into_group_map_by(|one| one.reasons.first())
        .into_values()
        .sorted_by_key(|who| layouts.iter().position(|one| who[0].label == one.label));
    sentences.extend(same.map(|who| undecided_alike(&who)));
    let users = layouts.iter().filter_map(|one| Some(format!("{}: {}.", one.label, one.users.as_ref()?)));
    sentences.extend(users);
    sentences
}

/// Who meets all.
fn who(requirements: &Requirements, able: &[&LayoutAnswer], is_open: bool) -> String {
    let all = match requirements.count {
        1 => "the requirement".to_owned(),
        count => format!("all {count} requirements"),
    };
    let layouts = requirements.layouts.len();
    match able {
        [] if is_open => format!("No layout is known to meet {all}"),
        [] if layouts == 1 => format!("The layout does not meet {all}"),
        [] => format!("None of {layouts} layouts meets {all}"),
        [_] if layouts > 1 && !is_open => named(requirements, able, "alone meet", &all),
        _ => named(requirements, able, "meet", &all),
    }
}

/// Who of all layouts does it, by name where they are few.
fn named(requirements: &Requirements, who: &[&LayoutAnswer], does: &str, all: &str) -> String {
    let layouts = requirements.layouts.len();
    match who {
        [one] => format!("{} {does}s {all}{}", one.label, room(requirements, one)),
        several if several.len() <= MOST_NAMED => {
            format!("{} {does} {all}", listed(several.iter().map(|one| &one.label)))
        }
        several if several.len() == layouts => format!("All {layouts} layouts {does} {all}"),
        several => format!("{} of {layouts} layouts {does} {all}", several.len()),
    }
}

/// Who costs least of those that stand first.
fn cost(requirements: &Requirements) -> Option<String> {
    let with_room = |label: &String| {
        let room = requirements.of_layout(label).map_or_else(String::new, |one| room(requirements, one));
        format!("{label}{room}")
    };
    let named = requirements.cheapest.iter().map(with_room).collect_vec();
    let text = match named.as_slice() {
        [] => return None,
        [one] => format!("Of them {one} costs least"),
        _ => format!("Of them {} cost least and cannot be told apart", listed(&named)),
    };
    Some(match &requirements.cheapest_server {
        Some(server) => format!("{text}, of servers {}.", with_room(server)),
        None => format!("{text}."),
    })
}

/// " (23 times the rate, 4.1 GB for 90d)"; nothing where neither is known.
fn room(requirements: &Requirements, one: &LayoutAnswer) -> String {
    let mut parts = vec![];
    if let Some(headroom) = one.headroom {
        let at_least = if one.is_rough { "at least " } else { "" };
        let times = significant(headroom, 2);
        parts.push(format!("{at_least}{times} times the rate"));
    }
    if let (Some(bytes), Some(keep)) = (one.disk_bytes, &requirements.keep) {
        parts.push(format!("{} for {keep}", size_text(bytes)));
    }
    if parts.is_empty() {
        return String::new();
    }
    format!(" ({})", parts.join(", "))
}

/// Layouts that the same leaves undecided, by name where they are few.
fn undecided_alike(who: &[&LayoutAnswer]) -> String {
    let why = reasons(who);
    match who {
        [one] => format!("{} is undecided: {why}.", one.label),
        several if several.len() <= MOST_NAMED => {
            format!("{} are undecided: {why}.", listed(several.iter().map(|one| &one.label)))
        }
        several => format!("{} layouts are undecided: {why}.", several.len()),
    }
}

/// Why layouts do not meet all: the first reason, and how many more there are.
fn reasons(who: &[&LayoutAnswer]) -> String {
    let first = who[0].reasons.first().map_or("", String::as_str);
    let more = who.iter().map(|one| one.reasons.len().saturating_sub(1));
    match more.minmax().into_option() {
        None | Some((0, 0)) => first.to_owned(),
        Some((least, most)) if least == most => format!("{first}, and {most} more"),
        Some((_, most)) => format!("{first}, and up to {most} more"),
    }
}
