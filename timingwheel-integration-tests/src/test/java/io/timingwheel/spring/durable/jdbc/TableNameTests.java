package io.timingwheel.spring.durable.jdbc;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * The names that a table of tasks may have.
 */
class TableNameTests {

	private static final String LONGEST = "t".repeat(Schema.MAX_LENGTH);

	@ParameterizedTest
	@ValueSource(strings = { "", "1", "a.b.c", "a.", ".a", "a b", "a;", "a'", "\"a\"", "a-b", "\u00e4" })
	void otherCharactersAreRefused(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> Schema.checkTableName(name))
			.withMessageContaining("\"" + name + "\" must consist of letters, digits and underscores");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "a_schema." })
	void aNameThatIsTooLongForItsIndexesIsRefused(String schema) {
		assertThatNoException().isThrownBy(() -> Schema.checkTableName(schema + LONGEST));
		assertThatIllegalArgumentException().isThrownBy(() -> Schema.checkTableName(schema + LONGEST + "t"))
			.withMessageContaining(
					"may have at most 55 characters, since PostgreSQL would cut the names of its indexes");
	}

}
