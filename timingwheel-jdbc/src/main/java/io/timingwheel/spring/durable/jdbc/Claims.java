package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.LeasedTask;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Claim: leases tasks that are due soon, begins those that are due, and makes suspects of
 * the runs whose leases have ended. The first request claims tasks of names without
 * limits and looks at the names with limits. A name with limits that has due tasks takes
 * a transaction more. Thread-safe.
 */
final class Claims {

	private static final Log logger = LogFactory.getLog(Claims.class);

	private final Database database;

	private final TaskNames names;

	private final Steps steps;

	private final NameLimits limits;

	/** Whether the latest claim took tasks with limits, or had no room for them. */
	private volatile boolean limitedWork;

	Claims(Database database, TaskNames names) {
		this.database = database;
		this.names = names;
		this.steps = database.dialect().isPostgres() ? new PostgresClaims(database) : new PortableClaims(database);
		this.limits = new NameLimits(database, names, this.steps);
	}

	Claimed claim(ClaimRequest request) {
		Claim claim = new Claim(request);
		// Names with limits that had tasks come first and get up to a half. Otherwise
		// they get what the others leave.
		boolean limitedFirst = this.limitedWork && !request.names().keySet().stream().allMatch(claim::isLimited);
		int limit = limitedFirst ? 0 : request.limit();
		this.steps.claim(claim, limit, request.suspect());
		boolean suspect = claim.suspects.stream().anyMatch((name) -> takeSuspect(claim, name));
		if (!suspect) {
			if (!claim.suspects.isEmpty()) {
				// They wait for places or for locks.
				this.steps.claim(claim, limit, false);
			}
			takeLimited(claim, limitedFirst ? Math.max(1, request.limit() / 2) : request.limit() - claim.tasks.size());
			int room = request.limit() - claim.tasks.size();
			if (limitedFirst && room > 0) {
				this.steps.claim(claim, room, false);
			}
		}
		Set<String> paused = pausedNames(claim);
		return claim.result(this.database.millisSince(claim.arrived), paused);
	}

	private boolean takeSuspect(Claim claim, String name) {
		claim.add(this.limits.takeSuspect(claim, name));
		claim.more |= !claim.tasks.isEmpty();
		return !claim.tasks.isEmpty();
	}

	private void takeLimited(Claim claim, int room) {
		List<String> names = new ArrayList<>(claim.looks.keySet());
		names.removeIf((name) -> !claim.look(name).hasWork());
		// Each name comes first in some claims.
		Collections.shuffle(names);
		int most = claim.tasks.size() + room;
		int before = claim.tasks.size();
		this.limitedWork = false;
		try {
			names.forEach((name) -> claim.add(this.limits.take(claim, name, most - claim.tasks.size())));
		}
		catch (RuntimeException ex) {
			throwUnlessTaken(claim, ex);
			logger.warn("A claim of tasks with limits has failed, after the claim of other tasks", ex);
		}
		this.limitedWork = !names.isEmpty() && (room == 0 || claim.tasks.size() > before);
	}

	private Set<String> pausedNames(Claim claim) {
		try {
			return this.names.keepPaused(claim.pausedNames);
		}
		catch (RuntimeException ex) {
			throwUnlessTaken(claim, ex);
			return claim.pausedNames;
		}
	}

	// The node must learn of tasks that have begun.
	private static void throwUnlessTaken(Claim claim, RuntimeException failure) {
		if (claim.tasks.isEmpty()) {
			throw failure;
		}
	}

	/**
	 * The parts of a claim that depend on the database.
	 */
	interface Steps {

		/**
		 * Claims tasks of names without limits, and looks at the first tasks of the names
		 * with limits. Takes no task if the node wants a suspect and one waits.
		 * @param limit how many tasks to claim at most
		 * @param suspect whether the node wants a suspect
		 */
		void claim(Claim claim, int limit, boolean suspect);

		/**
		 * Begins the first due tasks of a name, whose row the transaction has locked.
		 */
		List<LeasedTask> begin(Session session, Claim claim, String name, int limit);

	}

}
