//! Tests of the score as a whole, on fields small enough to compute by hand.

use super::*;

fn criterion(id: &str, side: Side, resource: Option<&str>, better: Better) -> Criterion {
    Criterion {
        id: id.into(),
        name: id.replace('_', " "),
        unit: "unit".into(),
        side,
        resource: resource.map(str::to_owned),
        better,
    }
}

fn implementation(name: &str, values: &[(&str, f64)]) -> Implementation {
    Implementation {
        name: name.into(),
        embedded: false,
        values: values.iter().map(|(id, value)| ((*id).to_owned(), *value)).collect(),
    }
}

fn criteria() -> Vec<Criterion> {
    vec![
        criterion("server_cpu", Side::Server, Some("cpu"), Better::Lower),
        criterion("client_cpu", Side::Client, Some("cpu"), Better::Lower),
        criterion("rate", Side::Infrastructure, None, Better::Higher),
        criterion("difficulty", Side::Subjective, None, Better::Lower),
    ]
}

fn weights(text: &str) -> Weights {
    Weights::from_toml(&format!("[write]\n{text}")).unwrap()
}

fn table(weights_text: &str, field: &[Implementation]) -> Table {
    prepare("write", &criteria(), &weights(weights_text), field, Options::default()).unwrap()
}

const WEIGHTS: &str = "server_cpu = 3\nclient_cpu = 1\nrate = 2\ndifficulty = 0";

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

/// a: 10/10·3 + 4/4·1 + (1/100)/(1/50)·2 = 3 + 1 + 1 = 5 of 6; b: 5/10·3 + 0 + 1·2 = 3.5 of 6.
#[test]
fn the_formula_by_hand() {
    let field = [
        implementation("a", &[("server_cpu", 10.0), ("client_cpu", 4.0), ("rate", 100.0)]),
        implementation("b", &[("server_cpu", 5.0), ("client_cpu", 0.0), ("rate", 50.0)]),
    ];
    let scores = table(WEIGHTS, &field).scores();
    near(scores[0], 100.0 / 6.0);
    near(scores[1], 250.0 / 6.0);
}

#[test]
fn a_criterion_that_is_zero_for_all_adds_nothing() {
    let field = [
        implementation("a", &[("server_cpu", 0.0), ("client_cpu", 4.0), ("rate", 1.0)]),
        implementation("b", &[("server_cpu", 0.0), ("client_cpu", 2.0), ("rate", 1.0)]),
    ];
    let scores = table(WEIGHTS, &field).scores();
    near(scores[0], 50.0);
    near(scores[1], (1.0 - 2.5 / 6.0) * 100.0);
}

#[test]
fn a_missing_criterion_is_no_score_and_no_part_of_the_maxima() {
    let field = [
        implementation("a", &[("server_cpu", 10.0), ("client_cpu", 4.0), ("rate", 1.0)]),
        implementation("remote", &[("client_cpu", 1_000.0), ("rate", 1.0)]),
        implementation("stalled", &[("server_cpu", 1.0), ("client_cpu", 1.0), ("rate", 0.0)]),
    ];
    let table = table(WEIGHTS, &field);
    assert_eq!(table.rows.len(), 1);
    near(table.scores()[0], 0.0);
    assert_eq!(table.unscored[0].name, "remote");
    assert_eq!(table.unscored[0].reason, "server cpu was not measured");
    assert!(table.unscored[1].reason.contains("no cost"), "{:?}", table.unscored[1]);
}

#[test]
fn difficulty_counts_only_where_every_scored_implementation_has_one() {
    let text = "server_cpu = 1\nclient_cpu = 0\nrate = 0\ndifficulty = 1";
    let with = implementation("a", &[("server_cpu", 10.0), ("difficulty", 5.0)]);
    let easy = implementation("b", &[("server_cpu", 10.0), ("difficulty", 1.0)]);
    let without = implementation("c", &[("server_cpu", 5.0)]);
    let both = table(text, &[with.clone(), easy.clone()]);
    near(both.scores()[1], 40.0);
    let divisor_only = Options { subjective: SubjectiveTerm::InDivisorOnly };
    let divisor = prepare("write", &criteria(), &weights(text), &[with.clone(), easy], divisor_only).unwrap();
    near(divisor.scores()[1], 50.0);
    let mixed = table(text, &[with, without]);
    assert_eq!(mixed.columns.len(), 1);
    near(mixed.scores()[1], 50.0);
    assert_eq!(mixed.notes, ["difficulty is left out for all: c has none."]);
}

#[test]
fn an_embedded_store_adds_up_client_and_server_for_all() {
    let mut embedded = implementation("embedded", &[("client_cpu", 12.0), ("rate", 1.0)]);
    embedded.embedded = true;
    let field =
        [implementation("server", &[("server_cpu", 10.0), ("client_cpu", 6.0), ("rate", 1.0)]), embedded];
    let table = table(WEIGHTS, &field);
    let columns: Vec<(&str, f64)> = table.columns.iter().map(|c| (c.id.as_str(), c.weight)).collect();
    assert_eq!(columns, [("cpu", 4.0), ("rate", 2.0)]);
    assert_eq!(table.rows[0].costs, [16.0, 1.0]);
    assert_eq!(table.rows[1].costs, [12.0, 1.0]);
    assert!(table.notes[0].contains("embedded"));
}

#[test]
fn an_embedded_store_without_either_side_has_no_score() {
    let mut embedded = implementation("embedded", &[("rate", 1.0)]);
    embedded.embedded = true;
    let table = table(WEIGHTS, &[embedded]);
    assert_eq!(table.unscored[0].reason, "server cpu + client cpu was not measured");
}

#[test]
fn mistakes_in_criteria_and_weights_are_said() {
    let field = [implementation("a", &[("server_cpu", 1.0)])];
    let prepare = |text: &str, field: &[Implementation]| {
        prepare("write", &criteria(), &weights(text), field, Options::default()).unwrap_err()
    };
    let no_weight = prepare("server_cpu = 1", &field);
    assert!(matches!(no_weight, ScoreError::NoWeight { .. }));
    let unknown = prepare(&format!("{WEIGHTS}\nbeauty = 1"), &field);
    assert_eq!(unknown, ScoreError::UnknownCriterion { criterion: "beauty".into() });
    let nothing = prepare("server_cpu = 0\nclient_cpu = 0\nrate = 0\ndifficulty = 0", &field);
    assert_eq!(nothing, ScoreError::NothingWeighed);
    let twice = prepare(WEIGHTS, &[field[0].clone(), field[0].clone()]);
    assert_eq!(twice, ScoreError::Duplicate { name: "a".into() });
}

/// Two criteria, three contestants: a is best at the first, b at the second, c nowhere.
fn board(server_weight: f64) -> Board {
    let text = format!("server_cpu = {server_weight:?}\nclient_cpu = 1\nrate = 0\ndifficulty = 0");
    let field = [
        implementation("a", &[("server_cpu", 2.0), ("client_cpu", 10.0)]),
        implementation("b", &[("server_cpu", 10.0), ("client_cpu", 4.0)]),
        implementation("c", &[("server_cpu", 10.0), ("client_cpu", 8.0)]),
    ];
    Board::new(vec![table(&text, &field)]).unwrap()
}

/// a wins where 0.2 w + (1 − w) < w + 0.4 (1 − w), that is w > 0.6/1.4.
#[test]
fn win_shares_are_the_areas_of_the_simplex() {
    let shares = board(3.0).win_shares(100_000, 1);
    assert!((shares[0].share - 0.8 / 1.4).abs() < 0.006, "{shares:?}");
    assert!((shares[1].share - 0.6 / 1.4).abs() < 0.006, "{shares:?}");
    near(shares[2].share, 0.0);
    assert_eq!(shares, board(1.0).win_shares(100_000, 1), "the board's own weights play no part");
    assert_ne!(shares, board(3.0).win_shares(100_000, 2));
}

/// Level where 0.8 × server weight = 0.6 × client weight: 0.75 to 1, or 3 to 4.
#[test]
fn smallest_change_is_exact() {
    let change = board(3.0).smallest_change().unwrap();
    assert_eq!((change.winner.as_str(), change.challenger.as_str()), ("a", "b"));
    assert_eq!(change.criterion, "server_cpu");
    near(change.to, 0.75);
    let other = board(0.75 * 1.001).smallest_change().unwrap();
    near(other.to, 0.75);
    assert_eq!(board(0.75).smallest_change(), None, "two winners");
    assert_eq!(board(0.74).smallest_change().unwrap().winner, "b");
}

#[test]
fn ranks_by_each_criterion_alone() {
    let ranks = board(3.0).ranks_by_criterion();
    assert_eq!(ranks[0].ranks, [1, 2, 2]);
    assert_eq!(ranks[1].ranks, [3, 1, 2]);
}

/// A slow one that sets the maximum hides the difference between the others: without it, ranks turn.
#[test]
fn leaving_one_out_rescales_the_others() {
    let field = [
        implementation("a", &[("server_cpu", 5.0), ("client_cpu", 10.0)]),
        implementation("b", &[("server_cpu", 10.0), ("client_cpu", 9.0)]),
        implementation("slow", &[("server_cpu", 1_000.0), ("client_cpu", 10.0)]),
    ];
    let text = "server_cpu = 1\nclient_cpu = 1\nrate = 0\ndifficulty = 0";
    let board = Board::new(vec![table(text, &field)]).unwrap();
    let ranks = |standings: &[Standing]| standings.iter().map(|s| s.rank).collect::<Vec<_>>();
    assert_eq!(ranks(&board.standings()), [2, 1, 3]);
    let out = board.leave_one_out();
    assert_eq!(out[2].name, "slow");
    assert_eq!(ranks(&out[2].standings), [1, 2]);
}

#[test]
fn totals_are_the_mean_of_the_phases_and_only_who_is_in_all_competes() {
    let text = "[write]\nserver_cpu = 1\nclient_cpu = 0\nrate = 0\ndifficulty = 0\n[read]\nserver_cpu = 0\nclient_cpu = 1\nrate = 0\ndifficulty = 0";
    let weights = Weights::from_toml(text).unwrap();
    let field = [
        implementation("a", &[("server_cpu", 1.0), ("client_cpu", 4.0)]),
        implementation("b", &[("server_cpu", 4.0), ("client_cpu", 3.0)]),
        implementation("write only", &[("server_cpu", 2.0)]),
    ];
    let phase = |phase| prepare(phase, &criteria(), &weights, &field, Options::default()).unwrap();
    let board = Board::new(vec![phase("write"), phase("read")]).unwrap();
    assert_eq!(board.names(), ["a", "b"]);
    let standings = board.standings();
    near(standings[0].total, (75.0 + 0.0) / 2.0);
    near(standings[1].total, (0.0 + 25.0) / 2.0);
    assert_eq!(Board::new(Vec::new()).unwrap_err(), ScoreError::NoContestant);
}

#[test]
fn equal_scores_share_a_rank() {
    assert_eq!(competition_ranks(&[50.0, 70.0, 50.0, 20.0]), [2, 1, 2, 4]);
}
