package io.timingwheel.spring.durable.jdbc;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.dao.DuplicateKeyException;

/**
 * The names that have tasks, and the rows of names: whether a name is paused, when its
 * rate allows the next start, and whether its declared schedule was cancelled.
 * Thread-safe.
 */
final class TaskNames {

	private static final Log logger = LogFactory.getLog(TaskNames.class);

	private final Database database;

	private volatile Set<String> lastPaused = Set.of();

	TaskNames(Database database) {
		this.database = database;
	}

	// PostgreSQL has the dead tasks and the others in different indexes.
	static List<String> all(Session session) {
		Set<String> names = new TreeSet<>(withDeadTasks(session));
		names.addAll(names(session, "next_at is not null"));
		return List.copyOf(names);
	}

	static List<String> withDeadTasks(Session session) {
		return names(session, "died_at is not null");
	}

	// PostgreSQL reads all rows for a "distinct".
	private static List<String> names(Session session, String condition) {
		String names = session.dialect().isPostgres() ? """
				with recursive names as (
					(select name from {task} where %1$s order by name limit 1)
					union all
					select (select t.name from {task} t where t.name > n.name and t.%1$s order by t.name limit 1)
						from names n where n.name is not null
				)
				select name from names where name is not null""" : "select distinct name from {task} where %1$s";
		return session.texts(names.formatted(condition));
	}

	void setPaused(String name, boolean paused) {
		if (paused) {
			create(name);
		}
		Object text = this.database.dialect().text(name);
		this.database.node()
			.single((session) -> session.update("update {name} set paused = ? where name = ?", paused ? 1 : 0, text));
	}

	static Set<String> paused(Session session) {
		return new HashSet<>(session.texts("select name from {name} where paused = 1"));
	}

	/**
	 * Pauses the names again whose rows the table has lost.
	 * @param paused the paused names as a claim has read them
	 */
	Set<String> keepPaused(Set<String> paused) {
		Set<String> missing = new HashSet<>(this.lastPaused);
		missing.removeAll(paused);
		missing.removeIf(
				(name) -> this.database.node().single((session) -> exists(session, session.dialect().text(name))));
		Set<String> result = paused;
		if (!missing.isEmpty()) {
			missing.forEach((name) -> setPaused(name, true));
			logger.warn("The database had lost the pauses of " + missing + ", and they are stored again");
			result = new HashSet<>(paused);
			result.addAll(missing);
		}
		this.lastPaused = result;
		return result;
	}

	static boolean isCancelled(Session session, String name) {
		return !session
			.strings("select 'cancelled' from {name} where name = ? and cancelled = 1", session.dialect().text(name))
			.isEmpty();
	}

	/**
	 * Sets or deletes the mark of a declared schedule that was cancelled.
	 */
	static void setCancelled(Session session, String name, boolean cancelled) {
		create(session, name);
		session.update("update {name} set cancelled = ? where name = ?", cancelled ? 1 : 0,
				session.dialect().text(name));
	}

	void create(String name) {
		this.database.node().once(false, (session) -> create(session, name));
	}

	private static boolean create(Session session, String name) {
		Object text = session.dialect().text(name);
		try {
			return exists(session, text) || session
				.update("insert into {name} (name) values (?)" + session.dialect().unlessTaken(), text) > 0;
		}
		catch (DuplicateKeyException ex) {
			// Another transaction was faster.
			return false;
		}
	}

	private static boolean exists(Session session, Object name) {
		return !session.strings("select 'exists' from {name} where name = ?", name).isEmpty();
	}

}
