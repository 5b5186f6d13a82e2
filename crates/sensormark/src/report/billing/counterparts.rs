//! Which of our implementations stand for the study's two.

use super::figures::{believed, device_counts};
use crate::measurement::record::TrialRecord;
use crate::published::Billing;
use crate::report::field::{Arm, Field};
use sensormark_store::{Durability, Index, Shape, WriteMethod};

/// Names of the study's databases.
pub const GRIDDB: &str = "GridDB";
/// The other.
pub const MARIADB: &str = "MariaDB";

/// The study, and what of it was measured here with valid trials.
pub struct Counterparts<'a> {
    /// The trials.
    pub field: &'a Field,
    /// The study.
    pub study: &'a Billing,
    /// Numbers of devices measured here, ascending.
    pub counts: Vec<u64>,
    griddb: Option<&'a Arm>,
    mariadb: Option<&'a Arm>,
}

impl<'a> Counterparts<'a> {
    /// Finds the counterparts.
    pub fn new(field: &'a Field, study: &'a Billing) -> Self {
        Self {
            field,
            study,
            counts: device_counts(field),
            griddb: nearest(field, GRIDDB),
            mariadb: nearest(field, MARIADB),
        }
    }

    /// What stands for this database of the study's.
    pub fn of(&self, title: &str) -> Option<&'a Arm> {
        if title == GRIDDB {
            self.griddb
        } else {
            self.mariadb
        }
    }

    /// Whether nothing of the study was measured.
    pub const fn is_empty(&self) -> bool {
        self.griddb.is_none() && self.mariadb.is_none()
    }

    /// A figure of a database in each repetition; nothing where it was not measured.
    pub fn figures(
        &self,
        title: &str,
        figure: impl Fn(&TrialRecord) -> Option<f64>,
    ) -> Vec<Option<f64>> {
        self.of(title)
            .map_or_else(Vec::new, |arm| self.field.figures(arm, figure))
    }
}

/// The nearest to what the study did: as the database comes; of MariaDB the table whose only index is on the meter, with the
/// foreign key where that was measured, of GridDB time series.
fn nearest<'a>(field: &'a Field, title: &str) -> Option<&'a Arm> {
    let own = believed(field).filter(|arm| arm.implementation.title == title);
    own.min_by_key(|arm| {
        let layout = &arm.implementation.layout;
        let is_shape = match title {
            GRIDDB => layout.shape == Shape::NativeTimeSeries,
            _ => layout.index == Index::Series && layout.shape == Shape::RowPerReading,
        };
        (
            arm.implementation.durability != Durability::Default,
            !is_shape,
            !layout.foreign_key,
            layout.write != WriteMethod::Usual,
        )
    })
}
