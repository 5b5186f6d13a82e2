//! Commands that a reader may type again.

/// What stands before a command in a list.
pub const COMMAND: &str = "command: ";

/// The argument as a shell takes it.
pub fn quoted(argument: &str) -> String {
    let is_plain = !argument.is_empty()
        && argument.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./,:=@%+".contains(&byte));
    if is_plain { argument.to_owned() } else { format!("'{}'", argument.replace('\'', "'\\''")) }
}
