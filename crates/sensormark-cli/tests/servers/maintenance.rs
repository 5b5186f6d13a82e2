//! Operations of a server's life.

use crate::maintained::each_operation_is_timed_and_its_data_are_proven;

pub fn postgresql_lives_a_year() {
    crate::life::a_whole_life("postgresql");
}

pub fn a_life_of_postgresql_may_end_within_a_round() {
    crate::life::a_life_that_ends_within_a_round("postgresql");
}

pub fn mariadb_lives_a_year() {
    crate::life::a_whole_life("mariadb");
}

pub fn a_life_of_mariadb_may_end_within_a_round() {
    crate::life::a_life_that_ends_within_a_round("mariadb");
}

/// QuestDB does not say what times are in a partition of Parquet: none of them was dropped, and it was held against the database.
pub fn questdb_drops_what_it_compressed() {
    let (trial, text) = crate::life::a_life_with_compression("questdb");
    let means = trial["tasks"].to_string();
    assert!(means.contains("TO PARQUET") && means.contains("DROP PARTITION LIST"), "{means}: {text}");
}

pub fn postgresql_goes_through_all() {
    each_operation_is_timed_and_its_data_are_proven("postgresql", &[]);
}

/// Its backup copied a folder that was not there, once QuestDB's data had a folder of their own.
pub fn questdb_goes_through_all() {
    // All its readings are in one partition, and it drops whole ones.
    each_operation_is_timed_and_its_data_are_proven("questdb", &["delete"]);
}

/// Its copies are tables of files, which its own program brings back.
pub fn cassandra_goes_through_all() {
    each_operation_is_timed_and_its_data_are_proven("cassandra", &["delete", "correct"]);
}
