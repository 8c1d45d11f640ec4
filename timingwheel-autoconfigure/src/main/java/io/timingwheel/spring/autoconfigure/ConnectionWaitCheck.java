package io.timingwheel.spring.autoconfigure;

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
 * longer than half of a lease. A lease is renewed after a third of its time, so that a
 * longer wait may lose it.
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
		if (pool != null && pool.getConnectionTimeout() > this.lease.toMillis() / 2) {
			logger.warn(("A node may wait %d ms for a connection of the pool %s, and a lease of a durable task lasts"
					+ " %d ms (timingwheel.store.lease). While no connection is free, leases end, and other nodes run"
					+ " the tasks again. Set the connection timeout of the pool"
					+ " (spring.datasource.hikari.connection-timeout) to at most %d ms.")
				.formatted(pool.getConnectionTimeout(), pool.getPoolName(), this.lease.toMillis(),
						this.lease.toMillis() / 3));
		}
	}

}
