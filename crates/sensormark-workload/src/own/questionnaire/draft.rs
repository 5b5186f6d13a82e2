//! The workload file that answers make: commented TOML, whose limits are the requirements. Its template is `draft.toml`.
//!
//! What nobody was asked is chosen here: how much is loaded, how often questions are asked, how many readings a write has. The file says so beside each number.

use super::answers::{Answers, Loss};
use super::measure::Measure;
use super::text::number;
use sensormark_data::quantity::{length_text, size_text};
use sensormark_data::units::round_u64;
use sensormark_engine::lifecycle::render;
use serde_json::{Value, json};

/// Late readings come up to so many intervals late.
const LATE_TICKS: i64 = 5;
/// Windows of a dashboard's curve.
const WINDOWS: i64 = 12;
/// A number swings in so many intervals at least.
const LEAST_SWING: i64 = 30;
/// Intervals that an alert looks back.
const ALERT_TICKS: i64 = 6;
/// The most readings of a write.
const LARGEST_BATCH: u64 = 1_000;
/// A batch is to be empty no more often than this, because readings are late.
const EMPTY: f64 = 1e-6;

impl Answers {
    /// The file of this title, with remarks on where the answers are from.
    ///
    /// # Panics
    /// When the template is wrong, which is part of the program.
    pub fn file(&self, title: &str, remarks: &[String]) -> String {
        let fitted = self.fitted();
        let mut values = fitted.values();
        values["title"] = title.replace(['"', '\\'], "").replace(char::is_control, "").into();
        values["remarks"] = remarks.iter().map(|remark| remark.replace(char::is_control, " ")).collect();
        values["is_whole"] = (fitted == *self).into();
        render(include_str!("draft.toml"), values).expect("a right template") + "\n"
    }

    /// What the template says that was not answered in these words.
    fn values(&self) -> Value {
        let intervals = |ticks: i64| length_text(self.interval_ns.saturating_mul(ticks));
        let late_by = self.late_by_ns.map(|by_ns| length_text(by_ns.max(self.interval_ns)));
        let lost = match &self.loss {
            Loss::Share(share) => format!("lost <= {share}"),
            _ => "lost = 0".to_owned(),
        };
        let rate = self.writing_rate();
        let least = if self.late > 0.0 { round_u64((EMPTY.ln() / self.late.ln()).ceil()).max(1) } else { 1 };
        let batch = self.write_size.unwrap_or_else(|| round_u64(rate).clamp(1, LARGEST_BATCH));
        let window_ns = self.interval_ns * (self.reach_ns / WINDOWS / self.interval_ns).max(1);
        // About as many intervals as questions look back, so that they see a number move.
        let swing_ticks = (self.reach_ns / self.interval_ns).max(LEAST_SWING);
        let number_of = |is_one: fn(&Measure) -> bool| self.measures.iter().find(|one| is_one(one));
        let a_number = number_of(Measure::is_number);
        let alerted = number_of(Measure::wanders).or(a_number);
        json!({
            "all": self,
            "life": self.life(),
            "stores": toml::Value::from(self.stores.clone()).to_string(),
            "durability": self.loss.durability().text(),
            "server_memory": size_text(self.memory.bytes / 2.0),
            "lost": lost,
            "rate": number(rate),
            "headroom": number(self.headroom),
            "interval": intervals(1),
            "late_by": late_by.unwrap_or_else(|| intervals(LATE_TICKS)),
            "sites": (self.sensors / 10).clamp(1, 20),
            "measures": self.measures.iter().map(Measure::values).collect::<Value>(),
            "period": intervals(swing_ticks),
            "hold": intervals(10),
            "batch": batch.max(least),
            "reach": length_text(self.reach_ns),
            "window": length_text(window_ns),
            "curve": length_text(window_ns * WINDOWS),
            "lately": intervals(ALERT_TICKS),
            "number": a_number.map(Measure::name),
            "alerted": alerted.map(Measure::name),
            "above": alerted.map(|one| one.threshold(swing_ticks.unsigned_abs())),
        })
    }
}
