package io.timingwheel.spring.durable.jdbc;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.support.DataAccessUtils;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.SqlTypeValue;
import org.springframework.jdbc.core.StatementCreatorUtils;

/**
 * Reads results.
 */
final class Rows {

	private Rows() {
	}

	static long number(JdbcOperations jdbc, String sql) {
		return DataAccessUtils.requiredSingleResult(jdbc.query(sql, (rs, rowNum) -> rs.getLong(1)));
	}

	static <T> @Nullable T first(JdbcOperations jdbc, String sql, RowMapper<T> mapper, @Nullable Object... parameters) {
		List<T> rows = jdbc.query(sql, (statement) -> {
			for (int i = 0; i < parameters.length; i++) {
				StatementCreatorUtils.setParameterValue(statement, i + 1, SqlTypeValue.TYPE_UNKNOWN, parameters[i]);
			}
		}, mapper);
		return rows.isEmpty() ? null : rows.get(0);
	}

}
