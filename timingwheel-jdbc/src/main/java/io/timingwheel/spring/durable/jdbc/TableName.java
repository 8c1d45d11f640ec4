package io.timingwheel.spring.durable.jdbc;

import java.util.regex.Pattern;

import org.springframework.util.Assert;

/**
 * The name of the table of tasks, with its schema if it has one. The names of the other
 * tables begin with it.
 */
record TableName(String qualified) {

	/** PostgreSQL cuts names after 63 characters, also those with "_listing". */
	static final int MAX_LENGTH = 55;

	private static final Pattern IN_SCRIPT = Pattern.compile("\\btimingwheel_task(_(?:name|node|version)\\b|_|\\b)");

	private static final Pattern PLAIN = Pattern.compile("([A-Za-z_][A-Za-z0-9_]*\\.)?[A-Za-z_][A-Za-z0-9_]*");

	TableName {
		Assert.isTrue(PLAIN.matcher(qualified).matches(), () -> "The table name \"" + qualified
				+ "\" must consist of letters, digits and underscores, with or without a schema: schema.table");
		Assert.isTrue(simple(qualified).length() <= MAX_LENGTH,
				() -> "The table name \"" + simple(qualified) + "\" may have at most " + MAX_LENGTH
						+ " characters, since PostgreSQL would cut the names of its indexes, which are longer");
	}

	String names() {
		return this.qualified + "_name";
	}

	String nodes() {
		return this.qualified + "_node";
	}

	String version() {
		return this.qualified + "_version";
	}

	// An index has no schema in its name.
	String appliedTo(String script) {
		String simple = simple(this.qualified);
		return IN_SCRIPT.matcher(script)
			.replaceAll((match) -> match.group(1).equals("_") ? simple + "_" : this.qualified + match.group(1));
	}

	private static String simple(String qualified) {
		return qualified.substring(qualified.indexOf('.') + 1);
	}

	@Override
	public String toString() {
		return this.qualified;
	}

}
