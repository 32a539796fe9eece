//! `mpi`: the master learns the workers' hosts.

use super::{Target, Variable, arguments::value};
use crate::pod::shape::JobShape;

pub(super) fn variables(job: &JobShape, arguments: &[String], target: Target) -> Option<Variable> {
    let master = job.task(value(arguments, "master", "master"))?;
    let worker = job.task(value(arguments, "worker", "worker"))?;
    (target.task == master).then(|| ("MPI_HOST".to_owned(), job.hosts(worker).join(",")))
}
