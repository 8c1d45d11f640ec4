package io.timingwheel.spring.durable.jdbc;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * The versions of the databases that can run the statements.
 */
class PlatformTests {

	@ParameterizedTest
	@CsvSource({ "H2, 2, 1, 2.2", "POSTGRESQL, 11, 22, 12.0", "MARIADB, 10, 5, 10.6", "MYSQL, 5, 7, 8.0" })
	void anOlderDatabaseIsRefused(Platform platform, int major, int minor, String needed) {
		assertThatIllegalStateException().isThrownBy(() -> platform.checkVersion(major, minor))
			.withMessage("durable tasks need %s %s or newer, but this is %d.%d; update the database",
					platform.product(), needed, major, minor);
	}

	@Test
	void theOldestDatabasesAreAccepted() {
		assertThatNoException().isThrownBy(() -> {
			Platform.H2.checkVersion(2, 2);
			Platform.POSTGRESQL.checkVersion(12, 0);
			Platform.POSTGRESQL.checkVersion(18, 1);
			Platform.MARIADB.checkVersion(10, 6);
			Platform.MYSQL.checkVersion(8, 0);
		});
	}

}
