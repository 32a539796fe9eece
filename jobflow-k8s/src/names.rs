//! Names: what they may look like, which ones are made from others, and what a created Job carries.
//!
//! Comes in: names of flows and entries, instances, attempts. Goes out: names of Jobs, labels, annotations, and the
//! faults of names that are too long or meet. Deliberately absent: reading an identity back out of a name; that is
//! never done.

mod collisions;
mod derived;
mod labels;
mod rules;

pub use collisions::{Collision, Named, collisions};
pub use derived::{MOST_NAME, TooLong, job_name, longest};
pub use labels::{
    ANNOTATION_NODE, ANNOTATION_TEMPLATE, ANNOTATION_TTL, CREATED_BY_FLOW, CREATED_BY_TEMPLATE, FROZEN,
    LABEL_ATTEMPT, LABEL_ENTRY, LABEL_INDEX, is_copied, is_of_frozen, is_reserved, label_value,
};
pub use rules::{DNS_SUBDOMAIN_RULE, IDENTIFIER_RULE, is_dns_label, is_dns_subdomain, is_identifier};
