//! The stores and workloads of phases that this program was built with: the one place that names stores.

use sensormark::engine::connection::Registry;
use sensormark::engine::phased::Kinds;
use sensormark::workload::replay;
use sensormark_store::Store;
use std::sync::Arc;

/// All stores, in the order in which they are listed; a Cargo feature each.
pub fn registry() -> Registry {
    let stores: Vec<Arc<dyn Store>> = vec![
        #[cfg(feature = "sqlite")]
        Arc::new(sensormark_sqlite::Sqlite::new()),
        #[cfg(feature = "postgresql")]
        Arc::new(sensormark_postgresql::Postgresql::new()),
        #[cfg(feature = "mariadb")]
        Arc::new(sensormark_mariadb::Mariadb::new()),
        #[cfg(feature = "mongodb")]
        Arc::new(sensormark_mongodb::Mongodb::new()),
        #[cfg(feature = "cassandra")]
        Arc::new(sensormark_cassandra::Cassandra::new()),
        #[cfg(feature = "influxdb")]
        Arc::new(sensormark_influxdb::Influxdb::new()),
        #[cfg(feature = "griddb")]
        Arc::new(sensormark_griddb::Griddb::new()),
    ];
    Registry::new(stores)
}

/// All workloads that are made of phases.
pub fn kinds() -> Kinds {
    Kinds::new(vec![Arc::new(replay::Kind)])
}
