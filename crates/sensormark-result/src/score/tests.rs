//! Tests of the score as a whole, on fields small enough to compute by hand.

use super::*;

/// Of everything but these values there is nothing.
fn implementation(name: &str, values: &[(&str, f64)]) -> Implementation {
    let mut all = STUDY_CRITERIA.map(|criterion| (criterion.id.to_owned(), 0.0)).to_vec();
    all.retain(|(id, _)| id != "difficulty");
    all.extend(values.iter().map(|(id, value)| ((*id).to_owned(), *value)));
    Implementation { name: name.into(), values: all.into_iter().collect() }
}

fn table(phase: Phase, field: &[Implementation]) -> Table {
    Table::new(phase, field, SubjectiveTerm::InSum)
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

/// Writing has 13 without difficulty. a: 10/10·3 + 4/4·3 = 6; b: 5/10·3 + 20/20·1 = 2.5. What is 0 for all adds nothing.
#[test]
fn the_formula_by_hand() {
    let field = [
        implementation("a", &[("server_cpu", 10.0), ("client_cpu", 4.0)]),
        implementation("b", &[("server_cpu", 5.0), ("disk", 20.0)]),
    ];
    let scores = table(Phase::Write, &field).scores();
    near(scores[0], 100.0 * (1.0 - 6.0 / 13.0));
    near(scores[1], 100.0 * (1.0 - 2.5 / 13.0));
    near(table(Phase::Read, &field).scores()[1], 100.0 * (1.0 - 1.5 / 12.0));
}

#[test]
fn a_missing_value_is_no_score_and_no_part_of_the_maxima() {
    let mut remote = implementation("remote", &[("client_cpu", 1_000.0)]);
    remote.values.remove("server_cpu");
    let field = [implementation("a", &[("server_cpu", 10.0), ("client_cpu", 4.0)]), remote];
    let scores = table(Phase::Write, &field).scores();
    assert_eq!(scores.len(), 1);
    near(scores[0], 100.0 * (1.0 - 6.0 / 13.0));
}

#[test]
fn difficulty_counts_only_where_everybody_has_one() {
    let with = implementation("a", &[("server_cpu", 10.0), ("difficulty", 5.0)]);
    let easy = implementation("b", &[("server_cpu", 10.0), ("difficulty", 1.0)]);
    let both = [with.clone(), easy];
    near(table(Phase::Write, &both).scores()[1], 100.0 * (1.0 - 3.2 / 14.0));
    let divisor = Table::new(Phase::Write, &both, SubjectiveTerm::InDivisorOnly);
    near(divisor.scores()[1], 100.0 * (1.0 - 3.0 / 14.0));
    let without = implementation("c", &[("server_cpu", 5.0)]);
    near(table(Phase::Write, &[with, without]).scores()[1], 100.0 * (1.0 - 1.5 / 13.0));
}

#[test]
fn totals_are_the_mean_of_the_phases_and_only_who_is_in_all_competes() {
    let field = [implementation("a", &[("server_cpu", 1.0)]), implementation("b", &[("server_cpu", 4.0)])];
    let tables = vec![table(Phase::Write, &field), table(Phase::Read, &field[..1])];
    let of = |name: &str| (name.to_owned(), vec![name.to_owned(); 2]);
    let board = Board::new(tables, vec![of("a"), of("b")]);
    let standings = board.standings();
    assert_eq!(standings.len(), 1, "b was not read");
    near(standings[0].total, 100.0 * (1.0 - f64::midpoint(3.0 / 13.0, 3.0 / 12.0)));
    near(board.scores_of(&[&[0.0; 7], &[0.0; 6]])[0], 100.0);
}

#[test]
fn equal_scores_share_a_rank() {
    let field = [("a", 4.0), ("b", 1.0), ("c", 4.0), ("d", 8.0)];
    let field = field.map(|(name, cpu)| implementation(name, &[("server_cpu", cpu)]));
    let names = field.iter().map(|one| (one.name.clone(), vec![one.name.clone()])).collect();
    let board = Board::new(vec![table(Phase::Write, &field)], names);
    let ranks: Vec<usize> = board.standings().iter().map(|standing| standing.rank).collect();
    assert_eq!(ranks, [2, 1, 2, 4]);
}
