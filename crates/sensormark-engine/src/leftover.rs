//! Databases of sensormark on a server that it did not start, or in a folder of the user's: which runs made them, and dropping what no live run needs.
//!
//! A store lists and drops by the owner's mark alone, so what anybody else made is neither named nor touched.

use super::deployment::{block_on, existing_endpoint};
use super::owner_mark;
use super::selection::Choice;
use sensormark_server::{RunState, Supervisor};
use sensormark_store::{
    Administrator, DatabaseName, Durability, Endpoint, Family, Plan, Schema, Store, StoreError,
    TimeResolution,
};
use std::sync::Arc;
use std::time::Duration;

/// A database that bears an owner's mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its name.
    pub database: String,
    /// The mark of the run that made it.
    pub owner: String,
    /// What this machine knows of that run.
    pub run: RunState,
    /// How long ago the run began, by the clocks of its machine and of this one; none where the mark does not say it.
    pub age: Option<Duration>,
}

impl Leftover {
    /// Whether it may go: its run was seen to end, or nothing is known of the run and it began at least so long ago.
    pub fn may_go(&self, older_than: Duration) -> bool {
        match self.run {
            RunState::Live => false,
            RunState::Ended => true,
            RunState::Unknown => self.age.unwrap_or_default() >= older_than,
        }
    }

    /// How old it is, in words.
    pub fn age_text(&self) -> String {
        let Some(age) = self.age else {
            return "of unknown age".to_owned();
        };
        let minutes = age.as_secs() / 60;
        match minutes {
            0 => format!("{} s old", age.as_secs()),
            1..=119 => format!("{minutes} min old"),
            120..=2_879 => format!("{} h old", minutes / 60),
            _ => format!("{} days old", minutes / 1_440),
        }
    }
}

/// Where databases are looked for.
pub struct Place {
    /// The choice that named it.
    pub choice: Choice,
    endpoint: Endpoint,
}

impl Place {
    /// The places that these choices name by URL, each once. A folder that is not there yet is none.
    ///
    /// # Errors
    /// When a URL is wrong or there is no such server.
    pub fn all<'a>(
        supervisor: &Supervisor,
        choices: impl Iterator<Item = &'a Choice>,
    ) -> Result<Vec<Self>, StoreError> {
        let mut places: Vec<Self> = Vec::new();
        for choice in choices {
            let Some(endpoint) = existing_endpoint(supervisor, choice)? else {
                continue;
            };
            let is_new_folder = choice.store.description().embedded && endpoint.managed;
            let url = endpoint.url.expose();
            let is_known = |place: &Self| place.endpoint.url.expose() == url;
            if !is_new_folder && !places.iter().any(is_known) {
                places.push(Self { choice: choice.clone(), endpoint });
            }
        }
        Ok(places)
    }

    /// The databases there that bear an owner's mark.
    ///
    /// # Errors
    /// When the database cannot be reached or asked.
    pub fn databases(&self, supervisor: &Supervisor, timeout_ms: u64) -> Result<Vec<Leftover>, StoreError> {
        // Any name and mark will do: nothing is made or dropped.
        let mark = owner_mark::new();
        let plan = self.plan(DatabaseName::new(&mark)?, &mark, timeout_ms)?;
        let found = self.administer(&plan, async |administrator| administrator.databases().await)?;
        Ok(found
            .into_iter()
            .map(|(database, owner)| Leftover {
                run: supervisor.run_state(&owner),
                age: owner_mark::began(&owner).map(|began| began.elapsed().unwrap_or_default()),
                database,
                owner,
            })
            .collect())
    }

    /// Drops one of them.
    ///
    /// # Errors
    /// When it bears another mark by now, or what the database refuses.
    pub fn drop_database(&self, found: &Leftover, timeout_ms: u64) -> Result<(), StoreError> {
        let name = DatabaseName::try_from(found.database.clone())?;
        let plan = self.plan(name, &found.owner, timeout_ms)?;
        self.administer(&plan, async |administrator| administrator.drop_database().await)
    }

    fn administer<T>(
        &self,
        plan: &Plan,
        work: impl AsyncFnOnce(&mut dyn Administrator) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        block_on(async {
            let mut administrator = self.choice.store.administrator(plan).await?;
            work(administrator.as_mut()).await
        })
    }

    /// A plan of this database, with the least schema that there is: what it held is not known, and does not matter to drop it.
    fn plan(&self, database: DatabaseName, owner: &str, timeout_ms: u64) -> Result<Plan, StoreError> {
        let store: &dyn Store = self.choice.store.as_ref();
        let schema = Arc::new(Schema::of_sensors([1], TimeResolution::Milliseconds));
        let offers = store.layouts(&schema, Family::PerReading);
        let layout = offers.first().map(|offer| offer.layout);
        let layout = layout
            .ok_or_else(|| StoreError::unsupported("look for databases", "it has no layout of readings"))?;
        Ok(Plan {
            endpoint: self.endpoint.clone(),
            database,
            owner: owner.to_owned(),
            schema,
            layout,
            durability: Durability::Default,
            clients: 1,
            timeout_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(run: RunState, age: Option<u64>) -> Leftover {
        Leftover {
            database: "sensormark_x".to_owned(),
            owner: "x".to_owned(),
            run,
            age: age.map(Duration::from_secs),
        }
    }

    #[test]
    fn what_a_live_run_needs_never_goes_and_what_is_unknown_has_to_be_old() {
        let day = Duration::from_secs(86_400);
        for (run, age, by_default, at_once) in [
            (RunState::Live, Some(1_000_000), false, false),
            (RunState::Ended, Some(1), true, true),
            (RunState::Ended, None, true, true),
            (RunState::Unknown, Some(86_399), false, true),
            (RunState::Unknown, Some(86_400), true, true),
            (RunState::Unknown, None, false, true),
        ] {
            let found = found(run, age);
            assert_eq!(found.may_go(day), by_default, "{found:?}");
            assert_eq!(found.may_go(Duration::ZERO), at_once, "{found:?}");
        }
    }

    #[test]
    fn ages_are_said_in_the_unit_that_fits() {
        for (seconds, words) in
            [(5, "5 s old"), (61, "1 min old"), (7_200, "2 h old"), (200_000, "2 days old")]
        {
            assert_eq!(found(RunState::Ended, Some(seconds)).age_text(), words);
        }
        assert_eq!(found(RunState::Ended, None).age_text(), "of unknown age");
    }
}
