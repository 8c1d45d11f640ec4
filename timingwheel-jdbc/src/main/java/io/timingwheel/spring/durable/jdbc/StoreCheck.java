package io.timingwheel.spring.durable.jdbc;

import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * Finds out at startup whether a database can keep what is promised.
 */
final class StoreCheck {

	private static final Log logger = LogFactory.getLog(JdbcDelayedTaskStore.class);

	private final ConnectionSettings settings;

	private final TableName table;

	StoreCheck(ConnectionSettings settings, TableName table) {
		this.settings = settings;
		this.table = table;
	}

	void check() {
		this.settings.platform().checkVersion(this.settings.major(), this.settings.minor());
		ShortTransactions transactions = this.settings.transactions();
		try {
			transactions.single((jdbc) -> jdbc
				.queryForList("select %s, payload, pending_key, next_at, error, created_at, died_at from %s where 1 = 0"
					.formatted(TaskRow.COLUMNS, this.table)));
		}
		catch (BadSqlGrammarException ex) {
			throw new IllegalStateException(("The table %s of the durable tasks is missing or has other columns. Create"
					+ " it with the script %s, or set timingwheel.store.jdbc.initialize-schema=always to have it created.")
				.formatted(this.table, this.settings.platform().script()), ex);
		}
		switch (this.settings.platform()) {
			case H2 -> transactions.single(this::checkWriteDelay);
			case MARIADB, MYSQL -> transactions.single(this::checkEngine);
			default -> {
			}
		}
	}

	private Void checkWriteDelay(JdbcOperations jdbc) {
		List<String> delays = jdbc
			.query("select setting_value from information_schema.settings where setting_name = 'WRITE_DELAY'"
					+ " and database_path() is not null", (rs, rowNum) -> String.valueOf(rs.getString(1)));
		if (delays.stream().anyMatch((delay) -> !delay.equals("0"))) {
			logger.warn("The H2 database " + this.settings.url() + " writes what is committed with a delay of " + delays
					+ " ms: a crash loses durable tasks that were stored just before. Append ;WRITE_DELAY=0 to its URL.");
		}
		return null;
	}

	private Void checkEngine(JdbcOperations jdbc) {
		String name = this.table.qualified();
		int dot = name.indexOf('.');
		List<String> engines = jdbc.query(
				"select engine from information_schema.tables where table_name = ? and table_schema = "
						+ ((dot < 0) ? "database()" : "'" + name.substring(0, dot) + "'"),
				(rs, rowNum) -> String.valueOf(rs.getString(1)), name.substring(dot + 1));
		if (engines.stream().anyMatch((engine) -> !"InnoDB".equalsIgnoreCase(engine))) {
			throw new IllegalStateException(("The table %s of the durable tasks has the engine %s, which has no"
					+ " transactions. Change it: alter table %1$s engine = InnoDB")
				.formatted(this.table, engines));
		}
		return null;
	}

}
