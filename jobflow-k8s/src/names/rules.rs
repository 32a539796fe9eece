//! What names may look like.

/// The rule for names of objects and entries, as help for who broke it.
pub const DNS_SUBDOMAIN_RULE: &str =
    "lower-case letters, digits, `-` and `.`; each part between dots begins and ends with a letter or digit";
/// The rule for names of parameters and outputs, as help for who broke it.
pub const IDENTIFIER_RULE: &str = "letters, digits and `_`, not beginning with a digit";

/// Whether a text is a DNS subdomain (RFC 1123), of any length.
#[must_use]
pub fn is_dns_subdomain(text: &str) -> bool {
    text.split('.').all(is_dns_label_of_any_length)
}

/// Whether a text is a DNS label (RFC 1123): 63 characters at most, no dots.
#[must_use]
pub fn is_dns_label(text: &str) -> bool {
    text.len() <= 63 && is_dns_label_of_any_length(text)
}

/// Whether a text is an identifier.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.chars().all(allowed) && text.starts_with(|c: char| !c.is_ascii_digit())
}

fn is_dns_label_of_any_length(text: &str) -> bool {
    let ends = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(ends) && text.ends_with(ends) && text.chars().all(|c| ends(c) || c == '-')
}
