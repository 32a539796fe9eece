//! Whether a text is an amount, as Kubernetes writes them: `500m`, `4Gi`, `1e3`.

/// Whether a text is an amount.
pub(super) fn is_quantity(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let points = number.bytes().filter(|byte| *byte == b'.').count();
    number.bytes().any(|byte| byte.is_ascii_digit()) && points <= 1 && is_suffix(suffix)
}

fn is_suffix(suffix: &str) -> bool {
    const SUFFIXES: [&str; 16] = [
        "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
    ];
    if SUFFIXES.contains(&suffix) {
        return true;
    }
    let Some(exponent) = suffix.strip_prefix(['e', 'E']) else {
        return false;
    };
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    !digits.is_empty() && digits.len() <= 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_those_of_kubernetes() {
        for text in ["1", "500m", "4Gi", "1.5", ".5", "5.", "1e3", "12E-2", "-1", "1E"] {
            assert!(is_quantity(text), "{text}");
        }
        for text in [
            "", "4 GB", "4GB", "Gi", "1.2.3", "1e", "1e99999", "0x10", "4gi", ".",
        ] {
            assert!(!is_quantity(text), "{text}");
        }
    }
}
