//! Random cases: a schema, a layout that the store offers, readings and questions, answered as the reference answers.
//!
//! Cases follow from a seed, each from one of its own, so that a failure can be tried again by itself. A case that fails is made smaller, printed and kept in
//! `target/properties`. Moved to the folder `regressions` of this crate, it is tried first, on every store.
//!
//! `SENSORMARK_PROPERTY_SECONDS` says how long a store is tried, with as many cases as it takes. Without it the cases are few and always the same, so that a fast
//! machine tries none that a slow one does not. `SENSORMARK_PROPERTY_SEED` is the first case's seed.

use crate::check::{Broken, Check, Verdict, While};
use crate::suite::{Case, Suite};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use questions::Draft;
use scene::{Kept, Scene};
use sensormark_store::layout::WriteMethod;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use trial::{Failure, Tally, Trial};

mod questions;
mod scene;
mod schemas;
mod trial;

/// Where no variable says how long: this many cases, in at most this time.
const USUAL: (u64, Duration) = (40, Duration::from_secs(12));
/// Questions of a case.
const QUESTIONS: usize = 40;
/// How long a case that fails is made smaller, and in how many attempts.
const SHRINK: (Duration, u32) = (Duration::from_secs(60), 1_500);
/// Cases that failed once.
const REGRESSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/regressions");
/// Where a case that fails is kept.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/properties");

type Tree<T> = Box<dyn ValueTree<Value = T>>;

/// Tries a store with the kept cases, then with random ones.
pub(super) async fn random(case: &Case<'_>) -> Check<Verdict> {
    let number = |variable: &str| std::env::var(variable).ok().and_then(|text| text.parse().ok());
    let asked = number("SENSORMARK_PROPERTY_SECONDS").map(Duration::from_secs);
    let (most, limit) = asked.map_or(USUAL, |limit| (u64::MAX, limit));
    let mut tally = Tally::default();
    regressions(case.suite, &mut tally).await?;
    let first = number("SENSORMARK_PROPERTY_SEED").unwrap_or(1);
    let (began, mut seed) = (Instant::now(), first);
    // one at least, however slow the server is
    while seed == first || (seed - first < most && began.elapsed() < limit) {
        random_case(case.suite, seed, &mut tally).await?;
        seed += 1;
    }
    println!(
        "random cases of {}: seeds {first} to {}, {tally}, in {} s",
        case.store().description().name,
        seed - 1,
        began.elapsed().as_secs()
    );
    Ok(Verdict::Kept)
}

/// Tries every kept case in every layout that the store offers for its family.
async fn regressions(suite: &Suite, tally: &mut Tally) -> Check {
    let folder = std::fs::read_dir(REGRESSIONS).map_err(|error| Broken(format!("{REGRESSIONS}: {error}")))?;
    let mut files: Vec<PathBuf> = folder.flatten().map(|entry| entry.path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "json")) {
        let what = || format!("kept case {}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| Broken(error.to_string()));
        let kept = text.and_then(|text| read(&text)).while_doing(what)?;
        for offer in suite.store.layouts(&kept.scene.schema, kept.scene.family) {
            let refusal = suite.refusal(&offer.variant, &kept.scene.schema, offer.layout).await?;
            if offer.layout.write == WriteMethod::Datagram || refusal.is_some() {
                continue;
            }
            let trial = Trial { suite, layout: offer.layout, scene: &kept.scene, questions: &kept.questions };
            let done = trial.run().await.map_err(|failure| Broken(failure.text));
            *tally += done.while_doing(|| format!("{}, layout {:?}", what(), offer.variant))?;
        }
    }
    Ok(())
}

/// A kept case, with those of its questions that have a name.
fn read(text: &str) -> Check<Kept> {
    let kept: Result<Kept, _> = serde_json::from_str(text);
    let mut kept = kept.map_err(|error| Broken(error.to_string()))?;
    kept.questions.retain(|question| sensormark_store::Question::of(question).is_some());
    Ok(kept)
}

/// A case as it is shrunk: what is written, and what is asked.
struct Trees<'a> {
    suite: &'a Suite,
    scene: Tree<Scene>,
    drafts: Vec<Tree<Draft>>,
}

async fn random_case(suite: &Suite, seed: u64, tally: &mut Tally) -> Check {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let generator = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), generator);
    let scene = schemas::scenes(Arc::clone(&suite.store)).new_tree(&mut runner);
    let drafts = (0..QUESTIONS).map(|_| questions::drafts().new_tree(&mut runner));
    let mut trees = Trees {
        suite,
        scene: Box::new(scene.expect("nothing is filtered")),
        drafts: drafts.map(|tree| Box::new(tree.expect("nothing is filtered")) as Tree<Draft>).collect(),
    };
    match trees.attempt().await {
        Ok(done) => {
            *tally += done;
            Ok(())
        }
        Err(failure) => {
            let (kept, attempts) = trees.shrink(failure).await;
            Err(Broken(report(suite, seed, &kept, attempts)))
        }
    }
}

impl Trees<'_> {
    fn case(&self) -> (Scene, Vec<sensormark_store::Query>, sensormark_store::Layout) {
        let scene = self.scene.current();
        let offers = self.suite.store.layouts(&scene.schema, scene.family);
        let offer = offers.into_iter().find(|offer| offer.variant == scene.variant);
        let layout = offer.expect("layouts are the same each time").layout;
        let drafts = self.drafts.iter().map(|tree| tree.current());
        let questions = drafts.map(|draft| draft.question(&scene, &layout)).collect();
        (scene, questions, layout)
    }

    async fn attempt(&self) -> Result<Tally, Failure> {
        let (scene, questions, layout) = self.case();
        let refusal = self.suite.refusal(&scene.variant, &scene.schema, layout).await;
        if refusal.is_ok_and(|refusal| refusal.is_some()) {
            return Ok(Tally::default());
        }
        let trial = Trial { suite: self.suite, layout, scene: &scene, questions: &questions };
        trial.run().await
    }

    /// The smallest case found that fails, and after how many attempts.
    async fn shrink(&mut self, failure: Failure) -> (Kept, u32) {
        let mut budget = Budget { began: Instant::now(), attempts: 0 };
        let mut kept = self.kept(failure);
        self.shrink_questions(&mut kept, &mut budget).await;
        for _ in 0..2 {
            while !budget.is_spent() && self.scene.simplify() {
                if !self.settle(None, &mut kept, &mut budget).await {
                    break;
                }
            }
            for number in 0..self.drafts.len() {
                while !budget.is_spent() && self.drafts[number].simplify() {
                    if !self.settle(Some(number), &mut kept, &mut budget).await {
                        break;
                    }
                }
            }
        }
        (kept, budget.attempts)
    }

    /// Leaves the question that failed alone, or none where none is needed.
    async fn shrink_questions(&mut self, kept: &mut Kept, budget: &mut Budget) {
        let mut number = 0;
        while number < self.drafts.len() && !budget.is_spent() {
            let tree = self.drafts.remove(number);
            budget.attempts += 1;
            match self.attempt().await {
                Err(failure) => *kept = self.kept(failure),
                Ok(_) => {
                    self.drafts.insert(number, tree);
                    number += 1;
                }
            }
        }
    }

    /// Takes back as much of a simplification as the failure needs. Says whether another may be tried.
    async fn settle(&mut self, draft: Option<usize>, kept: &mut Kept, budget: &mut Budget) -> bool {
        loop {
            budget.attempts += 1;
            if let Err(failure) = self.attempt().await {
                *kept = self.kept(failure);
                return true;
            }
            let is_less_simple = match draft {
                None => self.scene.complicate(),
                Some(number) => self.drafts[number].complicate(),
            };
            if !is_less_simple || budget.is_spent() {
                return false;
            }
        }
    }

    fn kept(&self, failure: Failure) -> Kept {
        let (scene, questions, _) = self.case();
        Kept { why: failure.text, scene, questions }
    }
}

struct Budget {
    began: Instant,
    attempts: u32,
}

impl Budget {
    fn is_spent(&self) -> bool {
        self.began.elapsed() > SHRINK.0 || self.attempts >= SHRINK.1
    }
}

/// What failed, and how to see it again.
fn report(suite: &Suite, seed: u64, kept: &Kept, attempts: u32) -> String {
    let name = suite.store.description().name;
    let text = serde_json::to_string_pretty(kept).unwrap_or_else(|error| error.to_string());
    let file = Path::new(KEPT).join(format!("{name}-{seed}.json"));
    let written = std::fs::create_dir_all(KEPT).and_then(|()| std::fs::write(&file, &text));
    let place = written
        .map_or_else(|error| format!("not kept ({error})"), |()| format!("kept in {}", file.display()));
    format!(
        "{}\nSENSORMARK_PROPERTY_SEED={seed} shows it again. The case is {place}; once it is mended, move it to {REGRESSIONS}. After {attempts} attempts to \
         make it smaller:\n{text}",
        kept.why
    )
}
