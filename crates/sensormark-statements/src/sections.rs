//! `statements.*`: sections of text, which are templates, in blocks, which are layouts.
//!
//! `-- layout: NAME < BASE, …` opens a layout; sections before the first one hold for all layouts. A section is `-- statement: NAME` or
//! `-- macro: NAME(arguments)`. `-- in the client: REASON` in a statement says why the client does it. A section of a layout comes first, then those of its bases, then the
//! store's, then the standard's. `{{ super() }}` is the text that would hold otherwise. Other comments say something to the reader alone.

use std::collections::BTreeMap;

/// What a section is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A text that is sent.
    Statement,
    /// A part of texts.
    Macro,
}

/// A section.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// What stands behind the kind: `window(time)`, `range -> json records`.
    pub head: String,
    /// The template.
    pub text: String,
    /// Where it begins: file and line.
    pub place: String,
    /// Why the client does it, in full or in part.
    pub in_the_client: Option<String>,
}

/// Sections by kind and name.
pub type Sections = BTreeMap<(Kind, String), Section>;

/// A layout's block.
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// Its name.
    pub name: String,
    /// The layouts that it is based on.
    pub bases: Vec<String>,
    /// What `list` prints.
    pub says: String,
    /// What is said of it in comments, by word.
    pub options: BTreeMap<String, String>,
    /// Its sections.
    pub sections: Sections,
    /// Whether a block of the same name stands in its place, in a store that extends this one.
    pub is_beneath: bool,
}

/// A file.
#[derive(Debug, Clone, Default)]
pub struct File {
    /// Sections that hold for all layouts.
    pub common: Sections,
    /// Layouts, in their order.
    pub blocks: Vec<Block>,
    /// Sections for all layouts of the stores that this one extends, the nearest first.
    pub beneath: Vec<Sections>,
}

/// Words that a layout says something with.
const OPTIONS: [&str; 20] = [
    "family",
    "measured",
    "kept",
    "needs",
    "tags",
    "rows",
    "repeated",
    "some fields",
    "in the client",
    "two commits",
    "search without a bound",
    "readings in a write",
    "readings in a request",
    "bytes in a write",
    "named",
    "rows in a statement",
    "fields in a statement",
    "statements in a request",
    // Durability classes that a layout does not have, and why.
    "durable",
    "unacknowledged",
];

impl File {
    /// Reads a file of this name.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let mut file = Self::default();
        let mut open: Option<(Kind, String)> = None;
        for (number, line) in text.lines().enumerate() {
            let place = format!("{name}:{}", number + 1);
            let Some(comment) = line.strip_prefix("--") else {
                if let Some(key) = &open
                    && let Some(section) = file.sections().get_mut(key)
                {
                    section.text.push_str(line);
                    section.text.push('\n');
                } else if !line.trim().is_empty() {
                    return Err(format!("{place}: text outside of a section"));
                }
                continue;
            };
            let comment = comment.trim();
            if let Some(rest) = comment.strip_prefix("layout:") {
                file.open_block(rest, &place)?;
                open = None;
            } else if let Some((kind, rest)) = section(comment) {
                let key = (kind, rest.split([' ', '(']).next().unwrap_or_default().to_owned());
                let opened = Section { head: rest.to_owned(), place: place.clone(), ..Section::default() };
                if file.sections().insert(key.clone(), opened).is_some() {
                    return Err(format!("{place}: {} is there twice", key.1));
                }
                open = Some(key);
            } else if let (Some(key), Some(reason)) = (&open, comment.strip_prefix("in the client:")) {
                if let Some(section) = file.sections().get_mut(key) {
                    section.in_the_client = Some(reason.trim().to_owned());
                }
            } else if open.is_none()
                && let Some(block) = file.blocks.last_mut()
            {
                block.option(comment, &place)?;
            }
        }
        Ok(file)
    }

    /// This file over that of the store that it extends. A block of a name that is there adds to it, and layouts that are based on it have that too.
    #[must_use]
    pub fn over(mut self, base: Self) -> Self {
        let mut blocks = Vec::new();
        for mut block in base.blocks {
            let Some(place) = self.blocks.iter().position(|own| own.name == block.name) else {
                blocks.push(block);
                continue;
            };
            let mut own = self.blocks.remove(place);
            let beneath = format!("{} beneath", block.name);
            own.bases.push(beneath.clone());
            for (word, text) in &block.options {
                own.options.entry(word.clone()).or_insert_with(|| text.clone());
            }
            (block.name, block.is_beneath) = (beneath, true);
            blocks.extend([block, own]);
        }
        blocks.extend(self.blocks);
        let beneath = [base.common].into_iter().chain(base.beneath).collect();
        Self { common: self.common, blocks, beneath }
    }

    fn sections(&mut self) -> &mut Sections {
        self.blocks.last_mut().map_or(&mut self.common, |block| &mut block.sections)
    }

    fn open_block(&mut self, rest: &str, place: &str) -> Result<(), String> {
        let (name, bases) = rest.split_once('<').unwrap_or((rest, ""));
        let bases = bases.split(',').map(|base| base.trim().to_owned()).filter(|base| !base.is_empty());
        let block = Block { name: name.trim().to_owned(), bases: bases.collect(), ..Block::default() };
        let known = |name: &String| self.blocks.iter().any(|other| other.name == *name);
        if known(&block.name) {
            return Err(format!("{place}: layout {} is there twice", block.name));
        }
        if let Some(missing) = block.bases.iter().find(|&base| !known(base)) {
            return Err(format!("{place}: there is no layout {missing} before this one"));
        }
        self.blocks.push(block);
        Ok(())
    }

    /// A layout and those that it is based on, the nearest first; one on which several are based comes after all of them.
    pub fn lineage(&self, name: &str) -> Vec<&Block> {
        let mut found: Vec<&Block> = Vec::new();
        if let Some(block) = self.blocks.iter().find(|block| block.name == name) {
            found.push(block);
            for base in &block.bases {
                found.extend(self.lineage(base));
            }
        }
        let mut last: Vec<&Block> = Vec::new();
        for block in found.into_iter().rev() {
            if !last.iter().any(|other| other.name == block.name) {
                last.push(block);
            }
        }
        last.reverse();
        last
    }
}

fn section(comment: &str) -> Option<(Kind, &str)> {
    let statement = comment.strip_prefix("statement:").map(|rest| (Kind::Statement, rest));
    let section = statement.or_else(|| comment.strip_prefix("macro:").map(|rest| (Kind::Macro, rest)));
    section.map(|(kind, rest)| (kind, rest.trim()))
}

impl Block {
    fn option(&mut self, comment: &str, place: &str) -> Result<(), String> {
        if let Some(says) = comment.strip_prefix('|') {
            self.says = says.trim().to_owned();
        } else if let Some((word, rest)) = comment.split_once(':') {
            if !OPTIONS.contains(&word) {
                return Err(format!("{place}: {word:?} says nothing of a layout"));
            }
            self.options.insert(word.to_owned(), rest.trim().to_owned());
        }
        Ok(())
    }
}
