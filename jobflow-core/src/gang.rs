//! The life of a Volcano Job as a pure machine.
