package io.timingwheel.spring.faults;

import java.sql.SQLException;
import java.util.List;
import java.util.Objects;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.jdbc.TestDatabase;
import io.timingwheel.spring.task.DelayedTaskContext;
import org.h2.tools.Server;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Value;
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

	private final String node;

	/**
	 * Opens the database.
	 * @param url as {@link #server()} has given it
	 * @param node the node that has the runs that begin here
	 */
	Executions(@Value("${faults.executions}") String url, @Value("${timingwheel.store.node-id}") String node) {
		this.pool = TestDatabase.newPool(url, 16);
		this.jdbc = new JdbcTemplate(this.pool);
		this.node = node;
	}

	/** Starts the database in this JVM if it is not running. */
	static synchronized String server() throws SQLException {
		if (serverUrl == null) {
			Server server = Server.createTcpServer("-tcpPort", "0", "-tcpDaemon", "-ifNotExists").start();
			serverUrl = "jdbc:h2:tcp://localhost:%d/mem:executions;DB_CLOSE_DELAY=-1".formatted(server.getPort());
			try (Executions executions = new Executions(serverUrl, "test")) {
				executions.jdbc.execute(
						"""
								create table execution (id bigint auto_increment primary key, number bigint not null,
									node varchar(64) not null, task_id varchar(64) not null, attempt int not null,
									deliveries int not null, due_at bigint not null, started_at bigint not null, ended_at bigint);
								create index execution_number on execution (number)""");
			}
		}
		return serverUrl;
	}

	/**
	 * Records that the body of the present task starts.
	 * @return the id of this run
	 */
	long begin(long number) {
		DelayedTaskContext task = DelayedTaskContext.current().orElseThrow();
		return count("""
				select id from final table (insert into execution (number, node, task_id, attempt, deliveries, due_at,
					started_at) values (?, ?, ?, ?, ?, ?, %s))""".formatted(NOW), number, this.node, task.id(),
				task.attempt(), task.deliveries(), task.dueAt().toEpochMilli());
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

	long startedOn(String node) {
		return count("select count(*) from execution where node = ?", node);
	}

	long runningOn(String node) {
		return count("select count(*) from execution where node = ? and ended_at is null", node);
	}

	/** How many tasks have ended, each counted once. */
	long numbersEnded() {
		return count("select count(distinct number) from execution where ended_at is not null");
	}

	private long count(String sql, Object... parameters) {
		return Objects.requireNonNull(this.jdbc.queryForObject(sql, Long.class, parameters));
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
	 * @param startedAt when its body started
	 * @param endedAt when it ended, {@code null} if it has not or was interrupted
	 */
	record Execution(long number, String node, String taskId, int attempt, int deliveries, long dueAt, long startedAt,
			@Nullable Long endedAt) {

	}

}
