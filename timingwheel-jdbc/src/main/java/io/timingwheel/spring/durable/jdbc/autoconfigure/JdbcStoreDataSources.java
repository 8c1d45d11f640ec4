package io.timingwheel.spring.durable.jdbc.autoconfigure;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.store.UnusableTaskStoreException;

import org.springframework.beans.factory.ObjectProvider;

/**
 * The data sources of the JDBC store. Both lead to the same database, and may be the same
 * object.
 */
class JdbcStoreDataSources {

	private final DataSource application;

	private final DataSource store;

	/**
	 * Looks up the data sources.
	 * @param dataSource the application's data sources
	 * @param storeDataSource the store's own data source, if there is one
	 * @throws UnusableTaskStoreException if the application has no data source, or has
	 * several data sources and no primary one
	 */
	JdbcStoreDataSources(ObjectProvider<DataSource> dataSource, ObjectProvider<DataSource> storeDataSource) {
		this.application = application(dataSource);
		this.store = storeDataSource.getIfAvailable(() -> this.application);
	}

	private static DataSource application(ObjectProvider<DataSource> dataSource) {
		DataSource application = dataSource.getIfUnique();
		if (application != null) {
			return application;
		}
		if (dataSource.stream().findAny().isEmpty()) {
			throw new UnusableTaskStoreException("there is no DataSource for the JDBC store",
					"set spring.datasource.url, or declare a DataSource bean");
		}
		throw new UnusableTaskStoreException("there is more than one DataSource for the JDBC store",
				"mark the DataSource of the application @Primary");
	}

	/**
	 * The data source that has the application's transactions.
	 */
	DataSource application() {
		return this.application;
	}

	/**
	 * The data source that leases and acknowledges tasks.
	 */
	DataSource store() {
		return this.store;
	}

}
