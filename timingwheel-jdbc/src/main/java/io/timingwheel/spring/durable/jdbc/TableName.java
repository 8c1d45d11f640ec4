package io.timingwheel.spring.durable.jdbc;

import java.util.regex.Pattern;

import org.springframework.util.Assert;

/**
 * The name of the table of tasks. The names of the other tables begin with it. The name
 * becomes part of statements, and may therefore contain no special characters.
 *
 * @param qualified the name as it is in statements, with its schema if it has one
 */
record TableName(String qualified) {

	/**
	 * The greatest length of the name without its schema. PostgreSQL cuts a name after 63
	 * characters, and the longest of the derived names ends with {@code _listing}.
	 */
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

	/**
	 * The table with what the store knows of names.
	 */
	String names() {
		return this.qualified + "_name";
	}

	/**
	 * The table with the reports of the nodes.
	 */
	String nodes() {
		return this.qualified + "_node";
	}

	/**
	 * The table with the version of the schema.
	 */
	String version() {
		return this.qualified + "_version";
	}

	/**
	 * Replaces the names of the default tables in a script. An index has no schema in its
	 * name.
	 * @param script a script for the default table
	 */
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
