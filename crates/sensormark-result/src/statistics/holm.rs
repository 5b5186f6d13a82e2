//! Holm's correction of p-values for making many comparisons at once. It decides nothing: see `ranks`.

/// p-values adjusted after Holm (1979, Scandinavian Journal of Statistics 6, 65–70): the i-th smallest of m is
/// multiplied by m − i + 1, made monotone and capped at 1. Comparing them with α keeps the chance of any false
/// discovery below α, whatever the dependence. Order is the input's; each p is within [0, 1].
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (place, index) in order.into_iter().enumerate() {
        let factor = (p_values.len() - place) as f64;
        largest = largest.max((p_values[index] * factor).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::holm;

    /// Expected by hand from the definition; R's `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")` gives the same.
    #[test]
    fn equals_the_definition() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{adjusted:?}");
        }
    }

    #[test]
    fn is_capped_and_may_be_empty() {
        assert_eq!(holm(&[0.9, 0.8]), vec![1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
