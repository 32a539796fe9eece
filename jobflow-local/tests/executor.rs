//! The executor with real processes: what it starts, what it survives, what it refuses.

#[cfg(test)]
mod executor {
    mod bounds;
    mod deaths;
    mod disk;
    mod tasks;
    mod world;
}
