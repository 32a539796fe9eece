//! Arguments of plugins, as Go's flag package reads them: `--port=5000`, `-port=5000`, `--port 5000`.

/// Returns the last value that is given for a flag.
pub(super) fn value<'a>(arguments: &'a [String], flag: &str, default: &'a str) -> &'a str {
    let mut found = default;
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let Some(name) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else {
            break;
        };
        let (name, value) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (name, words.next()),
        };
        if let Some(value) = value.filter(|_| name == flag) {
            found = value;
        }
    }
    found
}
