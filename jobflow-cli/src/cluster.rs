//! A cluster as the command line meets it: reached as kubectl reaches it, with the caller's own rights.
//!
//! Comes in: what was typed, the environment, objects of the server. Goes out: flows, their jobs and pods, and refusals
//! in words. Deliberately absent: any decision about flows, the controller, and output.

pub(crate) mod answers;
pub(crate) mod edit;
pub(crate) mod family;
pub(crate) mod flow;
pub(crate) mod follow;
pub(crate) mod kinds;
mod kubeconfig;
pub(crate) mod live;
pub(crate) mod pages;
pub(crate) mod queues;
mod reach;
pub(crate) mod refusal;
pub(crate) mod replay;
pub(crate) mod sending;

pub(crate) use reach::Cluster;
