//! Rates of a load: over the window that its hosts shared, where several made it, or else over all of its time.

use super::record::LoadRecord;
use super::shared_window::SharedWindow;

/// What a load's rates are made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counted {
    /// Over how long, in seconds.
    pub seconds: f64,
    /// Operations that succeeded in that time.
    pub operations: f64,
    /// Readings that they wrote, or readings, groups and series that they found.
    pub readings: f64,
}

impl LoadRecord {
    /// What its rates are made of: the window that its hosts shared, where there were several and it is long enough, or else all of it.
    pub fn counted(&self) -> Counted {
        match self.shared.filter(SharedWindow::is_counted) {
            Some(window) => {
                Counted { seconds: window.seconds, operations: window.operations, readings: window.readings }
            }
            None => Counted {
                seconds: self.seconds,
                operations: self.operations() as f64,
                readings: self.readings() as f64,
            },
        }
    }

    /// Operations a second, failed ones not counted; none where nothing was measured.
    pub fn operations_per_second(&self) -> Option<f64> {
        let counted = self.counted();
        (counted.seconds > 0.0).then(|| counted.operations / counted.seconds)
    }

    /// Readings a second; none where nothing was measured.
    pub fn readings_per_second(&self) -> Option<f64> {
        let counted = self.counted();
        (counted.seconds > 0.0).then(|| counted.readings / counted.seconds)
    }
}
