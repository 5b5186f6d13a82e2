//! MariaDB
