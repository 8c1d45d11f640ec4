package io.timingwheel.spring.durable.jdbc;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import org.springframework.dao.DuplicateKeyException;

/**
 * The names that have tasks, and the rows of names: whether a name is paused, when its
 * rate allows the next start, and whether its declared schedule was cancelled.
 */
final class TaskNames {

	private TaskNames() {
	}

	// PostgreSQL has the dead tasks and the others in different indexes.
	static Set<String> all(Session session) {
		Set<String> names = new TreeSet<>(names(session, "died_at is not null"));
		names.addAll(names(session, "next_at is not null"));
		return names;
	}

	// PostgreSQL reads all rows for a "distinct". The others search the index once a
	// name, but only without a condition.
	static List<String> names(Session session, String condition) {
		String names = session.dialect().isPostgres() ? """
				with recursive names as (
					(select name from {task} where %1$s order by name limit 1)
					union all
					select (select t.name from {task} t where t.name > n.name and t.%1$s order by t.name limit 1)
						from names n where n.name is not null
				)
				select name from names where name is not null""" : "select distinct name from {task}";
		return session.texts(names.formatted(condition));
	}

	/** Whether a name has a row in which a condition is met. */
	static boolean exists(Session session, String name, String condition) {
		return !session
			.strings("select 'exists' from {name} where name = ? and " + condition, session.dialect().text(name))
			.isEmpty();
	}

	/** Sets {@code paused} or {@code cancelled}. */
	static int set(Session session, String name, String column, boolean value) {
		create(session, name);
		return session.update("update {name} set " + column + " = ? where name = ?", value ? 1 : 0,
				session.dialect().text(name));
	}

	static int create(Session session, String name) {
		try {
			return exists(session, name, "1 = 1") ? 0
					: session.update("insert into {name} (name) values (?)" + session.dialect().unlessTaken(),
							session.dialect().text(name));
		}
		catch (DuplicateKeyException ex) {
			// Another transaction was faster.
			return 0;
		}
	}

}
