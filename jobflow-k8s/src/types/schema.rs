//! Schemas of values that a Rust type cannot describe to the API server.

use schemars::{Schema, SchemaGenerator, json_schema};

/// What a name of an entry, a parameter's template or a job must look like.
pub(crate) const DNS_SUBDOMAIN: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
/// What the name of a parameter or an output must look like: an identifier of an expression.
pub(crate) const IDENTIFIER: &str = "^[A-Za-z_][A-Za-z0-9_]*$";

/// Any JSON value.
pub(crate) fn any(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "nullable": true, "x-kubernetes-preserve-unknown-fields": true })
}

/// A list of any JSON values.
pub(crate) fn any_list(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "nullable": true,
        "items": { "nullable": true, "x-kubernetes-preserve-unknown-fields": true },
    })
}

/// A map from names to any JSON values.
pub(crate) fn any_map(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "nullable": true,
        "additionalProperties": { "nullable": true, "x-kubernetes-preserve-unknown-fields": true },
    })
}

/// A map from names to lists of any JSON values.
pub(crate) fn map_of_any_lists(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "nullable": true,
        "additionalProperties": {
            "type": "array",
            "items": { "nullable": true, "x-kubernetes-preserve-unknown-fields": true },
        },
    })
}

/// An object about which the API server knows nothing.
pub(crate) fn untyped_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "nullable": true, "x-kubernetes-preserve-unknown-fields": true })
}

/// A pod template: kept whole, its metadata too, checked by us and by Volcano.
pub(crate) fn pod_template(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "nullable": true,
        "x-kubernetes-preserve-unknown-fields": true,
        "properties": {
            "metadata": { "type": "object", "nullable": true, "x-kubernetes-preserve-unknown-fields": true },
        },
    })
}

/// A whole number, or a string such as `80%` or an expression's name.
pub(crate) fn int_or_string(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "nullable": true, "x-kubernetes-int-or-string": true })
}
