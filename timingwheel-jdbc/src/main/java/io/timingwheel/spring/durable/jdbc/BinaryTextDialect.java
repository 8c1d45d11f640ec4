package io.timingwheel.spring.durable.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

/**
 * A dialect whose names and keys are in binary columns, as comparisons of text depend on
 * its settings.
 */
abstract class BinaryTextDialect extends Dialect {

	@Override
	Object text(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	@Override
	@Nullable String text(ResultSet rs, String column) throws SQLException {
		byte[] bytes = rs.getBytes(column);
		return (bytes != null) ? new String(bytes, StandardCharsets.UTF_8) : null;
	}

}
