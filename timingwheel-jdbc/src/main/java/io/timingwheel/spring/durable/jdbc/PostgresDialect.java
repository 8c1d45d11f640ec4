package io.timingwheel.spring.durable.jdbc;

import java.nio.charset.Charset;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.util.Assert;

/**
 * The dialect of PostgreSQL.
 */
final class PostgresDialect extends Dialect {

	private final TextEncoding encoding;

	private PostgresDialect(TextEncoding encoding) {
		super("PostgreSQL", Schema.script("postgresql"));
		this.encoding = encoding;
	}

	static PostgresDialect of(Connection connection) throws SQLException {
		checkVersion(connection, "PostgreSQL", 12, 0);
		Database.Settings.checkWritable(connection,
				"on".equals(query(connection, "select current_setting('transaction_read_only')")));
		return new PostgresDialect(TextEncoding.of(query(connection, "select current_setting('server_encoding')")));
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
		this.encoding.check(text);
		return text;
	}

	@Override
	protected @Nullable String text(ResultSet rs, int column) throws SQLException {
		return rs.getString(column);
	}

	@Override
	boolean canStore(String text) {
		return this.encoding.canStore(text);
	}

	@Override
	String error(String text) {
		String escaped = this.encoding.escaped(text.replace('\0', ' '));
		return escaped.substring(0, Math.min(escaped.length(), DelayedTaskStore.MAX_ERROR_LENGTH));
	}

	@Override
	String payload(String json) {
		return this.encoding.escaped(json);
	}

	@Override
	long storedBytes(long bytes) {
		return this.encoding.storedBytes(bytes);
	}

	/**
	 * The characters that a PostgreSQL database can store.
	 *
	 * @param charset the characters that texts may have without escapes, {@code null} for
	 * all
	 * @param checked whether the database refuses other characters
	 */
	private record TextEncoding(String name, @Nullable Charset charset, boolean checked) {

		/** ISO 8859 has another number for some alphabets. */
		private static final Map<String, String> LATIN = Map.of("5", "9", "6", "10", "7", "13", "8", "14", "9", "15",
				"10", "16");

		static TextEncoding of(String name) {
			return switch (name) {
				case "UTF8" -> new TextEncoding(name, null, false);
				// The database keeps any bytes, and counts bytes as characters.
				case "SQL_ASCII" -> new TextEncoding(name, StandardCharsets.US_ASCII, false);
				default -> new TextEncoding(name, charset(name), true);
			};
		}

		// ASCII is a part of every encoding of PostgreSQL.
		private static Charset charset(String name) {
			String number = name.replaceFirst("\\D+", "");
			String charset = name.startsWith("LATIN") ? "ISO-8859-" + LATIN.getOrDefault(number, number)
					: name.startsWith("WIN") ? "windows-" + number : name.replace('_', '-').replace("KOI8", "KOI8-");
			return Charset.isSupported(charset) && Charset.forName(charset).canEncode() ? Charset.forName(charset)
					: StandardCharsets.US_ASCII;
		}

		boolean canStore(String text) {
			return text.indexOf('\0') < 0
					&& (!this.checked || this.charset == null || this.charset.newEncoder().canEncode(text));
		}

		void check(String text) {
			Assert.isTrue(canStore(text),
					() -> "The database has the encoding %s, which lacks a character of the name or key \"%s\""
						.formatted(this.name, text));
		}

		/**
		 * A text with escapes for the characters that the database does not have. If the
		 * text is JSON, the result means the same.
		 */
		String escaped(String text) {
			if (this.charset == null) {
				return text;
			}
			CharsetEncoder encoder = this.charset.newEncoder();
			if (encoder.canEncode(text)) {
				return text;
			}
			StringBuilder escaped = new StringBuilder();
			for (char c : text.toCharArray()) {
				escaped.append(encoder.canEncode(c) ? String.valueOf(c) : "\\u%04x".formatted((int) c));
			}
			return escaped.toString();
		}

		long storedBytes(long bytes) {
			// An escape takes six bytes, and stands for a character of at least two.
			return (this.charset != null && bytes <= Long.MAX_VALUE / 3) ? bytes * 3 : bytes;
		}

	}

}
