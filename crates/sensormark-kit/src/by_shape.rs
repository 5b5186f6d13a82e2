//! What a session keeps by the shape of a statement: statements that the server has prepared, or plans of questions.

use std::collections::HashMap;
use std::hash::Hash;

/// Shapes that a session keeps at most; more than any workload has. With one more all are made anew, so that a session cannot grow without end.
/// A store whose driver or connection keeps prepared statements itself bounds them by this number too, so that all stores keep as many.
pub const MOST_SHAPES: usize = 512;

/// One thing for each shape. It is made when it is first needed, and it is cheap to clone.
#[derive(Debug)]
pub struct ByShape<S, T>(HashMap<S, T>);

impl<S, T> Default for ByShape<S, T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<S: Eq + Hash, T: Clone> ByShape<S, T> {
    /// What is kept for this shape; where there is nothing, `make` makes it.
    ///
    /// # Errors
    /// Those of `make`. Then nothing is kept.
    pub fn get<E>(&mut self, shape: S, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        if let Some(kept) = self.0.get(&shape) {
            return Ok(kept.clone());
        }
        make().map(|made| self.keep(shape, made))
    }

    /// The same, where making it waits for the server.
    ///
    /// # Errors
    /// Those of `make`. Then nothing is kept.
    pub async fn prepared<E>(&mut self, shape: S, make: impl AsyncFnOnce() -> Result<T, E>) -> Result<T, E> {
        if let Some(kept) = self.0.get(&shape) {
            return Ok(kept.clone());
        }
        make().await.map(|made| self.keep(shape, made))
    }

    fn keep(&mut self, shape: S, made: T) -> T {
        if self.0.len() >= MOST_SHAPES {
            self.0.clear();
        }
        self.0.insert(shape, made.clone());
        made
    }

    /// All that is kept.
    pub fn iter(&self) -> impl Iterator<Item = (&S, &T)> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shape_is_made_once_until_there_are_too_many() {
        let mut kept = ByShape::default();
        let mut made = 0;
        let mut get = |shape: usize| {
            let found: Result<usize, ()> = kept.get(shape, || {
                made += 1;
                Ok(made)
            });
            found
        };
        assert_eq!((get(7), get(8), get(7)), (Ok(1), Ok(2), Ok(1)));
        for shape in 0..MOST_SHAPES {
            assert!(get(shape).is_ok());
        }
        assert_eq!(get(MOST_SHAPES - 1), Ok(MOST_SHAPES), "the last is kept");
        assert_eq!(get(MOST_SHAPES), Ok(MOST_SHAPES + 1), "one too many");
        assert_eq!(get(7), Ok(MOST_SHAPES + 2), "the others are made anew");
    }

    #[test]
    fn what_fails_is_not_kept() {
        let mut kept: ByShape<u8, u8> = ByShape::default();
        assert_eq!(kept.get(1, || Err("refused")), Err("refused"));
        assert_eq!(kept.get(1, || Ok::<_, ()>(2)), Ok(2));
    }
}
