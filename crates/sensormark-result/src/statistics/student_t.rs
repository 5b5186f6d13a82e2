//! Student's t distribution: distribution function, two-sided p-value and quantile.
//!
//! The crate statrs computes them. The tests hold it to scipy 1.17.1: 1e-12 relative for the distribution function, 1e-11 for
//! quantiles, up to 1,000 degrees of freedom.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::beta::beta_reg;

/// The distribution with `degrees` of freedom.
fn distribution(degrees: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, degrees).expect("degrees of freedom are above 0")
}

/// P(T ≤ t) for `degrees` of freedom above 0 (fractions allowed).
#[must_use]
pub fn cdf(t: f64, degrees: f64) -> f64 {
    distribution(degrees).cdf(t)
}

/// P(|T| ≥ |t|): the p-value of a two-sided test. There are `degrees` of freedom, above 0.
///
/// It is I_x(ν/2, 1/2) with x = ν / (ν + t²), where I is the regularised incomplete beta function (Abramowitz and Stegun 1964, 26.7.1).
#[must_use]
pub fn two_sided_p(t: f64, degrees: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    beta_reg(0.5 * degrees, 0.5, degrees / (degrees + t * t))
}

/// The t with P(T ≤ t) = `probability`, which is within (0, 1). There are `degrees` of freedom, above 0.
#[must_use]
pub fn quantile(probability: f64, degrees: f64) -> f64 {
    distribution(degrees).inverse_cdf(probability)
}

#[cfg(test)]
mod tests {
    use super::{cdf, quantile, two_sided_p};

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!(((found - expected) / expected).abs() < tolerance, "found {found:e}, expected {expected:e}");
    }

    /// Expected values: scipy 1.17.1, `scipy.stats.t.cdf`.
    #[test]
    fn distribution_function_equals_scipy() {
        for (t, degrees, expected) in [
            (0.5, 1.0, 0.6475836176504333),
            (2.0, 2.0, 0.908248290463863),
            (1.5, 3.0, 0.8847080673775886),
            (-2.5, 4.0, 0.03338327240599407),
            (3.0, 7.5, 0.9908045306958978),
            (0.001, 9.0, 0.5003880348370133),
            (1.96, 1000.0, 0.9748634075221256),
            (-12.0, 2.0, 0.00343646683857923),
            (40.0, 3.0, 0.9999828096596054),
        ] {
            close(cdf(t, degrees), expected, 1e-12);
        }
    }

    /// Expected values: scipy 1.17.1, `scipy.stats.t.ppf`; the 0.975 column is in every printed table too.
    #[test]
    fn quantile_equals_scipy() {
        for (probability, degrees, expected) in [
            (0.975, 1.0, 12.706204736174694),
            (0.975, 2.0, 4.302652729749462),
            (0.975, 3.0, 3.1824463052837078),
            (0.975, 4.0, 2.7764451051977934),
            (0.975, 9.0, 2.262157162798205),
            (0.975, 29.0, 2.045229642132703),
            (0.975, 1000.0, 1.9623390808264083),
            (0.95, 5.0, 2.0150483733330233),
            (0.995, 2.0, 9.924843200918287),
            (0.025, 6.0, -2.4469118511449794),
            (0.9999, 3.0, 22.203742273205),
            (0.75, 10.0, 0.6998120613124317),
        ] {
            close(quantile(probability, degrees), expected, 1e-11);
        }
    }

    #[test]
    fn two_sided_p_has_its_limits() {
        assert!((two_sided_p(0.0, 4.0) - 1.0).abs() < 1e-15);
        assert!(two_sided_p(f64::INFINITY, 4.0).abs() < 1e-300);
        close(two_sided_p(-2.0, 4.0), two_sided_p(2.0, 4.0), 1e-15);
    }
}
