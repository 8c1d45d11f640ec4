package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.timingwheel.spring.durable.Forecast.DueCounts;
import io.timingwheel.spring.durable.Forecast;
import io.timingwheel.spring.durable.ForecastQuery;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * Counts how many pending tasks fall due in equal spans of the time ahead, from the index
 * on name, status and due time. One statement counts all tasks of the names that have
 * few. For the names with many tasks, PostgreSQL counts a sample, for which it has an
 * index. The other databases read a limited number of tasks of each name.
 */
final class DueForecasts {

	/** How many tasks are counted one by one. */
	private static final int MAX_COUNTED = 50_000;

	/** The sample has about one of so many tasks. */
	private static final int SAMPLED = 256;

	private static final String COUNT = "select name, bucket, count(*) as tasks from (%s) counted"
			+ " group by name, bucket";

	private static final String DUE = "select name, floor((due_at - ?) / ?) as bucket from %s where status = "
			+ TaskRow.PENDING + " and name%s and due_at >= ? and due_at < ?";

	private final Database database;

	private final Dialect dialect;

	DueForecasts(Database database) {
		this.database = database;
		this.dialect = database.dialect();
	}

	Forecast read(ForecastQuery query) {
		return this.database.store().single((jdbc) -> new Reading(jdbc, query).read());
	}

	/**
	 * One forecast.
	 */
	private final class Reading {

		private final JdbcOperations jdbc;

		private final ForecastQuery query;

		private final long from;

		private final long spanMillis;

		private final Map<String, DueCounts> result = new HashMap<>();

		Reading(JdbcOperations jdbc, ForecastQuery query) {
			this.jdbc = jdbc;
			this.query = query;
			this.from = DueForecasts.this.database.now(jdbc);
			this.spanMillis = LeaseTimes.millis(query.span());
		}

		Forecast read() {
			List<String> few = new ArrayList<>();
			List<String> many = new ArrayList<>();
			long counted = 0;
			for (Map.Entry<String, Long> name : byPending()) {
				counted += name.getValue();
				((counted <= MAX_COUNTED) ? few : many).add(name.getKey());
			}
			if (!few.isEmpty()) {
				count(few, "", 1);
			}
			if (!many.isEmpty() && DueForecasts.this.dialect.isSampled() != null) {
				count(many, " and " + DueForecasts.this.dialect.isSampled(), SAMPLED);
			}
			else {
				many.forEach((name) -> countFirst(name, MAX_COUNTED / many.size()));
			}
			return new Forecast(this.from, this.result);
		}

		private List<Map.Entry<String, Long>> byPending() {
			return this.query.pending().entrySet().stream().sorted(Map.Entry.comparingByValue()).toList();
		}

		/**
		 * Counts all tasks of some names, or a sample of them.
		 */
		private void count(List<String> names, String condition, int factor) {
			Map<String, long[]> counts = new LinkedHashMap<>();
			names.forEach((name) -> counts.put(name, new long[this.query.spans()]));
			List<@Nullable Object> parameters = new ArrayList<>(List.of(this.from, this.spanMillis));
			Parameters.addList(parameters, names.stream().map(DueForecasts.this.dialect::text).toList());
			parameters.addAll(List.of(this.from, end()));
			String due = DUE.formatted(DueForecasts.this.database.table(), Parameters.isOneOf(names.size()))
					+ condition;
			this.jdbc.query(COUNT.formatted(due), (rs) -> {
				long[] spans = counts.get(TaskRow.name(rs, DueForecasts.this.dialect));
				if (spans != null) {
					spans[rs.getInt("bucket")] = rs.getLong("tasks") * factor;
				}
			}, parameters.toArray());
			counts.forEach((name, spans) -> this.result.put(name, dueCounts(spans, spans.length, factor > 1)));
		}

		/**
		 * Counts the tasks of a name that are due first. The span of the last counted
		 * task may have more tasks.
		 */
		private void countFirst(String name, int limit) {
			long[] spans = new long[this.query.spans()];
			String due = DUE.formatted(DueForecasts.this.database.table(), " = ?")
					+ " order by name, status, due_at limit ?";
			this.jdbc.query(COUNT.formatted(due), (rs) -> {
				spans[rs.getInt("bucket")] = rs.getLong("tasks");
			}, this.from, this.spanMillis, DueForecasts.this.dialect.text(name), this.from, end(), limit);
			int complete = spans.length;
			if (Arrays.stream(spans).sum() == limit) {
				do {
					complete--;
				}
				while (spans[complete] == 0);
			}
			this.result.put(name, dueCounts(spans, complete, false));
		}

		private long end() {
			return this.from + this.spanMillis * this.query.spans();
		}

		private static DueCounts dueCounts(long[] spans, int size, boolean estimated) {
			return new DueCounts(Arrays.stream(spans).limit(size).boxed().toList(), estimated);
		}

	}

}
