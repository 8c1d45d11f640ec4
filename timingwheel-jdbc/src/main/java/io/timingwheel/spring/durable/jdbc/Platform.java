package io.timingwheel.spring.durable.jdbc;

import java.util.Locale;

import io.timingwheel.spring.durable.UnusableTaskStoreException;
import org.jspecify.annotations.Nullable;

/**
 * The kinds of database that can keep tasks, and the first version of each that can run
 * the statements. This is the first with {@code skip locked}, and of PostgreSQL the first
 * that can plan the query of a {@code with} together with the statement around it.
 */
enum Platform {

	H2("H2", 2, 2),

	POSTGRESQL("PostgreSQL", 12, 0),

	MARIADB("MariaDB", 10, 6),

	MYSQL("MySQL", 8, 0);

	private final String product;

	private final int major;

	private final int minor;

	Platform(String product, int major, int minor) {
		this.product = product;
		this.major = major;
		this.minor = minor;
	}

	/**
	 * Finds the kind of a database.
	 * @param product the product name, as the driver gives it
	 * @param version the product version, as the driver gives it; a driver may name
	 * MariaDB only here
	 * @throws UnusableTaskStoreException if the database is of no such kind
	 */
	static Platform of(@Nullable String product, @Nullable String version) {
		String text = (product + " " + version).toLowerCase(Locale.ROOT);
		if (text.contains("mariadb")) {
			return MARIADB;
		}
		for (Platform platform : values()) {
			if (platform.product.equalsIgnoreCase(product)) {
				return platform;
			}
		}
		throw new UnusableTaskStoreException(
				"durable tasks can be kept in H2, PostgreSQL, MariaDB and MySQL, but not in %s %s".formatted(product,
						version),
				"declare a DataSource for one of these and qualify it with @TimingWheelDataSource, or set"
						+ " timingwheel.store.type to redis or none");
	}

	void checkVersion(int major, int minor) {
		if (major < this.major || (major == this.major && minor < this.minor)) {
			throw new UnusableTaskStoreException("durable tasks need %s %d.%d or newer, but this is %d.%d"
				.formatted(this.product, this.major, this.minor, major, minor), "update the database");
		}
	}

	String product() {
		return this.product;
	}

}
