package io.timingwheel.spring.faults;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.task.DelayedTaskContext;
import org.h2.tools.Server;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.DataClassRowMapper;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The runs of all nodes, in a separate database that no fault affects. Its clock is that
 * of the machine, like the clock of the store.
 */
final class Executions implements AutoCloseable {

	private static final String NOW = "cast(floor(extract(epoch from current_timestamp) * 1000) as bigint)";

	private static @Nullable String serverUrl;

	private final HikariDataSource pool;

	private final JdbcTemplate jdbc;

	Executions(String url) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(url);
		config.setMaximumPoolSize(16);
		config.setMinimumIdle(1);
		config.setConnectionTimeout(Duration.ofMinutes(2).toMillis());
		this.pool = new HikariDataSource(config);
		this.jdbc = new JdbcTemplate(this.pool);
	}

	/**
	 * Starts the database in this JVM if it is not running.
	 */
	static synchronized String server() {
		if (serverUrl == null) {
			try {
				Server server = Server.createTcpServer("-tcpPort", "0", "-tcpDaemon", "-ifNotExists").start();
				serverUrl = "jdbc:h2:tcp://localhost:%d/mem:executions;DB_CLOSE_DELAY=-1".formatted(server.getPort());
				try (Connection connection = DriverManager.getConnection(serverUrl);
						Statement statement = connection.createStatement()) {
					statement.execute(
							"""
									create table execution (id bigint auto_increment primary key, number bigint not null,
										node varchar(64) not null, task_id varchar(64) not null, attempt int not null,
										deliveries int not null, due_at bigint not null, begun_at bigint, started_at bigint not null,
										ended_at bigint)
									""");
					statement.execute("create index execution_number on execution (number)");
				}
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}
		return serverUrl;
	}

	/**
	 * Records that a run starts.
	 * @param begunAt when the task began with its claim, {@code null} if it did not
	 * @return its id
	 */
	long begin(long number, String node, DelayedTaskContext context, @Nullable Long begunAt) {
		try (Connection connection = this.pool.getConnection();
				PreparedStatement statement = connection.prepareStatement(
						"insert into execution (number, node, task_id, attempt, deliveries, due_at, begun_at, started_at)"
								+ " values (?, ?, ?, ?, ?, ?, ?, " + NOW + ")",
						new String[] { "id" })) {
			statement.setLong(1, number);
			statement.setString(2, node);
			statement.setString(3, context.id());
			statement.setInt(4, context.attempt());
			statement.setInt(5, context.deliveries());
			statement.setLong(6, context.dueAt().toEpochMilli());
			statement.setObject(7, begunAt);
			statement.executeUpdate();
			try (var keys = statement.getGeneratedKeys()) {
				keys.next();
				return keys.getLong(1);
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	void end(long id) {
		this.jdbc.update("update execution set ended_at = " + NOW + " where id = ?", id);
	}

	void clear() {
		this.jdbc.update("delete from execution");
	}

	List<Execution> all() {
		return this.jdbc.query("select * from execution order by id", new DataClassRowMapper<>(Execution.class));
	}

	long started() {
		return count("select count(*) from execution");
	}

	long startedOf(long number) {
		return count("select count(*) from execution where number = ?", number);
	}

	long startedOn(String node) {
		return count("select count(*) from execution where node = ?", node);
	}

	long runningOn(String node) {
		return count("select count(*) from execution where node = ? and ended_at is null", node);
	}

	/**
	 * How many tasks have ended, each counted once.
	 */
	long numbersEnded() {
		return count("select count(distinct number) from execution where ended_at is not null");
	}

	private long count(String sql, Object... parameters) {
		Long count = this.jdbc.queryForObject(sql, Long.class, parameters);
		return (count != null) ? count : 0;
	}

	@Override
	public void close() {
		this.pool.close();
	}

	/**
	 * A run.
	 *
	 * @param number the number of its task, as the test has given it
	 * @param node the node
	 * @param taskId the id of its task
	 * @param attempt which attempt, from 1
	 * @param deliveries how often the task has begun, with this
	 * @param dueAt when it was due
	 * @param begunAt when the store began the task, if it began with its claim
	 * @param startedAt when its body started
	 * @param endedAt when it ended, {@code null} if it has not or was interrupted
	 */
	record Execution(long number, String node, String taskId, int attempt, int deliveries, long dueAt,
			@Nullable Long begunAt, long startedAt, @Nullable Long endedAt) {

	}

}
