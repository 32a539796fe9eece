//! Values of arguments that speak of a cluster.

use std::time::Duration;

use jobflow_k8s::names::{DNS_SUBDOMAIN_RULE, is_dns_label, is_dns_subdomain};

/// What may stand before the name of a flow, as `-o name` writes it.
const PREFIXES: [&str; 4] = ["jobflow.flow.volcano.sh/", "jobflow/", "jobflows/", "jf/"];

/// The name of a flow.
pub(super) fn flow(text: &str) -> Result<String, String> {
    let name = PREFIXES
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))
        .unwrap_or(text);
    match is_dns_subdomain(name) {
        true => Ok(name.to_owned()),
        false => Err(DNS_SUBDOMAIN_RULE.to_owned()),
    }
}

/// The name of a namespace.
pub(super) fn namespace(text: &str) -> Result<String, String> {
    match is_dns_label(text) && text.len() <= 63 {
        true => Ok(text.to_owned()),
        false => Err("small letters, digits and `-`, 63 at most".to_owned()),
    }
}

/// A length of time as kubectl has it: numbers with units, such as 90s or 1h30m; 0 alone needs none.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let mut rest = text;
    let mut milliseconds: u64 = 0;
    while !rest.is_empty() {
        let (part, after) = part(rest).ok_or("write numbers with ms, s, m, h or d, such as 90s or 1h30m")?;
        milliseconds = milliseconds.saturating_add(part);
        rest = after;
    }
    match text.is_empty() {
        true => Err("write a number and a unit, such as 90s".to_owned()),
        false => Ok(Duration::from_millis(milliseconds)),
    }
}

/// The first number with its unit, in milliseconds, and what follows.
fn part(text: &str) -> Option<(u64, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, rest) = text.split_at_checked(digits)?;
    let number: u64 = number.parse().ok()?;
    let units = [
        ("ms", 1),
        ("s", 1000),
        ("m", 60_000),
        ("h", 3_600_000),
        ("d", 86_400_000),
    ];
    let (unit, size) = units.into_iter().find(|(unit, _)| rest.starts_with(unit))?;
    Some((number.saturating_mul(size), rest.get(unit.len()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_numbers_with_units() {
        for (text, seconds) in [
            ("0", 0),
            ("90s", 90),
            ("1h30m", 5400),
            ("1500ms1s", 2),
            ("2d", 172_800),
        ] {
            assert_eq!(duration(text).map(|time| time.as_secs()), Ok(seconds), "{text}");
        }
        assert!(duration("99999999999999999d").is_ok());
        for bad in ["", "5", "s", "-1s", "1 s", "1w", "99999999999999999999999s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_flow_may_be_named_as_it_is_printed() {
        assert_eq!(flow("jobflow.flow.volcano.sh/a").as_deref(), Ok("a"));
        assert_eq!(flow("jf/a").as_deref(), Ok("a"));
        for bad in ["", "jf/", "A", "../a", "a\n"] {
            assert!(flow(bad).is_err(), "{bad:?}");
        }
    }
}
