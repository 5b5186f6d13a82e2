//! A store's two files, read and checked.

use crate::config::Config;
use crate::layouts;
use crate::sections::{Block, File, Sections};
use crate::template::Templates;
use sensormark_drivers::Named;
use sensormark_store::Layout;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The standard's sections.
const STANDARD: &str = include_str!("../standard.sql");

/// A store's files.
pub struct Files {
    /// `store.toml`.
    pub config: Config,
    /// `statements.*`.
    pub file: File,
    standard: Sections,
    templates: Mutex<HashMap<String, Arc<Templates>>>,
    /// By layout that was asked for: its block's place.
    places: Mutex<HashMap<Layout, Option<usize>>>,
    /// The advice on the size of writes, and its link. A store is read once.
    pub advice: (&'static str, &'static str),
}

impl Files {
    /// Reads the texts of both files, over those of the stores that this one extends, the farthest first.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn read(layers: &[(&str, &str)]) -> Result<Self, String> {
        let configs = layers.iter().map(|(config, _)| *config);
        let config = Config::read(configs).map_err(|cause| format!("store.toml: {cause}"))?;
        let mut file = File::default();
        for (_, statements) in layers {
            file = File::read("statements", statements)?.over(file);
        }
        let standard = match config.text.standard {
            true => File::read("standard.sql", STANDARD)?.common,
            false => Sections::new(),
        };
        let advice = (config.batch.advice.clone().leak() as &str, config.batch.link.clone().leak() as &str);
        Ok(Self { config, file, standard, templates: Mutex::default(), places: Mutex::default(), advice })
    }

    /// Fails for macros that no layout calls: typing errors.
    ///
    /// # Errors
    /// The first one, with its place.
    pub fn check(&self) -> Result<(), String> {
        let mut uncalled: Option<Vec<String>> = None;
        for block in &self.file.blocks {
            let here = self.templates(&block.name).uncalled();
            uncalled = Some(match uncalled {
                None => here,
                Some(before) => before.into_iter().filter(|one| here.contains(one)).collect(),
            });
        }
        let own = |one: &String| !one.starts_with("standard.sql");
        match uncalled.unwrap_or_default().into_iter().find(own) {
            None => Ok(()),
            Some(text) => Err(text),
        }
    }

    /// The block of a layout; none where the files do not have it.
    pub fn block_of(&self, layout: Layout) -> Option<&Block> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let place = places.entry(layout).or_insert_with(|| layouts::place_of(&self.file, layout));
        place.map(|place| &self.file.blocks[place])
    }

    /// The templates of a layout.
    pub fn templates(&self, block: &str) -> Arc<Templates> {
        let mut templates = self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = templates.get(block) {
            return Arc::clone(known);
        }
        let mut chain: Vec<&Sections> =
            self.file.lineage(block).into_iter().map(|block| &block.sections).collect();
        chain.push(&self.file.common);
        chain.extend(&self.file.beneath);
        chain.push(&self.standard);
        let made = Arc::new(Templates::new(&chain));
        templates.insert(block.to_owned(), Arc::clone(&made));
        made
    }

    /// The store's name, as messages have it.
    pub fn named(&self) -> Named {
        Named {
            name: self.config.name.clone(),
            title: self.config.title.clone(),
            url: self.config.url.clone(),
        }
    }
}
