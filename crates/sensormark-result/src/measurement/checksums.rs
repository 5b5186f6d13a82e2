//! `SHA256SUMS` of a run's folder: which trials were written, and a checksum of each file. `sha256sum --check SHA256SUMS` reads it too.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The file's name in the folder of a run.
pub const FILE: &str = "SHA256SUMS";

/// Checksums by file, as the file holds them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checksums(BTreeMap<String, String>);

/// How a file fits its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It is as it was written.
    Same,
    /// It was changed.
    Changed,
    /// It is not listed: the run did not write it.
    NotListed,
}

impl Checksums {
    /// Reads the file's text.
    ///
    /// # Errors
    /// The number of a line that is not "checksum, two spaces, name".
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut sums = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let (sum, name) = line
                .split_once("  ")
                .filter(|(sum, _)| sum.len() == 64)
                .ok_or_else(|| format!("line {number} is no checksum and name"))?;
            sums.insert(name.to_owned(), sum.to_owned());
        }
        Ok(Self(sums))
    }

    /// Takes a file up.
    pub fn add(&mut self, name: &str, bytes: &[u8]) {
        self.0.insert(name.to_owned(), sum(bytes));
    }

    /// How a file with these bytes fits.
    pub fn fit(&self, name: &str, bytes: &[u8]) -> Fit {
        match self.0.get(name) {
            None => Fit::NotListed,
            Some(listed) if *listed == sum(bytes) => Fit::Same,
            Some(_) => Fit::Changed,
        }
    }

    /// The files that are listed.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let lines = self.0.iter().map(|(name, sum)| format!("{sum}  {name}\n"));
        lines.collect()
    }
}

fn sum(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("writing to memory does not fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_that_of_sha256sum() {
        let mut sums = Checksums::default();
        sums.add("trials/a.json", b"abc");
        let text = sums.text();
        assert_eq!(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  trials/a.json\n");
        assert_eq!(Checksums::parse(&text).as_ref(), Ok(&sums));
        assert_eq!(sums.fit("trials/a.json", b"abc"), Fit::Same);
        assert_eq!(sums.fit("trials/a.json", b"abd"), Fit::Changed);
        assert_eq!(sums.fit("trials/b.json", b"abc"), Fit::NotListed);
        let wrong = Checksums::parse("nothing\n").unwrap_err();
        assert!(wrong.starts_with("line 1"), "{wrong}");
    }
}
