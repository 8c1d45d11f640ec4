package io.timingwheel.spring.durable.jdbc;

import java.sql.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.store.DueTime;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.ResultSetExtractor;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.SqlParameterValue;

/**
 * Runs the statements of a call. A statement has the words of {@link Database#text}. One
 * of its parameters may be a collection, whose values take the place of
 * <code>{in}</code>.
 */
record Session(JdbcOperations jdbc, Database database) {

	/** A plain null would let Spring ask the driver for its type. */
	private static final Object NULL = new SqlParameterValue(Types.NULL, null);

	/** The milliseconds of a duration, at most the last time that can be stored. */
	static long millis(Duration duration) {
		return DueTime.after(duration).resolve(0);
	}

	/** A power of two, so that there are few different statements. */
	static int padded(int size) {
		return (size <= 1) ? size : Integer.highestOneBit(size - 1) << 1;
	}

	Dialect dialect() {
		return this.database.dialect();
	}

	long now() {
		Long given = this.database.givenTime();
		return (given != null) ? given : query("select " + dialect().clock(), (rs, rowNum) -> rs.getLong(1)).get(0);
	}

	int update(String statement, @Nullable Object... parameters) {
		return this.jdbc.update(text(statement, parameters), flat(parameters));
	}

	void batch(String statement, List<Object[]> rows) {
		if (rows.size() == 1) {
			this.jdbc.update(this.database.text(statement), flat(rows.get(0)));
		}
		else if (!rows.isEmpty()) {
			this.jdbc.batchUpdate(this.database.text(statement), rows.stream().map(Session::flat).toList());
		}
	}

	<T> List<T> query(String statement, RowMapper<T> mapper, @Nullable Object... parameters) {
		String text = text(statement, parameters);
		return (parameters.length == 0) ? this.jdbc.query(text, mapper)
				: this.jdbc.query(text, mapper, flat(parameters));
	}

	/** Runs a statement with one of the texts of {@link Database#plannedText}. */
	<T> T planned(String statement, ResultSetExtractor<T> extractor, @Nullable Object... parameters) {
		long start = System.nanoTime();
		T result = this.jdbc.query(this.database.plannedText(statement), extractor, flat(parameters));
		this.database.tookPlanned(System.nanoTime() - start);
		return Objects.requireNonNull(result);
	}

	List<String> strings(String statement, @Nullable Object... parameters) {
		return query(statement, (rs, rowNum) -> rs.getString(1), parameters);
	}

	List<String> texts(String statement, @Nullable Object... parameters) {
		return query(statement, (rs, rowNum) -> String.valueOf(dialect().text(rs, 1)), parameters);
	}

	List<TaskRow> rows(String statement, @Nullable Object... parameters) {
		return query(statement, (rs, rowNum) -> TaskRow.read(rs, dialect()), parameters);
	}

	/** Locks tasks, except those that another transaction has locked. */
	Map<String, TaskRow> lock(Collection<String> ids) {
		TreeSet<String> ordered = new TreeSet<>(ids);
		return byId(rows(dialect().lockFirst("{columns}", "{task} where id {in} order by id", padded(ordered.size())),
				ordered));
	}

	Map<String, TaskRow> read(Collection<String> ids) {
		return ids.isEmpty() ? Map.of() : byId(rows("select {columns} from {task} where id {in}", ids));
	}

	private static Map<String, TaskRow> byId(List<TaskRow> rows) {
		Map<String, TaskRow> byId = new HashMap<>();
		rows.forEach((row) -> byId.put(row.id, row));
		return byId;
	}

	void write(List<TaskRow> rows) {
		List<Object[]> changed = new ArrayList<>();
		List<String> gone = new ArrayList<>();
		for (TaskRow row : rows) {
			if (row.status == TaskRow.GONE) {
				gone.add(row.id);
			}
			else {
				changed.add(row.change(dialect()));
			}
		}
		batch(TaskRow.WRITE, changed);
		if (!gone.isEmpty()) {
			update("delete from {task} where id {in}", gone);
		}
	}

	/** Inserts rows, and gives the ids of those whose keys are taken. */
	Set<String> insert(Collection<TaskRow> rows, long now) {
		Set<String> ids = rows.stream().map((row) -> row.id).collect(Collectors.toSet());
		boolean keyed = rows.stream().anyMatch((row) -> row.key != null);
		String unlessTaken = keyed ? dialect().unlessTaken() : "";
		try {
			batch(TaskRow.INSERT + unlessTaken, rows.stream().map((row) -> row.insertion(dialect(), now)).toList());
			if (unlessTaken.isEmpty()) {
				return Set.of();
			}
		}
		catch (DuplicateKeyException ex) {
			// The database has inserted the other rows of the batch.
		}
		// No database tells which rows a batch has inserted.
		strings("select id from {task} where id {in}", ids).forEach(ids::remove);
		return ids;
	}

	private String text(String statement, @Nullable Object[] parameters) {
		for (Object parameter : parameters) {
			if (parameter instanceof Collection<?> values) {
				return this.database.text(statement.replace("{in}", list(values)));
			}
		}
		return this.database.text(statement);
	}

	private static String list(Collection<?> values) {
		return values.isEmpty() ? "in (null)"
				: "in (" + String.join(", ", Collections.nCopies(padded(values.size()), "?")) + ")";
	}

	/** The last value of a collection fills up its list. */
	private static Object[] flat(@Nullable Object[] parameters) {
		List<Object> flat = new ArrayList<>(parameters.length);
		for (Object parameter : parameters) {
			if (parameter instanceof Collection<?> values) {
				int size = flat.size() + padded(values.size());
				flat.addAll(values);
				flat.addAll(Collections.nCopies(size - flat.size(), flat.isEmpty() ? NULL : flat.get(flat.size() - 1)));
			}
			else {
				flat.add((parameter != null) ? parameter : NULL);
			}
		}
		return flat.toArray();
	}

}
