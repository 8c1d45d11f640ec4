package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.LeasedTask;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Claim. The first request claims tasks of names without limits and looks at the names
 * with limits. A name with limits that has due tasks takes a transaction more.
 */
final class Claiming {

	private static final Log logger = LogFactory.getLog(Claiming.class);

	private final Database database;

	private final NameLimits limits;

	private final Steps postgres;

	private final Steps portable;

	/** Whether the latest claim took tasks with limits, or had no room for them. */
	private volatile boolean limitedWork;

	private volatile Set<String> lastPaused = Set.of();

	Claiming(Database database) {
		this.database = database;
		this.postgres = new PostgresClaim(database);
		this.portable = new PortableClaim(database);
		this.limits = new NameLimits(database, this::steps);
	}

	private Steps steps() {
		return this.database.dialect().isPostgres() ? this.postgres : this.portable;
	}

	Claimed claim(ClaimRequest request) {
		ClaimProgress progress = new ClaimProgress(request);
		// Names with limits that had tasks come first and get up to a half. Otherwise
		// they get what the others leave.
		boolean limitedFirst = this.limitedWork && !request.names().keySet().stream().allMatch(progress::isLimited);
		int limit = limitedFirst ? 0 : request.limit();
		steps().claim(progress, limit, request.suspect());
		if (progress.suspects.stream().noneMatch((name) -> takeSuspect(progress, name))) {
			if (!progress.suspects.isEmpty()) {
				// They wait for places or for locks.
				steps().claim(progress, limit, false);
			}
			int room = limitedFirst ? Math.max(1, request.limit() / 2) : request.limit() - progress.tasks.size();
			try {
				takeLimited(progress, room);
				if (limitedFirst && request.limit() > progress.tasks.size()) {
					steps().claim(progress, request.limit() - progress.tasks.size(), false);
				}
			}
			catch (RuntimeException ex) {
				throwUnlessTaken(progress, ex);
				logger.warn("A part of a claim has failed, after the claim of other tasks", ex);
			}
		}
		keepPaused(progress);
		return progress.result(this.database);
	}

	/** Pauses the names again whose rows the table has lost. */
	private void keepPaused(ClaimProgress progress) {
		Set<String> paused = new HashSet<>(this.lastPaused);
		paused.removeAll(progress.pausedNames);
		try {
			paused
				.removeIf((name) -> !this.database.node().transaction((session) -> TaskNames.pauseLost(session, name)));
		}
		catch (RuntimeException ex) {
			throwUnlessTaken(progress, ex);
			return;
		}
		if (!paused.isEmpty()) {
			logger.warn("The database had lost the pauses of " + paused + ", and they are stored again");
		}
		paused.addAll(progress.pausedNames);
		progress.pausedNames = paused;
		this.lastPaused = paused;
	}

	// The node must learn of tasks that have begun.
	private static void throwUnlessTaken(ClaimProgress progress, RuntimeException failure) {
		if (progress.tasks.isEmpty()) {
			throw failure;
		}
	}

	private boolean takeSuspect(ClaimProgress progress, String name) {
		this.limits.takeSuspect(progress, name);
		progress.more |= !progress.tasks.isEmpty();
		return !progress.tasks.isEmpty();
	}

	private void takeLimited(ClaimProgress progress, int room) {
		List<String> names = new ArrayList<>(progress.looks.keySet());
		names.removeIf((name) -> !progress.look(name).hasWork());
		// Each name comes first in some claims.
		Collections.shuffle(names);
		int before = progress.tasks.size();
		this.limitedWork = false;
		names.forEach((name) -> this.limits.take(progress, name, before + room - progress.tasks.size()));
		this.limitedWork = !names.isEmpty() && (room == 0 || progress.tasks.size() > before);
	}

	/** The parts of a claim that depend on the database. Thread-safe. */
	interface Steps {

		/**
		 * Claims tasks of names without limits, and looks at the names with limits. Takes
		 * no task if the node wants a suspect and one waits.
		 */
		void claim(ClaimProgress progress, int limit, boolean suspect);

		/** Begins the first due tasks of a name, whose row the transaction has locked. */
		List<LeasedTask> begin(Session session, ClaimProgress progress, String name, int limit);

	}

}
