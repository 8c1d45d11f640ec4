package io.timingwheel.spring.durable.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Connections to PostgreSQL that record the plan of each statement, with the rows and
 * pages that the statement has read. The server sends the plan of each execution as a
 * warning ({@code auto_explain}). PostgreSQL may have kept this plan from an earlier
 * execution.
 */
public final class ExplainedDataSource extends DelegatingDataSource implements AutoCloseable {

	private static final String EXPLAIN = "load 'auto_explain'; set auto_explain.log_min_duration = 0;"
			+ " set auto_explain.log_analyze = on; set auto_explain.log_buffers = on; set auto_explain.log_timing = off;"
			+ " set auto_explain.log_format = json; set auto_explain.log_level = notice";

	private static final JsonMapper MAPPER = new JsonMapper();

	private final HikariDataSource pool;

	private final List<Execution> executions = new CopyOnWriteArrayList<>();

	public ExplainedDataSource(String url, int connections) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(url);
		config.setMaximumPoolSize(connections);
		config.setConnectionInitSql(EXPLAIN);
		this.pool = new HikariDataSource(config);
		setTargetDataSource(this.pool);
	}

	public List<Execution> executions() {
		List<Execution> result = List.copyOf(this.executions);
		this.executions.clear();
		return result;
	}

	@Override
	public Connection getConnection() throws SQLException {
		return proxy(Connection.class, super.getConnection());
	}

	@Override
	public void close() {
		this.pool.close();
	}

	private <T> T proxy(Class<T> type, T target) {
		return type.cast(Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { type },
				(proxy, method, arguments) -> {
					try {
						Object result = method.invoke(target, arguments);
						if (target instanceof Statement statement && method.getName().startsWith("execute")) {
							record(statement);
						}
						return switch (method.getName()) {
							case "prepareStatement" -> proxy(PreparedStatement.class, (PreparedStatement) result);
							case "createStatement" -> proxy(Statement.class, (Statement) result);
							default -> result;
						};
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				}));
	}

	private void record(Statement statement) throws SQLException {
		for (SQLWarning warning = statement.getWarnings(); warning != null; warning = warning.getNextWarning()) {
			String text = warning.getMessage();
			int plan = text.indexOf('{');
			if (text.startsWith("duration:") && plan > 0) {
				this.executions.add(new Execution(MAPPER.readTree(text.substring(plan))));
			}
		}
	}

	public record Execution(JsonNode json) {

		/**
		 * How many rows of a table the statement has read, with those that it has
		 * filtered out.
		 */
		public long rowsRead(String table) {
			return scans(table).stream()
				.mapToLong((node) -> node.path("Actual Loops").asLong()
						* (node.path("Actual Rows").asLong() + node.path("Rows Removed by Filter").asLong()
								+ node.path("Rows Removed by Index Recheck").asLong()))
				.sum();
		}

		/**
		 * How many pages the statement has read, from the cache or not.
		 */
		public long pagesRead() {
			JsonNode plan = this.json.path("Plan");
			return plan.path("Shared Hit Blocks").asLong() + plan.path("Shared Read Blocks").asLong();
		}

		public List<String> scanTypes(String table) {
			return scans(table).stream().map((node) -> node.path("Node Type").asString()).toList();
		}

		private List<JsonNode> scans(String table) {
			return this.json.findParents("Relation Name")
				.stream()
				.filter((node) -> node.path("Relation Name").asString("").equals(table)
						&& node.path("Node Type").asString().endsWith("Scan") && node.path("Actual Loops").asLong() > 0)
				.toList();
		}

		public String sql() {
			return this.json.path("Query Text").asString();
		}

	}

}
