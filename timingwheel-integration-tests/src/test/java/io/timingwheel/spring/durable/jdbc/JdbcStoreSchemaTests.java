package io.timingwheel.spring.durable.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLSyntaxErrorException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.jdbc.autoconfigure.TimingWheelDataSourceScriptDatabaseInitializer;
import io.timingwheel.spring.durable.jdbc.autoconfigure.TimingWheelJdbcStoreProperties;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.StoreTestSupport;
import io.timingwheel.spring.durable.UnusableTaskStoreException;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.StoredTask.State;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The scripts of the schema, and nodes on a schema that is older or newer than their own.
 */
@ParameterizedClass
@EnumSource
class JdbcStoreSchemaTests extends StoreTestSupport {

	private static final int NODES = 8;

	private final Scripts scripts;

	private final HikariDataSource pool;

	private final JdbcTemplate jdbc;

	JdbcStoreSchemaTests(Scripts scripts) {
		this.scripts = scripts;
		this.pool = scripts.database.newDatabase();
		this.jdbc = new JdbcTemplate(this.pool);
	}

	@AfterEach
	void close() {
		this.pool.close();
	}

	@Override
	protected void clear() {
	}

	@Override
	protected JdbcDelayedTaskStore node() {
		return new JdbcDelayedTaskStore(this.pool, this.pool, TableName.DEFAULT);
	}

	@Test
	void theScriptsStoreTheVersionAndMayRunAgain() {
		assertThat(schema().version()).isZero();
		for (int version = 1; version <= JdbcStoreSchema.VERSION; version++) {
			runScript(version);
			assertThat(schema().version()).isEqualTo(version);
			runScript(version);
			assertThat(schema().version()).isEqualTo(version);
		}
		this.store.check();
	}

	@Test
	void theCheckNamesTheScriptsThatAreMissing() {
		assertThatIllegalStateException().isThrownBy(this.store::check)
			.withMessageContaining("is missing")
			.withMessageContaining(String.join(", ", JdbcStoreSchema.scripts(schema().platform(), 0)));
		for (int version = 1; version < JdbcStoreSchema.VERSION; version++) {
			runScript(version);
			assertThatIllegalStateException().isThrownBy(this.store::check)
				.withMessageContaining("has version " + version)
				.withMessageContaining("needs version " + JdbcStoreSchema.VERSION)
				.withMessageContaining(
						"order: " + String.join(", ", JdbcStoreSchema.scripts(schema().platform(), version)) + ". ");
		}
	}

	@Test
	void aTableThatTheUserMayNotReadIsNotMissing() {
		initialize(TableName.DEFAULT);
		DataSource stranger = ofStranger();
		DelayedTaskStore node = new JdbcDelayedTaskStore(stranger, stranger, TableName.DEFAULT);
		assertThatExceptionOfType(UnusableTaskStoreException.class).isThrownBy(node::check)
			.withMessageContaining(this.scripts.denial());
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> JdbcStoreSchema.of(stranger, TableName.DEFAULT).version());
	}

	@Test
	void aUserWhoMayOnlyReadIsRefused() {
		initialize(TableName.DEFAULT);
		DataSource stranger = ofStranger();
		DelayedTaskStore node = new JdbcDelayedTaskStore(stranger, stranger, TableName.DEFAULT);
		if (this.scripts.database != TestDatabase.MARIADB) { // whose server checks no
																// rights
			for (String table : List.of("", "_version", "_limit", "_node")) {
				this.jdbc.execute("grant select on timingwheel_task" + table + " to stranger");
			}
		}
		assertThatExceptionOfType(UnusableTaskStoreException.class).isThrownBy(node::check)
			.satisfies((ex) -> assertThat(ex.getRemedy()).contains("select, insert, update and delete"));
	}

	@Test
	void theCheckNamesWhatIsMissingBesideTheTable() {
		initialize(TableName.DEFAULT);
		this.jdbc.execute("drop table timingwheel_task_node");
		assertThatIllegalStateException().isThrownBy(this.store::check)
			.withMessageContaining("version " + JdbcStoreSchema.VERSION)
			.withMessageContaining("cannot be used")
			.withMessageMatching("(?is).*timingwheel_task_node.*");
	}

	/**
	 * Connections of a user without any rights on the table.
	 */
	private DataSource ofStranger() {
		String url = this.pool.getJdbcUrl();
		switch (this.scripts.database) {
			case POSTGRESQL -> {
				// Roles are those of the server, and not of a database.
				if (this.jdbc.queryForList("select 1 from pg_roles where rolname = 'stranger'").isEmpty()) {
					this.jdbc.execute("create role stranger login");
				}
				return new DriverManagerDataSource(url.replace("user=postgres", "user=stranger"));
			}
			case MARIADB -> {
				// The server checks no rights.
				return new FailingDataSource(this.pool,
						new SQLSyntaxErrorException(
								"SELECT command denied to user 'stranger'@'localhost' for table 'timingwheel_task'",
								"42000", 1142));
			}
			default -> {
				this.jdbc.execute("create user stranger password 'secret'");
				// Only an administrator may change the settings in the URL.
				return new DriverManagerDataSource(url.substring(0, url.indexOf(';')), "stranger", "secret");
			}
		}
	}

	@Test
	void theCheckRefusesAnOlderDatabase() {
		initialize(TableName.DEFAULT);
		DataSource older = new OlderDataSource(this.pool);
		DelayedTaskStore node = new JdbcDelayedTaskStore(older, older, TableName.DEFAULT);
		assertThatIllegalStateException().isThrownBy(node::check)
			.withMessageMatching("durable tasks need %s \\d+\\.\\d+ or newer, but this is 1\\.4; update the database"
				.formatted(this.scripts.product()));
		this.store.check();
	}

	@Test
	void nodesThatStartTogetherCreateTheTable() throws Exception {
		initializeOnAllNodes(TableName.DEFAULT);
		this.store.check();
		assertThat(enqueue("k", HOUR).outcome()).isEqualTo(Outcome.INSERTED);
		assertThat(enqueue("k", HOUR).outcome()).isEqualTo(Outcome.REPLACED);
	}

	@Test
	void nodesThatStartTogetherBringTheTableToThisVersion() throws Exception {
		runScript(1);
		initialize(TableName.DEFAULT);
		Map<String, String> columns = columns();
		Set<String> indexes = indexes();
		// H2 loses indexes in about one of ten rounds if the nodes do not wait for each
		// other.
		int rounds = (this.scripts.database == TestDatabase.H2_MEMORY) ? 40 : 1;
		for (int round = 0; round < rounds; round++) {
			for (String table : List.of(TableName.DEFAULT, TableName.DEFAULT + "_limit",
					TableName.DEFAULT + "_version")) {
				this.jdbc.execute("drop table " + table);
			}
			runScript(1);
			initializeOnAllNodes(TableName.DEFAULT);
			this.store.check();
			assertThat(columns()).isEqualTo(columns);
			assertThat(indexes()).isEqualTo(indexes);
		}
	}

	@Test
	void aTableOfThisVersionIsLeftAlone() {
		initialize(TableName.DEFAULT);
		this.jdbc.execute("drop index timingwheel_task_dead"
				+ ((this.scripts.database == TestDatabase.MARIADB) ? " on timingwheel_task" : ""));
		initialize(TableName.DEFAULT);
		assertThat(indexes()).noneMatch((index) -> index.contains("timingwheel_task_dead ")).hasSizeGreaterThan(2);
	}

	@Test
	void twoTablesInOneDatabaseHaveVersionsOfTheirOwn() {
		initialize("one");
		initialize("two");
		this.jdbc.update("delete from one_version");
		assertThat(JdbcStoreSchema.of(this.pool, "one").version()).isOne();
		assertThat(JdbcStoreSchema.of(this.pool, "two").version()).isEqualTo(JdbcStoreSchema.VERSION);
	}

	/**
	 * PostgreSQL cuts the names of indexes. Two names that are then the same would be one
	 * index.
	 */
	@Test
	void theTableWithTheLongestNameHasAllIndexes() {
		String longest = "t".repeat(TableName.MAX_LENGTH);
		initialize(TableName.DEFAULT);
		initialize(longest);
		assertThat(indexes(longest)).hasSameSizeAs(indexes());
		new JdbcDelayedTaskStore(this.pool, this.pool, longest).check();
	}

	@Test
	void theScriptsOnlyAdd() {
		runScript(1);
		for (int version = 2; version <= JdbcStoreSchema.VERSION; version++) {
			Map<String, String> columns = columns();
			Set<String> indexes = indexes();
			runScript(version);
			assertThat(columns()).containsAllEntriesOf(columns);
			assertThat(indexes()).containsAll(indexes);
			Map<String, String> added = columns();
			added.keySet().removeAll(columns.keySet());
			assertThat(added.values()).noneMatch((column) -> column.contains("required"));
			Set<String> addedIndexes = indexes();
			addedIndexes.removeAll(indexes);
			// Nodes of the release before store null in a new column.
			assertThat(addedIndexes.stream().filter((index) -> index.startsWith("unique")))
				.allMatch((index) -> added.keySet().stream().anyMatch(index::endsWith));
		}
	}

	/**
	 * Runs statements that were recorded from a node of the release with the first
	 * version of the schema. They store, replace, claim, begin, renew, retry, release,
	 * bury, requeue and acknowledge tasks.
	 */
	@Test
	void nodesOfTheReleaseBeforeUseTheNewSchema() {
		initialize(TableName.DEFAULT);
		run(new ClassPathResource("release-with-schema-1-" + schema().platform() + ".sql", getClass()));
		assertThat(this.jdbc.queryForList("select id from timingwheel_task order by id", String.class))
			.containsExactly("buried", "leased", "replaced", "retried");
		assertThat(stored("buried").state()).isEqualTo(State.DEAD);
		assertThat(stored("leased").state()).isEqualTo(State.PENDING);
		assertThat(stored("replaced").state()).isEqualTo(State.PENDING);
		assertThat(stored("retried")).extracting(StoredTask::state, StoredTask::attempt, StoredTask::error)
			.containsExactly(State.PENDING, 2, "it failed");
		this.other.setClockOffset(HOUR);
		assertThat(claimByOther()).extracting(LeasedTask::id)
			.containsExactlyInAnyOrder("leased", "replaced", "retried");
	}

	@Test
	void aNodeUsesANewerSchema() {
		initialize(TableName.DEFAULT);
		this.jdbc.execute("alter table timingwheel_task add column of_the_future varchar(20)");
		this.jdbc.execute("create table timingwheel_of_the_future (id integer)");
		this.jdbc.update("insert into timingwheel_task_version (version) values (?)", JdbcStoreSchema.VERSION + 1);
		initialize(TableName.DEFAULT);
		this.store.check();
		enqueue("k", HOUR);
		enqueue("k", SOON);
		LeasedTask task = claim().get(0);
		assertThat(begin(this.store, task.ref())).isEqualTo(Reply.DONE);
		assertThat(this.store.renew(refs(task), LEASE)).containsExactly(Reply.DONE);
		assertThat(retry(this.store, task.ref(), 2, SOON)).isEqualTo(Reply.DONE);
		LeasedTask again = claimByOther().get(0);
		assertThat(begin(this.other, again.ref())).isEqualTo(Reply.DONE);
		assertThat(acknowledge(this.other, again.ref())).isEqualTo(Reply.DONE);
		assertThat(this.store.counts()).isEmpty();
	}

	private JdbcStoreSchema schema() {
		return JdbcStoreSchema.of(this.pool, TableName.DEFAULT);
	}

	private void runScript(int version) {
		String location = JdbcStoreSchema.scripts(this.scripts.platform(), version - 1).get(0);
		run(new DefaultResourceLoader().getResource(location));
	}

	private void run(Resource script) {
		new ResourceDatabasePopulator(script).execute(this.pool);
	}

	private void initialize(String table) {
		TimingWheelJdbcStoreProperties properties = new TimingWheelJdbcStoreProperties();
		properties.setInitializeSchema(DatabaseInitializationMode.ALWAYS);
		properties.setPlatform(this.scripts.platform());
		properties.setTableName(table);
		new TimingWheelDataSourceScriptDatabaseInitializer(this.pool, properties).initializeDatabase();
	}

	private void initializeOnAllNodes(String table) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(NODES);
		try {
			CyclicBarrier start = new CyclicBarrier(NODES);
			List<Callable<Void>> nodes = new ArrayList<>();
			for (int i = 0; i < NODES; i++) {
				nodes.add(() -> {
					start.await();
					initialize(table);
					return null;
				});
			}
			for (Future<Void> node : threads.invokeAll(nodes)) {
				node.get();
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

	/**
	 * The columns of the table of tasks, with what an insert has to know about them.
	 */
	private Map<String, String> columns() {
		Map<String, String> columns = new TreeMap<>();
		read((metaData, table) -> metaData.getColumns(table.getCatalog(), table.getSchema(),
				tableName(TableName.DEFAULT, metaData), "%"), (rs) -> {
					boolean required = rs.getString("IS_NULLABLE").equals("NO") && rs.getString("COLUMN_DEF") == null;
					columns.put(rs.getString("COLUMN_NAME"), rs.getString("TYPE_NAME") + "(" + rs.getInt("COLUMN_SIZE")
							+ ")" + (required ? " required" : ""));
				});
		return columns;
	}

	/**
	 * The indexes. H2 gives the index of the primary key a new name with each change of
	 * the table.
	 */
	private Set<String> indexes() {
		return indexes(TableName.DEFAULT);
	}

	private Set<String> indexes(String ofTable) {
		Map<String, String> indexes = new TreeMap<>();
		read((metaData, table) -> metaData.getIndexInfo(table.getCatalog(), table.getSchema(),
				tableName(ofTable, metaData), false, true), (rs) -> {
					if (rs.getString("INDEX_NAME") != null) {
						indexes.merge(
								(rs.getBoolean("NON_UNIQUE") ? "" : "unique ") + rs.getString("INDEX_NAME")
									.toLowerCase(Locale.ROOT)
									.replaceFirst("^primary_key_.*", "primary_key"),
								" " + rs.getString("COLUMN_NAME"), String::concat);
					}
				});
		Set<String> result = new HashSet<>();
		indexes.forEach((name, columns) -> result.add(name + " on" + columns));
		return result;
	}

	private static String tableName(String name, DatabaseMetaData metaData) throws SQLException {
		return metaData.storesUpperCaseIdentifiers() ? name.toUpperCase(Locale.ROOT) : name;
	}

	private void read(MetaDataQuery query, RowReader reader) {
		this.jdbc.execute((ConnectionCallback<Void>) (connection) -> {
			try (ResultSet rs = query.run(connection.getMetaData(), connection)) {
				while (rs.next()) {
					reader.read(rs);
				}
			}
			return null;
		});
	}

	/**
	 * An object whose methods with these names return these results, or throw them if
	 * they are exceptions.
	 */
	private static <T> T with(Class<T> type, T target, Map<String, ?> results) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				Object result = results.get(method.getName());
				if (result instanceof Exception failure) {
					throw failure;
				}
				if (result != null) {
					return result;
				}
				try {
					return method.invoke(target, arguments);
				}
				catch (InvocationTargetException ex) {
					throw ex.getCause();
				}
			}));
	}

	/**
	 * Databases, and the platforms whose scripts run on them. MariaDB also runs the
	 * scripts for MySQL.
	 */
	enum Scripts {

		H2(TestDatabase.H2_MEMORY), POSTGRESQL(TestDatabase.POSTGRESQL), MARIADB(TestDatabase.MARIADB),

		MYSQL(TestDatabase.MARIADB);

		private final TestDatabase database;

		Scripts(TestDatabase database) {
			this.database = database;
		}

		String platform() {
			return name().toLowerCase(Locale.ROOT);
		}

		/** What the database says to a user who may not read a table. */
		String denial() {
			return switch (this.database) {
				case POSTGRESQL -> "permission denied for table timingwheel_task";
				case MARIADB -> "SELECT command denied to user";
				default -> "Not enough rights for object";
			};
		}

		/** The product that the driver names. */
		String product() {
			return switch (this.database) {
				case POSTGRESQL -> "PostgreSQL";
				case MARIADB -> "MariaDB";
				default -> "H2";
			};
		}

	}

	/**
	 * Connections to a database that says that it has version 1.4.
	 */
	private static final class OlderDataSource extends DelegatingDataSource {

		OlderDataSource(DataSource target) {
			super(target);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			DatabaseMetaData metaData = with(DatabaseMetaData.class, connection.getMetaData(),
					Map.of("getDatabaseMajorVersion", 1, "getDatabaseMinorVersion", 4));
			return with(Connection.class, connection, Map.of("getMetaData", metaData));
		}

	}

	/**
	 * Connections on which each query fails.
	 */
	private static final class FailingDataSource extends DelegatingDataSource {

		private final SQLException failure;

		FailingDataSource(DataSource target, SQLException failure) {
			super(target);
			this.failure = failure;
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			return with(Connection.class, connection, Map.of("createStatement",
					with(Statement.class, connection.createStatement(), Map.of("executeQuery", this.failure))));
		}

	}

	private interface MetaDataQuery {

		ResultSet run(DatabaseMetaData metaData, Connection connection) throws SQLException;

	}

	private interface RowReader {

		void read(ResultSet rs) throws SQLException;

	}

}
