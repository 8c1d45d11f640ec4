package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.Claimed;
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
		// Names with limits that had tasks get a half, and what the others leave.
		int limit = this.limitedWork ? request.limit() / 2 : request.limit();
		steps().claim(progress, limit, request.suspect());
		try {
			for (String name : progress.suspects) {
				this.limits.takeSuspect(progress, name);
				if (!progress.tasks.isEmpty()) {
					progress.more = true;
					break;
				}
			}
			if (!progress.suspects.isEmpty() && progress.tasks.isEmpty()) {
				// They wait for places or for locks.
				steps().claim(progress, limit, false);
			}
			if (progress.suspects.isEmpty()) {
				takeLimited(progress, request.limit() - progress.tasks.size());
				if (limit == 0 && progress.tasks.isEmpty()) {
					steps().claim(progress, request.limit(), false);
				}
			}
			keepPaused(progress);
		}
		catch (RuntimeException ex) {
			// The node must learn of tasks that have begun.
			if (progress.tasks.isEmpty()) {
				throw ex;
			}
			logger.warn("A part of a claim has failed, after the claim of other tasks", ex);
		}
		return progress.result(this.database);
	}

	private void takeLimited(ClaimProgress progress, int room) {
		List<String> names = new ArrayList<>(progress.looks.keySet());
		names.removeIf((name) -> !progress.isLimited(name) || !progress.look(name).hasWork());
		// Each name comes first in some claims.
		Collections.shuffle(names);
		int before = progress.tasks.size();
		this.limitedWork = false;
		names.forEach((name) -> this.limits.take(progress, name, before + room - progress.tasks.size()));
		this.limitedWork = !names.isEmpty() && (room == 0 || progress.tasks.size() > before);
	}

	/** Pauses the names again whose rows the table has lost. */
	private void keepPaused(ClaimProgress progress) {
		Set<String> paused = new HashSet<>(this.lastPaused);
		paused.removeAll(progress.pausedNames);
		paused.removeIf((name) -> !this.database.node().transaction((session) -> TaskNames.pauseLost(session, name)));
		if (!paused.isEmpty()) {
			logger.warn("The database had lost the pauses of " + paused + ", and they are stored again");
		}
		paused.addAll(progress.pausedNames);
		progress.pausedNames = paused;
		this.lastPaused = paused;
	}

	/** The parts of a claim that depend on the database. Thread-safe. */
	interface Steps {

		/**
		 * Claims tasks of names without limits, and looks at the names with limits. Takes
		 * no task if the node wants a suspect and one waits.
		 */
		void claim(ClaimProgress progress, int limit, boolean suspect);

		/** Begins the first due tasks of a name, whose row the transaction has locked. */
		List<TaskRow> begin(Session session, ClaimProgress progress, String name, int limit);

	}

}
