package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

import io.timingwheel.spring.durable.jdbc.ClaimProgress.Look;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The claim in SQL that H2, MariaDB and MySQL understand. It first looks, without locks,
 * at the first tasks of each name. It then locks the rows of the names that have tasks to
 * claim, decides, and writes.
 */
final class PortableClaim extends Claiming {

	/**
	 * The first pending task and the first one behind the look-ahead, the first run and
	 * the first suspect. H2 would parse a union again each time, and MySQL would search
	 * from the beginning if the names were a table.
	 */
	private static final String LOOK = String.join(", ", "", ClaimProgress.first("?", "{pending}", "> -1"),
			ClaimProgress.first("?", "{pending}", "> ?"), ClaimProgress.first("?", "{running}", "> -1"),
			ClaimProgress.first("?", "{suspect}", "> -1"));

	/** A row of MySQL has at most 4096 columns. */
	private static final int MAX_NAMES = 1023;

	private static final String LOOKS = "select (select count(*) from {name} where paused = 1)";

	PortableClaim(Database database) {
		super(database);
	}

	@Override
	void claimUnlimited(ClaimProgress progress, int limit, boolean suspect) {
		List<String> names = this.database.node().single((session) -> look(session, progress));
		if (!names.isEmpty() && !(suspect && !progress.suspects().isEmpty())) {
			progress.add(this.database.node().transaction((session) -> take(session, progress, names, limit)), limit);
		}
	}

	/** Gives the names without limits that have tasks to claim. */
	private static List<String> look(Session session, ClaimProgress progress) {
		progress.now = session.now();
		progress.lookedAt = progress.now;
		List<String> names = List.copyOf(progress.request.names().keySet());
		Assert.isTrue(names.size() <= MAX_NAMES,
				"A node may have at most 1,023 durable names, with aliases, unless the database is PostgreSQL");
		// Nulls fill up the statement, so that there are few different texts of it.
		int step = Math.max(1, Session.padded(names.size()) / 8);
		int size = Math.min(MAX_NAMES, (names.size() + step - 1) / step * step);
		List<@Nullable Object> parameters = new ArrayList<>();
		for (String name : names) {
			Object text = session.dialect().text(name);
			parameters.addAll(List.of(text, text, progress.now + progress.ahead(name), text, text));
		}
		parameters.addAll(Collections.nCopies(5 * (size - names.size()), null));
		boolean paused = session.query(LOOKS + LOOK.repeat(size), (rs, rowNum) -> {
			for (int i = 0; i < names.size(); i++) {
				int column = 2 + 4 * i;
				progress.looks.put(names.get(i), new Look(rs.getLong(column), rs.getLong(column + 1),
						rs.getLong(column + 2), rs.getLong(column + 3)));
			}
			return rs.getLong(1) > 0;
		}, parameters.toArray()).get(0);
		progress.pausedNames = paused ? Set.copyOf(session.texts("select name from {name} where paused = 1"))
				: Set.of();
		progress.looks.keySet().removeAll(progress.pausedNames);
		return progress.due().filter((name) -> !progress.isLimited(name)).toList();
	}

	private static List<TaskRow> take(Session session, ClaimProgress progress, List<String> names, int limit) {
		progress.now = session.now();
		List<TaskRow> found = new ArrayList<>();
		for (String name : names) {
			int due = Math.min(limit, progress.share(name).due());
			int soon = Math.min(limit, progress.share(name).soon());
			if (due + soon > 0) {
				List<TaskRow> first = progress.lockFirst(session, name, "{pending}", progress.now,
						progress.now + progress.ahead(name), due + soon);
				first.stream().filter((row) -> row.foundAt() <= progress.now).limit(due).forEach(found::add);
				first.stream().filter((row) -> row.foundAt() > progress.now).limit(soon).forEach(found::add);
			}
		}
		found.sort(Comparator.comparingLong(TaskRow::foundAt));
		return progress.lease(session, found.subList(0, Math.min(limit, found.size())), progress.now, true);
	}

}
