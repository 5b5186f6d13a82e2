//! What a study's file cannot say: a few words and cells, by their names.

use super::*;

/// Bytes of a raw sample of the machine tool: five channels of two bytes, and its time of twelve.
const RAW_BYTES: f64 = 22.0;

/// What a name in braces means here: `cut LOADS`, `why LOADS` (there is no figure) and `is CONDITION` of the row's implementation, `if CONDITION`, and words
/// of single workloads.
pub fn word(scope: &Scope<'_>, name: &str) -> Option<String> {
    let (function, rest) = name.split_once(' ').unwrap_or((name, ""));
    let field = scope.field;
    let arm = || scope.subject(IMPLEMENTATION);
    let values = || scope.values(rest, arm());
    let number = |name: &str| field.run.parameters.get(name)?.as_u64();
    match function {
        "cut" => Loads::parse(rest).cut(field, arm()?),
        "why" => Some(Loads::parse(rest).why_missing(field, arm()?)),
        "is" => place(arm()?, rest).map(|_| String::new()),
        "if" => scope.holds(rest).then(String::new),
        "id" => Some(rest.to_lowercase().replace('/', "").replace(' ', "_")),
        "capital" => rest.split_at_checked(1).map(|(first, rest)| first.to_uppercase() + rest),
        "shown" => Some(shown(&values())),
        "total" => Some(values().iter().flatten().sum::<f64>().to_string()),
        "count" => mean(&values()).map(|value| fixed(value, 0)),
        "value" => mean(&values()).map(|value| significant(value, 3)),
        "as-study" => field.run.as_study.then(String::new),
        "measured" => Some(
            field
                .trials
                .iter()
                .find_map(criteria::measured)
                .map_or_else(String::new, |one| format!(", we for {} s", fixed(one.seconds, 0))),
        ),
        "raw-rate" => {
            let samples = criteria::samples_per_second(&field.run).unwrap_or(1_000.0);
            Some((samples * RAW_BYTES / 1e3).to_string())
        }
        // Physical too where the run recorded no inventory of it.
        "machine" => {
            let is_virtual = inventory(field).is_some_and(|own| own.is_virtual());
            Some(if is_virtual { "virtual" } else { "physical" }.to_owned())
        }
        "surroundings" => Some(match inventory(field).map(|own| own.hypervisor.clone()) {
            None => "unknown: the run recorded no inventory of its machine".to_owned(),
            Some(Some(name)) => format!("a virtual machine ({name}), client and server on one"),
            Some(None) => "a physical machine, as far as it shows, client and server on one".to_owned(),
        }),
        "all-cut" => all(scope, rest, |arm, one, loads| {
            loads.cut(field, arm).map(|_| format!("{} ({one})", arm.label))
        }),
        "in-client" => all(scope, rest, |arm, _, loads| {
            let mut done = field.valid_of(arm).flat_map(|trial| loads.finished(trial));
            done.find_map(|load| load.client_side.as_ref()).map(|_| arm.label.clone())
        }),
        // Minutes, as a person says them.
        "span" => number(rest).map(|minutes| match minutes {
            minutes if minutes.is_multiple_of(60) => format!("{} h", minutes / 60),
            minutes => format!("{minutes} min"),
        }),
        "least" => Some(rest.split(' ').filter_map(number).min()?.to_string()),
        _ => None,
    }
}

/// What is said of implementations and loads (`LOADS, LOADS`), in one phrase; none where nothing is.
fn all(scope: &Scope<'_>, of: &str, say: impl Fn(&Arm, &str, Loads) -> Option<String>) -> Option<String> {
    let say = |arm| names(of).filter_map(|one| say(arm, one, Loads::parse(one))).collect_vec();
    let mut told = scope.arms().flat_map(say).collect_vec();
    told.dedup();
    (!told.is_empty()).then(|| listed(&told))
}

/// The cell of `exponent RANGE FIGURE`: the exponent e of figure ~ range^e between the least and the most of which it is known. None of other definitions.
pub fn exponent(scope: &Scope<'_>, definition: &str) -> Option<Cell> {
    let (range, figure) = definition.strip_prefix("exponent ")?.split_once(' ')?;
    let known = scope.range(range).into_iter().filter_map(|at| {
        let x = at.as_f64()?;
        let values = scope.with(range, at).values(figure, scope.subject(IMPLEMENTATION));
        Some((x, mean(&values)?))
    });
    Some(match known.collect_vec()[..] {
        [first, .., last] if first.1 > 0.0 => {
            let value = (last.1 / first.1).ln() / (last.0 / first.0).ln();
            Cell::Number(Number { value, spread: Spread::None, digits: Digits::Decimals(2) })
        }
        _ => Cell::missing("one span alone"),
    })
}
