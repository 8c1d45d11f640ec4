package io.timingwheel.spring.durable.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The text of a statement of PostgreSQL. PostgreSQL keeps a plan for a text, and a plan
 * for a small table may scan the whole table. So the text changes with the size of the
 * table, by powers of four. Thread-safe.
 */
final class SizedText {

	private static final int PAGE_BYTES = 8192;

	private final AtomicLong tableSize;

	private final String prefix;

	private final String sql;

	private final Map<Integer, String> bySize = new ConcurrentHashMap<>();

	/**
	 * Creates the text.
	 * @param tableSize the size of the table in bytes, as the latest statement saw it
	 * @param prefix another statement before it in the same request, empty for none
	 */
	SizedText(AtomicLong tableSize, String prefix, String sql) {
		this.tableSize = tableSize;
		this.prefix = prefix;
		this.sql = sql;
	}

	/**
	 * The text to execute.
	 */
	String get() {
		return this.bySize.computeIfAbsent(power(this.tableSize.get()),
				(power) -> this.prefix + comment(power) + this.sql);
	}

	/**
	 * The text of a statement whose text differs from one execution to the next.
	 * @param tableSize the size of the table in bytes
	 */
	static String of(long tableSize, String sql) {
		return comment(power(tableSize)) + sql;
	}

	private static int power(long tableSize) {
		return (Long.SIZE - Long.numberOfLeadingZeros(tableSize / PAGE_BYTES) + 1) / 2;
	}

	private static String comment(int power) {
		return "/* at most 4^%d pages */ ".formatted(power);
	}

	/**
	 * A subquery that gives the size of the table, once for all rows of a result.
	 */
	static String size(TableName table) {
		return "(select pg_relation_size('%s'))".formatted(table);
	}

}
