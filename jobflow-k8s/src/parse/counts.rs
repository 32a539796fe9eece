//! Numbers of a spec as bounded ones of the core.

use jobflow_core::Span;
use jobflow_core::verdict::AtLeast;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::fault::{Code, Fault, FieldPath};

/// The longest time that is read: a hundred years.
const MOST_SECONDS: i64 = 3_153_600_000;

/// A number from `least` to `most`.
pub(super) fn count(
    value: Option<i64>,
    (least, most): (u32, u32),
    path: &FieldPath,
    faults: &mut Vec<Fault>,
) -> Option<u32> {
    let value = value?;
    let count = u32::try_from(value)
        .ok()
        .filter(|count| (least..=most).contains(count));
    if count.is_none() {
        let message = format!("{value} is out of range: {least} to {most}");
        faults.push(Fault::error(Code::BadValue, path.clone(), message));
    }
    count
}

/// A time in seconds, `least` at least.
pub(super) fn seconds(
    value: Option<i64>,
    least: i64,
    path: &FieldPath,
    faults: &mut Vec<Fault>,
) -> Option<Span> {
    let value = value?;
    if !(least..=MOST_SECONDS).contains(&value) {
        let message = format!("{value} seconds are out of range: {least} to {MOST_SECONDS}");
        faults.push(Fault::error(Code::BadValue, path.clone(), message));
        return None;
    }
    u64::try_from(value).ok().map(Span::from_secs)
}

/// A number, or a percentage from `1%` to `100%`.
pub(super) fn at_least(
    value: Option<&IntOrString>,
    path: &FieldPath,
    faults: &mut Vec<Fault>,
) -> Option<AtLeast> {
    let value = value?;
    let found = match value {
        IntOrString::Int(count) => u32::try_from(*count)
            .ok()
            .filter(|count| *count > 0)
            .map(AtLeast::Count),
        IntOrString::String(text) => percent(text).map(AtLeast::Percent),
    };
    if found.is_none() {
        let text = match value {
            IntOrString::Int(count) => count.to_string(),
            IntOrString::String(text) => text.chars().take(40).filter(|c| !c.is_control()).collect(),
        };
        let fault = Fault::error(
            Code::BadValue,
            path.clone(),
            format!("`{text}` is no number above 0 and no percentage"),
        );
        faults.push(fault.with_help("write a number such as `3`, or a percentage from `1%` to `100%`"));
    }
    found
}

fn percent(text: &str) -> Option<u8> {
    let digits = text.strip_suffix('%')?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits
        .parse()
        .ok()
        .filter(|percent| plain && (1..=100).contains(percent))
}
