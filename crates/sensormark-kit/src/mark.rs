//! What a database of sensormark's bears inside, and what stands under a database's name. [`crate::ownership`] decides who may drop what.

use sensormark_store::Plan;

/// An owner's mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The owner.
    pub owner: String,
    /// The name of the plan's database, which may have another name on the server.
    pub database: String,
}

impl Mark {
    /// Whether it is the mark of this plan's own database.
    pub fn is_of(&self, plan: &Plan) -> bool {
        self.owner == plan.owner && self.database == plan.database.as_str()
    }
}

/// What stands under a database's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// Something that holds nothing yet, its mark neither: whoever made it was stopped before it was marked.
    Empty,
    /// Something that bears no mark.
    Unmarked,
    /// Something that bears this mark.
    Marked(Mark),
}
