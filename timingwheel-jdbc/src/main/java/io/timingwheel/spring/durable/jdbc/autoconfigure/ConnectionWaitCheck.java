package io.timingwheel.spring.durable.jdbc.autoconfigure;

import java.time.Duration;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.jdbc.DataSourceUnwrapper;

/**
 * Warns at the start if a thread of the node may wait for a connection of the pool for
 * longer than a lease. The wait itself loses no lease: a thread that gave up earlier
 * would queue again, behind all others. But the node learns that there are no connections
 * only at the end of the wait, when the leases have ended.
 */
final class ConnectionWaitCheck implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(ConnectionWaitCheck.class);

	private final DataSource dataSource;

	private final Duration lease;

	ConnectionWaitCheck(DataSource dataSource, Duration lease) {
		this.dataSource = dataSource;
		this.lease = lease;
	}

	@Override
	public void afterSingletonsInstantiated() {
		HikariConfigMXBean pool = DataSourceUnwrapper.unwrap(this.dataSource, HikariConfigMXBean.class,
				HikariDataSource.class);
		if (pool != null && pool.getConnectionTimeout() > this.lease.toMillis()) {
			logger.warn(("A node may wait %d ms for a connection of the pool %s, and a lease of a durable task lasts"
					+ " %d ms (timingwheel.store.lease). If there is no connection, the log and the health say so only"
					+ " when the leases have ended. Set the connection timeout of the pool"
					+ " (spring.datasource.hikari.connection-timeout) to at most %3$d ms.")
				.formatted(pool.getConnectionTimeout(), pool.getPoolName(), this.lease.toMillis()));
		}
	}

}
