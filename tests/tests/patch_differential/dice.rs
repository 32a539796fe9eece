//! Choices that are the same for the same seed.

/// A source of choices.
pub(crate) struct Dice(u64);

impl Dice {
    /// The choices of a seed.
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(1))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `most`.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most.max(1) as u64).unwrap_or(0)
    }

    /// Whether something happens that happens in `percent` of all cases.
    pub(crate) fn happens(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several things.
    pub(crate) fn one_of<T: Clone>(&mut self, things: &[T]) -> T {
        things[self.below(things.len())].clone()
    }

    /// Some of several things, in any order.
    pub(crate) fn some_of<T: Clone>(&mut self, things: &[T], percent: usize) -> Vec<T> {
        let mut chosen: Vec<T> = things.iter().filter(|_| self.happens(percent)).cloned().collect();
        for at in (1..chosen.len()).rev() {
            let other = self.below(at + 1);
            chosen.swap(at, other);
        }
        chosen
    }
}
