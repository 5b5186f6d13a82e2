//! Operations of a server's life.

use crate::maintained::each_operation_is_timed_and_its_data_are_proven;

pub fn postgresql_lives_a_year() {
    crate::life::a_whole_life("postgresql");
}

pub fn postgresql_goes_through_all() {
    each_operation_is_timed_and_its_data_are_proven("postgresql", true);
}
