//! Tests of what is observed, with objects and answers as real servers gave them.

mod addresses;
mod memory;
mod ownership;
mod pods;
mod refusals;
mod traces;
