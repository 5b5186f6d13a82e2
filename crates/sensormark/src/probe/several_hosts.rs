//! Totals of a phase that several hosts made together. What each of them saw is in [`super::totals`].

use super::totals::{PhaseTotals, RoleTotals};

impl PhaseTotals {
    /// Adds what the same phase used on another host: its roles to those of the same name. The more disturbed of the two hosts stays, `named` in its words.
    pub fn add_host(&mut self, other: Self, named: &str) {
        for (role, more) in other.roles {
            self.roles.entry(role).or_default().add(&more);
        }
        if other.disturbance.reasons.len() > self.disturbance.reasons.len() {
            self.disturbance = other.disturbance;
            for reason in &mut self.disturbance.reasons {
                reason.insert_str(0, named);
            }
        }
    }
}

impl RoleTotals {
    /// Adds what processes of the same role used on another host.
    fn add(&mut self, more: &Self) {
        for (sum, more) in [
            (&mut self.cpu_ns, more.cpu_ns),
            (&mut self.cpu_user_ns, more.cpu_user_ns),
            (&mut self.cpu_system_ns, more.cpu_system_ns),
            (&mut self.cpu_wait_ns, more.cpu_wait_ns),
            (&mut self.context_switches, more.context_switches),
            (&mut self.peak_resident_bytes, more.peak_resident_bytes),
            (&mut self.end_resident_bytes, more.end_resident_bytes),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.cpu_percent_of_core += more.cpu_percent_of_core;
        // What one host does not know is not known of both.
        for (sum, more) in [
            (
                &mut self.end_proportional_bytes,
                more.end_proportional_bytes,
            ),
            (&mut self.storage_read_bytes, more.storage_read_bytes),
            (&mut self.storage_written_bytes, more.storage_written_bytes),
            (&mut self.storage_dirtied_bytes, more.storage_dirtied_bytes),
            (
                &mut self.storage_cancelled_bytes,
                more.storage_cancelled_bytes,
            ),
            (&mut self.sent_payload_bytes, more.sent_payload_bytes),
            (
                &mut self.received_payload_bytes,
                more.received_payload_bytes,
            ),
            (&mut self.sent_wire_bytes, more.sent_wire_bytes),
            (&mut self.received_wire_bytes, more.received_wire_bytes),
            (
                &mut self.retransmitted_segments,
                more.retransmitted_segments,
            ),
        ] {
            *sum = sum
                .zip(more)
                .map(|(sum, more): (u64, u64)| sum.saturating_add(more));
        }
        // A mean has no sum: the host that is farther away says it.
        let round_trips = self.mean_round_trip_ns.zip(more.mean_round_trip_ns);
        self.mean_round_trip_ns = round_trips.map(|(one, more)| one.max(more));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_host_does_not_know_is_not_known_of_both() {
        let of = |cpu_ns, retransmitted, round_trip_ns| {
            let role = RoleTotals {
                cpu_ns,
                retransmitted_segments: retransmitted,
                mean_round_trip_ns: round_trip_ns,
                ..RoleTotals::default()
            };
            let mut totals = PhaseTotals::default();
            totals.roles.insert("load".to_owned(), role);
            totals
        };
        let mut whole = of(3, Some(1), Some(50));
        whole.add_host(of(4, Some(2), Some(70)), "rank 1: ");
        let load = &whole.roles["load"];
        assert_eq!((load.cpu_ns, load.retransmitted_segments), (7, Some(3)));
        assert_eq!(load.mean_round_trip_ns, Some(70), "the farther host's");
        whole.add_host(of(5, None, None), "rank 2: ");
        let load = &whole.roles["load"];
        assert_eq!((load.cpu_ns, load.retransmitted_segments), (12, None));
        assert_eq!(load.mean_round_trip_ns, None);
    }
}
