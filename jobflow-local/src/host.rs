//! Runs Jobs as pods of processes: drives the gang machine with what the executor tells, and turns its decisions into
//! tasks. (The lead writes this file and everything under `host/` and `runner`; what a container's task looks like
//! comes from `pod`, `volumes` and `resources`.)
