//! The books of this machine: what there is, what is taken, who has to wait.
//!
//! Comes in: quantities as Kubernetes writes them. Goes out: whether a whole gang fits, or what it lacks. Deliberately
//! absent: enforcement. A process may use more than it asked for.

mod books;
mod machine;
mod quantity;
mod request;

pub use books::{Books, Shortage};
pub use machine::Machine;
pub use quantity::{BadQuantity, Quantity};
pub use request::{Amounts, gang_request, pod_request};
