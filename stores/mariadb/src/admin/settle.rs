//! Bringing one server, or one member of a cluster, to rest: statistics, purge, and all pages on disk.
//!
//! Global settings are changed for the time being on servers alone that sensormark started.

use crate::connection::Link;
use sensormark_store::{ErrorKind, StoreError};
use std::time::{Duration, Instant};

const OPERATION: &str = "settle";

/// How long the server may take to come to rest.
pub(super) const SETTLE: Duration = Duration::from_secs(600);

/// How long to wait for the server's page cleaner before it is woken again.
const NUDGE: Duration = Duration::from_secs(1);

/// Pages that the server keeps dirty for itself.
const IDLE_DIRTY_PAGES: i64 = 20;

/// Settles a member of a cluster, once it has applied all that was committed at the others before.
///
/// # Errors
/// When it does not come to rest.
pub(super) async fn member(link: &mut Link, tables: &str, managed: bool) -> Result<(), StoreError> {
    link.allow(SETTLE).await?;
    link.text(OPERATION, "SET SESSION wsrep_sync_wait = 1").await?;
    link.number(OPERATION, "SELECT 1").await?;
    analyze(link, tables).await?;
    // On an existing cluster nothing is locked: one member that waits stops all of them.
    if managed { flush_pages(link).await } else { Ok(()) }
}

/// Settles a server, and says whether its pages are on disk: on an existing one, the user may have no right to that. The time that a statement may take is then
/// [`SETTLE`].
///
/// # Errors
/// When it does not come to rest.
pub(super) async fn alone(link: &mut Link, tables: &str, managed: bool) -> Result<bool, StoreError> {
    link.allow(SETTLE).await?;
    analyze(link, tables).await?;
    if managed {
        return flush_pages(link).await.map(|()| true);
    }
    // Without a right to change the server's settings: this writes all pages of these tables, and so do its locks end.
    let flush = format!("FLUSH TABLES {tables} FOR EXPORT");
    match link.text(OPERATION, flush).await {
        Ok(()) => link.text(OPERATION, "UNLOCK TABLES").await.map(|()| true),
        Err(error) if error.kind() == ErrorKind::Authentication => Ok(false),
        Err(error) => Err(error),
    }
}

async fn analyze(link: &mut Link, tables: &str) -> Result<(), StoreError> {
    let analyze = format!("ANALYZE NO_WRITE_TO_BINLOG TABLE {tables}");
    link.text(OPERATION, analyze).await
}

/// Waits until purge has caught up and no page is dirty, with input and output as fast as the disk allows meanwhile.
async fn flush_pages(link: &mut Link) -> Result<(), StoreError> {
    let capacity = link.number(OPERATION, "SELECT @@GLOBAL.innodb_io_capacity").await?;
    let most = link.number(OPERATION, "SELECT @@GLOBAL.innodb_io_capacity_max").await?;
    let fast = "SET GLOBAL innodb_max_purge_lag_wait = 0; SET GLOBAL innodb_io_capacity_max = 20000; \
         SET GLOBAL innodb_io_capacity = 20000; SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0; \
         SET GLOBAL innodb_max_dirty_pages_pct = 0";
    link.text(OPERATION, fast).await?;
    let waited = wait_for_pages(link).await;
    let slow = format!(
        "SET GLOBAL innodb_max_dirty_pages_pct = 90; SET GLOBAL innodb_io_capacity = {capacity}; \
         SET GLOBAL innodb_io_capacity_max = {most}"
    );
    link.text(OPERATION, slow).await?;
    waited
}

async fn wait_for_pages(link: &mut Link) -> Result<(), StoreError> {
    let status = |name: &str| {
        format!(
            "SELECT CAST(VARIABLE_VALUE AS SIGNED) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = '{name}'"
        )
    };
    let (dirty, age) = (status("INNODB_BUFFER_POOL_PAGES_DIRTY"), status("INNODB_CHECKPOINT_AGE"));
    let deadline = Instant::now() + SETTLE;
    let mut nudge = Instant::now() + NUDGE;
    let (mut before, mut still) = (i64::MIN, 0);
    loop {
        let pages = link.number(OPERATION, &dirty).await?;
        let now = link.number(OPERATION, &age).await?;
        still = if pages < IDLE_DIRTY_PAGES && now == before { still + 1 } else { 0 };
        // A few pages that the server keeps dirty for itself count as rest, once nothing moves any more.
        if pages == 0 || still >= 5 {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(StoreError::new(
                ErrorKind::Timeout,
                OPERATION,
                format!("{pages} pages are still dirty; is somebody else writing?"),
            ));
        }
        before = now;
        if Instant::now() > nudge {
            // The page cleaner may have gone to sleep with pages left; setting its limit wakes it.
            let wake = "SET GLOBAL innodb_max_dirty_pages_pct = 0";
            link.text(OPERATION, wake).await?;
            nudge = Instant::now() + NUDGE;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
