//! What a layout costs in money: a month at the user's size, a million readings, a thousand questions, by a file of prices; and how long a card lives.
//!
//! [`Prices`] holds what each layout uses of a machine; the table and the page's sliders make the same money of it (`page.js`).

mod table;
mod uses;

pub(crate) use table::section;

use crate::prelude::*;
use uses::{Load, Use};

/// What somebody asks for a machine, or one's own costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// Whose prices these are.
    pub name: String,
    /// Of which day, like 2026-11-28.
    pub date: String,
    /// In which money.
    pub currency: String,
    /// A core for an hour.
    pub cpu_hour: f64,
    /// A GB of memory for a month.
    pub memory_gb_month: f64,
    /// A GB of disk for a month.
    pub disk_gb_month: f64,
    /// A GB sent to the database.
    pub traffic_gb: f64,
    /// How many TB its card or SSD is rated to be written.
    pub rated_tb: Option<f64>,
}

/// What a file of prices is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PricesFile {
    offers: Vec<Offer>,
}

/// The offers of a file of prices.
///
/// # Errors
/// Text that is not one, in a sentence.
pub fn offers(text: &str) -> Result<Vec<Offer>, String> {
    let file: PricesFile = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    if file.offers.is_empty() {
        return Err("it has no [[offers]]: give one at least".to_owned());
    }
    for offer in &file.offers {
        let prices = [
            ("cpu_hour", Some(offer.cpu_hour)),
            ("memory_gb_month", Some(offer.memory_gb_month)),
            ("disk_gb_month", Some(offer.disk_gb_month)),
            ("traffic_gb", Some(offer.traffic_gb)),
            ("rated_tb", offer.rated_tb.map(|rated| if rated > 0.0 { rated } else { -1.0 })),
        ];
        let is_wrong = |price: &f64| !(price.is_finite() && *price >= 0.0);
        if let Some((key, _)) = prices.iter().find(|(_, price)| price.as_ref().is_some_and(is_wrong)) {
            return Err(format!(
                "{key} of the offer {:?} is no price: give a number of 0 or more, and of rated_tb one above 0",
                offer.name
            ));
        }
    }
    Ok(file.offers)
}

/// The offers, and what every ranked layout uses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prices {
    offers: Vec<Offer>,
    uses: Vec<Use>,
    load: Load,
}

impl Prices {
    /// None where no prices were given, nobody is ranked, or the rate of the readings is not known.
    pub(crate) fn new(field: &Field, ranking: &Ranking, offers: &[Offer]) -> Option<Self> {
        let load = Load::of(&field.run)?;
        let uses = ranking.ranked.iter().map(|one| Use::of(field, ranking, one)).collect_vec();
        (!offers.is_empty() && !uses.is_empty()).then(|| Self { offers: offers.to_vec(), uses, load })
    }
}
