//! What help texts show after the options: examples, and the variables of the environment. A test parses every example.

/// After the list of commands.
pub const ALL: &str = "\
Examples:
  sensormark run machine-tool                            # the embedded default, about a minute
  sensormark run machine-tool --on sqlite,postgresql     # starts PostgreSQL itself
  sensormark doctor                                      # what is here, and how to get the rest

sensormark COMMAND --help says more of a command.";

/// The same, in the long help.
pub const ALL_WITH_ENVIRONMENT: &str = "\
Examples:
  sensormark run machine-tool                            # the embedded default, about a minute
  sensormark run machine-tool --on sqlite,postgresql     # starts PostgreSQL itself
  sensormark doctor                                      # what is here, and how to get the rest

sensormark COMMAND --help says more of a command.

Environment:
  SENSORMARK_STATE                     folder for servers that sensormark starts, and its notes
  XDG_STATE_HOME, HOME                 where that folder is if SENSORMARK_STATE is not set
  TMPDIR                               folder for what a phase keeps until its end (unnamed files)
  SENSORMARK_LIFECYCLE                 file of your own in the place of stores/lifecycle.toml
  SENSORMARK_SERVERS                   folder that sensormark install-servers installs servers into
  SENSORMARK_DUCKDB_HOME               folder of DuckDB's library, libduckdb.so
  SENSORMARK_POSTGRESQL_HOME           folder of a PostgreSQL installation
  SENSORMARK_TIMESCALEDB_HOME          folder of a PostgreSQL installation with TimescaleDB
  SENSORMARK_MARIADB_HOME              folder of a MariaDB installation
  SENSORMARK_MONGODB_HOME              folder of a MongoDB installation
  SENSORMARK_CASSANDRA_HOME            folder of a Cassandra installation
  SENSORMARK_INFLUXDB_HOME             folder of an InfluxDB installation
  SENSORMARK_GRIDDB_HOME               folder of a GridDB installation
  GS_HOME                              the same, as GridDB's own packages set it
  SENSORMARK_GRIDDB_CLIENT             GridDB's C client, the file libgridstore.so
  SENSORMARK_GRIDDB_LISTEN_EVERYWHERE  yes: start GridDB although it listens on every interface
  SENSORMARK_QUESTDB_HOME              folder of a QuestDB installation
  PATH                                 where servers and Java are looked for, too
  JAVA_HOME                            the Java that starts Cassandra and QuestDB
  NO_COLOR                             no colours in the terminal

Exit codes:
  0    all trials are valid
  1    a trial is not valid, or a limit was missed
  2    usage or configuration
  3    a database could not be reached or started
  4    a file could not be read or written
  130  interrupted";

/// After `run`.
pub const RUN: &str = "\
Examples:
  sensormark run machine-tool --on sqlite,postgresql     # two databases, seconds
  sensormark run devops --on all --scale standard        # all that are here, repeated
  sensormark run devops --scale firm --dry-run           # the plan alone: trials, time, disk
  sensormark run devops --on postgresql:individual=postgresql://USER:PASSWORD@HOST:5432/
  sensormark run devops --on postgresql=URL --load-hosts ssh:a,ssh:b   # clients on two hosts
  sensormark run own.toml --set series.count=500         # your own workload, see sensormark init
  sensormark run own.toml --find-limit                   # which layouts meet its requirements";

/// After `report`.
pub const REPORT: &str = "\
Examples:
  sensormark report results/20260101-120000-abc          # one run, as text
  sensormark report results --html all.html              # all runs, as one page
  sensormark report results/20260101-120000-abc --format json";

/// After `collect`.
pub const COLLECT: &str = "\
Examples:
  sensormark collect results                             # writes results/index.html
  sensormark collect results submitted --html all.html   # several folders, one page

The address of the page holds the choice of its filters. Runs may lie up to four folders deep.";

/// After `compare`.
pub const COMPARE: &str = "\
Examples:
  sensormark compare results/before results/after
  sensormark compare results/before results/after --html comparison.html
  sensormark compare results/before results/after --fail-on regression --must-see 10
  sensormark compare results/one                        # its databases, each with the best

Exit codes:
  0  compared; --fail-on found nothing
  1  --fail-on or --must-see found what it looks for
  2  usage, or --fail-on could decide nothing: too few undisturbed repetitions count";

/// After `init`.
pub const INIT: &str = "\
Examples:
  sensormark init plant.toml                             # asks, in a terminal
  sensormark init plant.toml --yes --sensors 250 --every 5s --keep 30d --on sqlite,postgresql
  sensormark init plant.toml --from recording.csv        # with the sensors of a recording
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

/// After `inspect`.
pub const INSPECT: &str = "\
Examples:
  sensormark inspect recording.csv
  sensormark inspect export.csv.gz --absent -999";

/// After `generate`.
pub const GENERATE: &str = "\
Examples:
  sensormark generate machine-tool --for 10m --format csv -o samples.csv
  sensormark generate devops --for 6h --set hosts=1000 --shard 0/4
  sensormark generate slow-control --answers 100";

/// After `clean`.
pub const CLEAN: &str = "\
Examples:
  sensormark clean                                       # on this machine: processes, folders
  sensormark clean postgresql=postgresql://USER:PASSWORD@HOST:5432/ --dry-run
  sensormark clean mongodb=mongodb://HOST:27017/ --older-than 7d

A database goes if it bears sensormark's mark and its run is not going on. The lock files in the state folder \
tell which runs of this machine go on or ended. Of a run that this machine does not know, the database goes \
once it is older than --older-than.

Exit codes:
  0  all that may go is gone
  1  something could not be removed
  2  usage
  3  a server could not be reached";

/// After `install-servers`.
pub const INSTALL_SERVERS: &str = "\
Examples:
  sensormark install-servers                             # all databases, about ten minutes
  sensormark install-servers postgresql influxdb
  sensormark install-servers --check                     # what is here, and what is missing

PostgreSQL, MariaDB, and what builds and runs the others are Debian packages, which need root.

Exit codes:
  0  all that was asked for is here
  1  something is missing
  2  usage";

/// After `servers`.
pub const SERVERS: &str = "\
Examples:
  sensormark servers start postgresql
  sensormark servers status
  sensormark servers stop postgresql";

/// After `servers start`.
pub const SERVERS_START: &str = "\
Examples:
  sensormark servers start postgresql                    # says how to measure and stop it
  sensormark servers start mariadb --server-memory 4GB --data /mnt/fast
  sensormark servers start cassandra --memory-limit 8GB --durability durable";

/// After `servers stop`.
pub const SERVERS_STOP: &str = "\
Examples:
  sensormark servers stop postgresql
  sensormark servers stop cassandra                      # and its data goes, too";

/// After `servers status`.
pub const SERVERS_STATUS: &str = "\
Examples:
  sensormark servers status                              # those that were started by hand
  sensormark servers status -v                           # and what libraries say";

/// After `probe`.
pub const PROBE: &str = "\
Examples:
  sensormark probe --port 5432 --disk /var/lib/postgresql/17/main
  sensormark probe --unit postgresql@17-main --interval 10s
  sensormark probe --container db --port 3306

It reads, and changes nothing. It ends when its standard input closes; in a terminal, with Ctrl-C.
Lines that it obeys: begin NAME, end, end quick, sample, disk.

Exit codes:
  0  its input closed
  1  the processes have ended
  2  usage, or there are no such processes";

/// After `completions`.
pub const COMPLETIONS: &str = "\
Examples:
  sensormark completions bash                            # prints them; write them to a file
  sensormark completions zsh                             # that your shell reads";

/// After `man`.
pub const MAN: &str = "\
Examples:
  sensormark man man1                                    # then: man man1/sensormark-run.1
  sensormark man ~/.local/share/man/man1                 # where man finds them by name";

/// After `doctor`.
pub const DOCTOR: &str = "\
Examples:
  sensormark doctor                                      # what is here, and how to get the rest
  sensormark doctor -v                                   # and what libraries say
  sensormark doctor --clean                              # and removes what killed runs left";
