package io.timingwheel.spring.durable.jdbc;

import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * The dialect of PostgreSQL. A database with another encoding than UTF-8 keeps texts in
 * ASCII, with escapes for other characters and for the backslash.
 */
final class PostgresDialect extends Dialect {

	private static final Pattern ESCAPE = Pattern.compile("\\\\(?:\\\\|u(\\p{XDigit}{4}))");

	private final boolean unicode;

	private PostgresDialect(boolean unicode) {
		super("PostgreSQL", Schema.script("postgresql"));
		this.unicode = unicode;
	}

	static PostgresDialect of(Connection connection) throws SQLException {
		checkVersion(connection, "PostgreSQL", 12, 0);
		checkWritable(connection, "on".equals(query(connection, "select current_setting('transaction_read_only')")));
		return new PostgresDialect("UTF8".equals(query(connection, "select current_setting('server_encoding')")));
	}

	@Override
	protected String clock() {
		return "floor(extract(epoch from statement_timestamp()) * 1000)::bigint";
	}

	@Override
	boolean isPostgres() {
		return true;
	}

	@Override
	protected String unlessTaken() {
		return " on conflict do nothing";
	}

	@Override
	protected void limitLockWait(JdbcOperations jdbc) {
		jdbc.execute("set local lock_timeout = '100ms'");
	}

	@Override
	protected Object text(String text) {
		return escaped(text);
	}

	@Override
	protected @Nullable String text(ResultSet rs, int column) throws SQLException {
		String text = rs.getString(column);
		return (text != null) ? unescaped(text) : null;
	}

	/** Names from a column with an array. */
	List<String> texts(@Nullable Array array) throws SQLException {
		return (array != null) ? Stream.of((String[]) array.getArray()).map(this::unescaped).toList() : List.of();
	}

	private String unescaped(String text) {
		return this.unicode ? text : ESCAPE.matcher(text).replaceAll((escape) -> {
			String code = escape.group(1);
			return Matcher.quoteReplacement((code != null) ? Character.toString(Integer.parseInt(code, 16)) : "\\");
		});
	}

	@Override
	String payload(String json) {
		return escaped(json);
	}

	@Override
	@Nullable String payload(ResultSet rs, int column) throws SQLException {
		return text(rs, column);
	}

	private String escaped(String text) {
		return this.unicode ? text : ascii(text.replace("\\", "\\\\"));
	}

	private static String ascii(String text) {
		return text.chars()
			.mapToObj((c) -> (c < 0x80) ? Character.toString(c) : "\\u%04x".formatted(c))
			.collect(Collectors.joining());
	}

	/** It is read as it is stored, since its end may be half of an escape. */
	@Override
	protected @Nullable String error(@Nullable String error) {
		if (error == null || this.unicode) {
			return error;
		}
		String ascii = ascii(error);
		return ascii.substring(0, Math.min(ascii.length(), DelayedTaskStore.MAX_ERROR_LENGTH));
	}

	@Override
	long storedBytes(long bytes) {
		// An escape takes six bytes, and stands for a character of at least two.
		return (this.unicode || bytes > Long.MAX_VALUE / 3) ? bytes : bytes * 3;
	}

}
