package io.timingwheel.spring.durable.jdbc.autoconfigure;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.store.UnusableTaskStoreException;

import org.springframework.beans.factory.ObjectProvider;

/**
 * The data sources of the JDBC store. Both lead to the same database, and may be the same
 * object.
 *
 * @param application has the application's transactions
 * @param store leases and acknowledges tasks
 */
record JdbcStoreDataSources(DataSource application, DataSource store) {

	static JdbcStoreDataSources of(ObjectProvider<DataSource> dataSource, ObjectProvider<DataSource> storeDataSource) {
		DataSource application = dataSource.getIfUnique();
		if (application != null) {
			return new JdbcStoreDataSources(application, storeDataSource.getIfAvailable(() -> application));
		}
		if (dataSource.stream().findAny().isEmpty()) {
			throw new UnusableTaskStoreException("there is no DataSource for the JDBC store",
					"set spring.datasource.url, or declare a DataSource bean");
		}
		throw new UnusableTaskStoreException("there is more than one DataSource for the JDBC store",
				"mark the DataSource of the application @Primary");
	}

}
