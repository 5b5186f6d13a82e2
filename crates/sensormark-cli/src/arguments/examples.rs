//! What help texts show after the options: examples, and the variables of the environment. A test parses every example.

/// After the list of commands.
pub const ALL: &str = "\
Examples:
  sensormark run machine-tool                            # the embedded default, under a minute
  sensormark run machine-tool --on sqlite,postgresql     # starts PostgreSQL itself
  sensormark doctor                                      # what is here, and how to install what is not

sensormark COMMAND --help says more of a command.";

/// The same, in the long help.
pub const ALL_WITH_ENVIRONMENT: &str = "\
Examples:
  sensormark run machine-tool                            # the embedded default, under a minute
  sensormark run machine-tool --on sqlite,postgresql     # starts PostgreSQL itself
  sensormark doctor                                      # what is here, and how to install what is not

sensormark COMMAND --help says more of a command.

Environment:
  SENSORMARK_STATE                     folder for servers that sensormark starts, and what it keeps between runs
  SENSORMARK_SERVERS                   folder that sensormark install-servers installs servers into
  SENSORMARK_DUCKDB_HOME               folder of DuckDB's library, libduckdb.so
  SENSORMARK_POSTGRESQL_HOME           folder of a PostgreSQL installation
  SENSORMARK_MARIADB_HOME              folder of a MariaDB installation
  SENSORMARK_MONGODB_HOME              folder of a MongoDB installation
  SENSORMARK_CASSANDRA_HOME            folder of a Cassandra installation
  SENSORMARK_INFLUXDB_HOME             folder of an InfluxDB installation
  SENSORMARK_GRIDDB_HOME               folder of a GridDB installation
  SENSORMARK_GRIDDB_CLIENT             GridDB's C client, the file libgridstore.so
  SENSORMARK_GRIDDB_LISTEN_EVERYWHERE  yes: start GridDB although it listens on every interface
  SENSORMARK_QUESTDB_HOME              folder of a QuestDB installation
  JAVA_HOME                            the Java that starts Cassandra and QuestDB
  NO_COLOR                             no colours in the terminal

Exit codes: 0 all trials valid; 1 a trial is not valid, or a limit was missed; 2 usage or configuration;
3 a database could not be reached or started; 4 a file could not be read or written; 130 interrupted.";

/// After `run`.
pub const RUN: &str = "\
Examples:
  sensormark run machine-tool --on sqlite,postgresql     # two databases, seconds
  sensormark run devops --on all --scale standard        # all that are here, repeated
  sensormark run devops --scale firm --dry-run           # the plan alone: trials, time, disk
  sensormark run devops --on postgresql:individual=postgresql://USER:PASSWORD@HOST:5432/
  sensormark run own.toml --set series.count=500         # your own workload, see sensormark init
  sensormark run own.toml --find-limit                   # which layouts meet its requirements, and with what headroom";

/// After `report`.
pub const REPORT: &str = "\
Examples:
  sensormark report results/20260101-120000-abc          # one run, as text
  sensormark report results --html all.html              # all runs, as one page
  sensormark report results/20260101-120000-abc --format json";

/// After `compare`.
pub const COMPARE: &str = "\
Examples:
  sensormark compare results/before results/after
  sensormark compare results/before results/after --fail-on regression
  sensormark compare results/before results/after --fail-on regression --must-see 10";

/// After `serve`.
pub const SERVE: &str = "\
Example:
  sensormark serve results";

/// After `init`.
pub const INIT: &str = "\
Examples:
  sensormark init plant.toml                             # asks, in a terminal
  sensormark init plant.toml --yes --sensors 250 --every 5s --keep 30d --on sqlite,postgresql
  sensormark init own.toml --example                     # a file that shows every kind of key";

/// After `list`.
pub const LIST: &str = "\
Examples:
  sensormark list                                        # workloads and stores
  sensormark list devops --scale standard                # every number, every layout
  sensormark list postgresql                             # its layouts in every workload
  sensormark list machine-tool --as-study                # what the study did";

/// After `explain`.
pub const EXPLAIN: &str = "\
Examples:
  sensormark explain devops --on postgresql
  sensormark explain machine-tool --on sqlite:bulk --format json";

/// After `replay`.
pub const REPLAY: &str = "\
Examples:
  sensormark replay recording.csv --on sqlite,postgresql
  sensormark replay recording.csv --time measured_at --tags machine,line";

/// After `generate`.
pub const GENERATE: &str = "\
Examples:
  sensormark generate machine-tool --for 10m --format csv -o samples.csv
  sensormark generate devops --for 6h --set hosts=1000 --shard 0/4";

/// After `install-servers`.
pub const INSTALL_SERVERS: &str = "\
Examples:
  sensormark install-servers                             # all databases, about ten minutes
  sensormark install-servers postgresql influxdb
  sensormark install-servers --check                     # what is here, and what is missing

PostgreSQL, MariaDB, and what builds and runs the others are Debian packages, which need root.
Exit codes: 0 all that was asked for is here; 1 something is missing; 2 usage.";

/// After `servers`.
pub const SERVERS: &str = "\
Examples:
  sensormark servers start postgresql
  sensormark servers status
  sensormark servers stop postgresql";

/// After `completions`.
pub const COMPLETIONS: &str = "\
Examples:
  sensormark completions bash                            # into a file below ~/.local/share/bash-completion/completions
  sensormark completions zsh";

/// After `man`.
pub const MAN: &str = "\
Example:
  sensormark man man1";
