//! A command in front of this program that places a role on a host: `ssh db1`, `srun -w node3`, `kubectl exec -i pod --`.
//!
//! Placing processes is left to what already runs the machines. A launcher only says which words come first. The role's configuration and secrets go through
//! the pipe, so no launcher has them on a command line.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// What stands for the host's name in the words of a launcher.
pub const HOST: &str = "{host}";

/// The program's name on other hosts, where nobody says another: it is looked for there as any command.
pub const PROGRAM: &str = "sensormark";

/// Options of ssh that hold unless the user gives others. ssh asks for no password, because nobody could type it. It notices within 15 s that a host is gone.
const SSH_OPTIONS: [&str; 4] =
    ["BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3"];

/// Words of the presets, by name.
const PRESETS: [(&str, &[&str]); 4] = [
    ("ssh", &["ssh", "-T", HOST]),
    ("slurm", &["srun", "--nodes=1", "--ntasks=1", "--overlap", "--nodelist={host}"]),
    ("kubernetes", &["kubectl", "exec", "-i", HOST, "--"]),
    ("docker", &["docker", "exec", "-i", HOST]),
];

/// A command in front of this program that places a role on a host; or none, where the role runs on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// What comes before the program. Empty for this machine.
    words: Vec<String>,
    /// The host's name. None for this machine.
    host: Option<String>,
    /// The program there.
    program: String,
}

/// Why words are no launcher.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LauncherError {
    /// There is no such preset.
    #[error(
        "{text:?} is no launcher: write PRESET:HOST with {}, or a command of several words",
        preset_names()
    )]
    Unknown {
        /// What was given.
        text: String,
    },
    /// The host's name is missing, or could be taken for an option.
    #[error(
        "{text:?} names no host: a host's name is not empty, begins with no dash, and has neither spaces nor control characters"
    )]
    Host {
        /// What was given.
        text: String,
    },
    /// The words cannot be told apart.
    #[error("the launcher {text:?} has a quotation mark that is not closed")]
    Quote {
        /// What was given.
        text: String,
    },
    /// A template does not say where the host's name goes.
    #[error("the launcher {text:?} does not say where the host's name goes: write {{host}} there")]
    NoPlace {
        /// What was given.
        text: String,
    },
    /// A command with a place for the host's name, and no name.
    #[error(
        "the launcher {text:?} has a place for a host's name, and no name is given: use --launcher for the command and --host ROLE=NAME for the name"
    )]
    NoName {
        /// What was given.
        text: String,
    },
}

impl Launcher {
    /// This machine.
    pub fn local(program: &Path) -> Self {
        Self { words: Vec::new(), host: None, program: program.to_string_lossy().into_owned() }
    }

    /// `ssh:HOST`, `slurm:NODE`, `kubernetes:POD` or `kubernetes:NAMESPACE/POD`, `docker:CONTAINER`; or a whole command of several words, whose last word names
    /// the host in messages.
    ///
    /// # Errors
    /// What it lacks.
    pub fn parse(text: &str) -> Result<Self, LauncherError> {
        if text.trim().contains(char::is_whitespace) {
            if text.contains(HOST) {
                let text = text.to_owned();
                return Err(LauncherError::NoName { text });
            }
            let words = split(text)?;
            let host = words.last().cloned();
            return Ok(Self::new(words, host));
        }
        let unknown = || LauncherError::Unknown { text: text.to_owned() };
        let (name, host) = text.split_once(':').ok_or_else(unknown)?;
        let (_, words) = PRESETS.iter().find(|(preset, _)| *preset == name).ok_or_else(unknown)?;
        let mut words = words.iter().map(|word| (*word).to_owned()).collect();
        if name == "ssh" {
            tell_ssh(&mut words);
        }
        match host.split_once('/') {
            Some((namespace, pod)) if name == "kubernetes" => {
                let mut placed = Self::placed(words, pod, text)?;
                checked(namespace, text)?;
                placed.words.insert(2, format!("--namespace={namespace}"));
                Ok(placed)
            }
            _ => Self::placed(words, host, text),
        }
    }

    /// The command with this host's name in place of `{host}`.
    ///
    /// # Errors
    /// When the command has no place for the name, or the name cannot be one.
    pub fn from_template(template: &str, host: &str) -> Result<Self, LauncherError> {
        let mut words = split(template)?;
        if !template.contains(HOST) {
            let text = template.to_owned();
            return Err(LauncherError::NoPlace { text });
        }
        if words.first().is_some_and(|word| file_name(word) == "ssh") {
            tell_ssh(&mut words);
        }
        Self::placed(words, host, host)
    }

    fn placed(mut words: Vec<String>, host: &str, text: &str) -> Result<Self, LauncherError> {
        checked(host, text)?;
        for word in &mut words {
            *word = word.replace(HOST, host);
        }
        Ok(Self::new(words, Some(host.to_owned())))
    }

    fn new(words: Vec<String>, host: Option<String>) -> Self {
        Self { words, host, program: PROGRAM.to_owned() }
    }

    /// The same with the program at another path there.
    #[must_use]
    pub fn with_program(mut self, program: &str) -> Self {
        program.clone_into(&mut self.program);
        self
    }

    /// This program with these arguments, there. The caller pipes standard input, output and error.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let words: Vec<&str> =
            std::iter::once(self.program.as_str()).chain(arguments.iter().copied()).collect();
        self.other(&words)
    }

    /// Any program with its arguments, there. The caller pipes standard input, output and error.
    pub fn other(&self, words: &[&str]) -> Command {
        let given = words.iter().map(|word| self.word(word));
        let mut all = self.words.iter().cloned().chain(given);
        let mut command = Command::new(all.next().unwrap_or_default());
        command.args(all);
        command
    }

    /// The host's name, as messages and results show it; none for this machine.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// The path of the program there.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The words in front of the program, as a message shows them.
    pub fn shown(&self) -> String {
        self.words.join(" ")
    }

    /// A word as it reaches the other host: ssh hands all words to a shell there, in one line.
    fn word(&self, word: &str) -> String {
        let is_ssh = self.words.iter().any(|word| file_name(word) == "ssh");
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./=:@%+,-".contains(c);
        if is_ssh && (word.is_empty() || !word.chars().all(is_plain)) {
            format!("'{}'", word.replace('\'', r"'\''"))
        } else {
            word.to_owned()
        }
    }
}

/// Adds ssh's options to its words, but those that the user wrote: of two, ssh would take ours, which comes first.
fn tell_ssh(words: &mut Vec<String>) {
    let written = words.join(" ").to_ascii_lowercase();
    let is_open = |option: &&str| {
        let name = option.split('=').next().unwrap_or(option);
        !written.contains(&name.to_ascii_lowercase())
    };
    let options = SSH_OPTIONS.into_iter().filter(is_open);
    let options: Vec<String> = options.flat_map(|option| ["-o", option]).map(str::to_owned).collect();
    words.splice(1..1, options);
}

fn file_name(word: &str) -> &str {
    let name = Path::new(word).file_name().and_then(OsStr::to_str);
    name.unwrap_or_default()
}

fn checked(host: &str, text: &str) -> Result<(), LauncherError> {
    let is_name = !host.is_empty()
        && !host.starts_with('-')
        && !host.contains(|c: char| c.is_whitespace() || c.is_control());
    if is_name { Ok(()) } else { Err(LauncherError::Host { text: text.to_owned() }) }
}

/// The presets' names, as a message lists them.
fn preset_names() -> String {
    PRESETS.map(|(name, _)| name).join(", ")
}

/// Words as a shell tells them apart: by spaces, but not inside quotation marks.
fn split(text: &str) -> Result<Vec<String>, LauncherError> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for character in text.chars() {
        match (character, quote) {
            ('\'' | '"', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (character, Some(open)) if character == open => quote = None,
            (character, None) if character.is_whitespace() => words.extend(word.take()),
            (character, _) => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    match quote {
        None => Ok(words),
        Some(_) => Err(LauncherError::Quote { text: text.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> Vec<&str> {
        let all = std::iter::once(command.get_program()).chain(command.get_args());
        all.map(|word| word.to_str().expect("UTF-8")).collect()
    }

    #[test]
    fn this_machine_needs_no_words_in_front() {
        let here = Launcher::local(Path::new("/opt/my programs/sensormark"));
        let command = here.command(&["role", "trial"]);
        let expected = ["/opt/my programs/sensormark", "role", "trial"];
        assert_eq!(words(&command), expected);
        assert_eq!(here.host(), None);
    }

    #[test]
    fn presets_put_the_hosts_name_where_it_goes() {
        let parse = |text| Launcher::parse(text).expect(text);
        let ssh = parse("ssh:me@db1");
        assert_eq!(ssh.host(), Some("me@db1"));
        let command = ssh.command(&["role", "trial"]);
        let all = words(&command);
        assert!(all.ends_with(&["me@db1", "sensormark", "role", "trial"]));
        for option in SSH_OPTIONS {
            assert!(all.contains(&option), "{all:?}");
        }
        let slurm = parse("slurm:node1").with_program("/opt/sensormark");
        let command = slurm.command(&["--version"]);
        assert!(words(&command).ends_with(&["--nodelist=node1", "/opt/sensormark", "--version"]));
        let command = parse("kubernetes:lab/pod-0").command(&[]);
        let expected = ["kubectl", "exec", "--namespace=lab", "-i", "pod-0", "--", "sensormark"];
        assert_eq!(words(&command), expected);
        let command = parse("docker:db").command(&[]);
        assert_eq!(words(&command), ["docker", "exec", "-i", "db", "sensormark"]);
    }

    #[test]
    fn ssh_gets_words_that_a_shell_takes_apart_and_others_get_them_as_they_are() {
        let script = ["sh", "-c", "cat > 'a b'"];
        let ssh = Launcher::parse("ssh:db1").expect("a preset");
        assert!(words(&ssh.other(&script)).ends_with(&["sh", "-c", r"'cat > '\''a b'\'''"]));
        let docker = Launcher::parse("docker:db1").expect("a preset");
        assert!(words(&docker.other(&script)).ends_with(&script));
    }

    #[test]
    fn a_template_takes_quoted_words_and_the_hosts_name() {
        let made = Launcher::from_template("ssh -F 'my config' {host}", "pi1").expect("a template");
        let command = made.command(&["role", "x"]);
        let expected = ["-F", "my config", "pi1", "sensormark", "role", "x"];
        assert!(words(&command).ends_with(&expected), "{command:?}");
        let whole = Launcher::parse("ip netns exec pi1").expect("words");
        assert_eq!(whole.host(), Some("pi1"));
        assert_eq!(words(&whole.other(&["true"])), ["ip", "netns", "exec", "pi1", "true"]);
    }

    #[test]
    fn ssh_of_a_template_notices_a_host_that_is_gone_and_the_users_options_count() {
        let options = |template: &str| -> Vec<String> {
            let made = Launcher::from_template(template, "pi1").expect("a template");
            let command = made.command(&[]);
            let all = words(&command);
            all[1..].iter().map(|word| (*word).to_owned()).collect()
        };
        let all = options("ssh {host}");
        let told: Vec<&str> = all.iter().step_by(2).map(String::as_str).take(4).collect();
        assert_eq!(told, ["-o"; 4]);
        let told: Vec<&str> = all.iter().skip(1).step_by(2).map(String::as_str).collect();
        assert_eq!(told[..4], SSH_OPTIONS);
        let own = "/usr/bin/ssh -o connecttimeout=60 -oServerAliveInterval=1 {host}";
        let all = options(own).join(" ");
        assert_eq!(
            all,
            "-o BatchMode=yes -o ServerAliveCountMax=3 -o connecttimeout=60 -oServerAliveInterval=1 pi1 sensormark"
        );
        assert_eq!(options("mosh {host}"), ["pi1", "sensormark"]);
    }

    #[test]
    fn what_is_no_launcher_is_refused_in_words() {
        let refused = |text: &str| Launcher::parse(text).expect_err(text).to_string();
        assert!(refused("db1").contains("ssh, slurm, kubernetes, docker"));
        assert!(refused("telnet:db1").contains("\"telnet:db1\" is no launcher"));
        assert!(refused("ssh:").contains("names no host"));
        assert!(refused("ssh:-oProxyCommand=x").contains("begins with no dash"));
        assert!(refused("ssh -p 'x y").contains("not closed"));
        assert!(refused("srun -w {host}").contains("--launcher"));
        let template = Launcher::from_template("srun -N1", "a").expect_err("no place");
        assert!(template.to_string().contains("write {host} there"));
    }
}
