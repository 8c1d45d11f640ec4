package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.Objects;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.transaction.TransactionStatus;

/**
 * The status of a transaction that other code has begun and will end.
 */
record JoinedTransaction(JdbcOperations jdbc) implements TransactionStatus {

	@Override
	public Object createSavepoint() {
		return Objects.requireNonNull(this.jdbc.execute((ConnectionCallback<Savepoint>) Connection::setSavepoint));
	}

	@Override
	public void rollbackToSavepoint(Object savepoint) {
		run((connection) -> connection.rollback((Savepoint) savepoint));
	}

	@Override
	public void releaseSavepoint(Object savepoint) {
		run((connection) -> connection.releaseSavepoint((Savepoint) savepoint));
	}

	private void run(Work work) {
		this.jdbc.execute((ConnectionCallback<Boolean>) (connection) -> {
			work.run(connection);
			return true;
		});
	}

	private interface Work {

		void run(Connection connection) throws SQLException;

	}

}
