package io.timingwheel.spring.durable.store.test;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.jdbc.JdbcDelayedTaskStore;
import io.timingwheel.spring.durable.jdbc.JdbcStores;
import io.timingwheel.spring.durable.jdbc.Schema;
import io.timingwheel.spring.durable.jdbc.TestDatabase;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The script of the schema, what the check of a store says about a database, and counts
 * of more tasks than are counted one by one.
 */
@Tag("servers")
@ParameterizedClass
@EnumSource(names = { "H2_MEMORY", "POSTGRESQL", "MARIADB" })
class JdbcStoreSchemaTests {

	private final TestDatabase database;

	private final HikariDataSource pool;

	private final JdbcTemplate jdbc;

	private final DelayedTaskStore store;

	JdbcStoreSchemaTests(TestDatabase database) {
		this.database = database;
		this.pool = database.newDatabase();
		this.jdbc = new JdbcTemplate(this.pool);
		this.store = JdbcStores.open(this.pool);
	}

	@AfterEach
	void close() {
		this.pool.close();
	}

	@Test
	void theCheckNamesWhatIsMissingAndTheScriptMayRunAgain() {
		assertRefused(this.store).hasMessageContaining("is missing").hasMessageContaining(switch (this.database) {
			case POSTGRESQL -> "schema-postgresql.sql";
			case MARIADB -> "schema-mysql.sql";
			default -> "schema-h2.sql";
		});
		create(JdbcStores.TABLE);
		this.store.check();
		this.jdbc.update("delete from timingwheel_task_version");
		assertRefused(this.store).hasMessageContaining("is missing");
		create(JdbcStores.TABLE);
		this.store.check();
		this.jdbc.execute("drop table timingwheel_task_node");
		assertRefused(this.store).hasMessageContaining("version 1")
			.hasMessageContaining("cannot be used")
			.hasMessageMatching("(?is).*timingwheel_task_node.*");
	}

	@Test
	void aTableThatTheUserMayNotReadIsNotMissingAndNotToWriteIsRefused() {
		create(JdbcStores.TABLE);
		DataSource stranger = ofStranger();
		assertRefused(JdbcStores.open(stranger)).hasMessageContaining(switch (this.database) {
			case POSTGRESQL -> "permission denied for table timingwheel_task";
			default -> "Not enough rights for object";
		});
		assertThatExceptionOfType(UnusableTaskStoreException.class)
			.isThrownBy(() -> Schema.create(stranger, null, JdbcStores.TABLE))
			.withMessageContaining("the tables of the durable tasks cannot be created");
		for (String table : List.of("", "_version", "_name", "_node")) {
			this.jdbc.execute("grant select on timingwheel_task" + table + " to stranger");
		}
		assertRefused(JdbcStores.open(stranger)).hasMessageContaining("select, insert, update and delete");
	}

	private DataSource ofStranger() {
		assumeTrue(this.database != TestDatabase.MARIADB, "The server of the tests checks no rights");
		String url = this.pool.getJdbcUrl();
		if (this.database == TestDatabase.POSTGRESQL) {
			// Roles are those of the server, and not of a database.
			if (this.jdbc.queryForList("select 1 from pg_roles where rolname = 'stranger'").isEmpty()) {
				this.jdbc.execute("create role stranger login");
			}
			return new DriverManagerDataSource(url.replace("user=postgres", "user=stranger"));
		}
		this.jdbc.execute("create user stranger password 'secret'");
		// Only an administrator may change the settings in the URL.
		return new DriverManagerDataSource(url.substring(0, url.indexOf(';')), "stranger", "secret");
	}

	/**
	 * PostgreSQL cuts the names of indexes. Two names that are then the same would be one
	 * index.
	 */
	@Test
	void theTableWithTheLongestNameHasAllIndexes() {
		assumeTrue(this.database == TestDatabase.POSTGRESQL);
		String longest = "t".repeat(55);
		create(JdbcStores.TABLE);
		create(longest);
		assertThat(
				this.jdbc.queryForObject("select count(*) from pg_indexes where tablename = ?", Integer.class, longest))
			.isEqualTo(5);
		open(longest).check();
		assertThatIllegalArgumentException().isThrownBy(() -> open(longest + "t"))
			.withMessageContaining("must consist of at most 55 letters");
		this.jdbc.update("delete from " + longest + "_version");
		assertRefused(open(longest)).hasMessageContaining("is missing");
		this.store.check();
	}

	@Test
	void aNodeUsesANewerSchema() {
		create(JdbcStores.TABLE);
		this.jdbc.execute("alter table timingwheel_task add column of_the_future varchar(20)");
		this.jdbc.execute("create table timingwheel_of_the_future (id integer)");
		this.jdbc.update("insert into timingwheel_task_version (version) values (2)");
		this.store.check();
		StoreNode node = new StoreNode("a", this.store);
		node.enqueue(StoreContract.task("k", StoreContract.HOUR));
		node.enqueue(StoreContract.task("k", StoreContract.SOON));
		LeasedTask task = node.claim().get(0);
		assertThat(List.of(node.begin(task), node.renew(task), node.retry(task, StoreContract.NOW)))
			.containsOnly(Reply.DONE);
		assertThat(node.acknowledge(node.claim().get(0))).isEqualTo(Reply.DONE);
		assertThat(this.store.counts(List.of())).isEmpty();
	}

	@Test
	void manyTasksAreEstimatedOnPostgresAndOtherDatabasesGiveALowerBound() {
		create(JdbcStores.TABLE);
		int maxExact = 5000;
		int few = 300;
		for (Duration delay : List.of(StoreContract.HOUR, StoreContract.NOW)) {
			int many = delay.isZero() ? few : 2 * maxExact;
			this.store.enqueue(Stream.generate(() -> StoreContract.taskOf("many", delay)).limit(many).toList());
			this.store.enqueue(Stream.generate(() -> StoreContract.taskOf("few", delay)).limit(few).toList());
		}
		Map<String, StoredCounts> counts = this.store.counts(List.of("many", "few", "absent"));
		assertThat(counts).containsOnlyKeys("many", "few").containsEntry("few", new StoredCounts(2 * few, few, 0, 0));
		StoredCounts many = Objects.requireNonNull(counts.get("many"));
		assertThat(many.estimated()).isTrue();
		boolean postgres = this.database == TestDatabase.POSTGRESQL;
		assertThat(many.pending()).isBetween(postgres ? 8_000L : maxExact, postgres ? 13_000L : maxExact);
		assertThat(many).extracting(StoredCounts::overdue, StoredCounts::running, StoredCounts::dead)
			.containsExactly((long) few, 0L, 0L);
		if (this.database == TestDatabase.MARIADB) {
			try (HikariDataSource connection = TestDatabase.newPool(this.pool.getJdbcUrl(), 1)) {
				long read = rowsRead(connection);
				JdbcStores.open(connection).discardOlder(StoreContract.HOUR, 10);
				assertThat(rowsRead(connection) - read).as("rows read of a large table").isLessThan(100);
			}
		}
	}

	private static long rowsRead(DataSource connection) {
		return new JdbcTemplate(connection).queryForObject("show session status like 'handler_read_next'",
				(rs, rowNum) -> rs.getLong("Value"));
	}

	private static AbstractThrowableAssert<?, ?> assertRefused(DelayedTaskStore store) {
		return assertThatThrownBy(() -> store.check()).isInstanceOf(UnusableTaskStoreException.class);
	}

	private DelayedTaskStore open(String table) {
		return new JdbcDelayedTaskStore(this.pool, this.pool, table, null);
	}

	private void create(String table) {
		Schema.create(this.pool, null, table);
	}

}
