package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.Claimed;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;

/**
 * Claim. The first request looks at all names and claims tasks of those without limits. A
 * name with limits that has due tasks takes a transaction more, and so do a suspect and
 * the runs whose leases have ended.
 */
final class Claiming {

	private static final Log logger = LogFactory.getLog(Claiming.class);

	private static final int LOCK_ATTEMPTS = 4;

	private static final long MAX_LOCK_PAUSE = TimeUnit.MILLISECONDS.toNanos(3);

	/** How long after failed attempts to lock a name the next claim tries again. */
	private static final long LOCKED_MILLIS = 20;

	private final Database database;

	private final Steps postgres;

	private final Steps portable;

	/** Whether the latest claim took tasks with limits, or had no room for them. */
	private volatile boolean limitedWork;

	Claiming(Database database) {
		this.database = database;
		this.postgres = new PostgresClaim(database);
		this.portable = new PortableClaim(database);
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
			lose(progress);
			List<String> suspects = request.suspect() ? progress.suspects() : List.of();
			for (int i = 0; i < suspects.size() && progress.tasks.isEmpty(); i++) {
				locked(progress, suspects.get(i), NameLimits::takeSuspect);
				progress.more |= !progress.tasks.isEmpty();
			}
			if (!suspects.isEmpty() && progress.tasks.isEmpty()) {
				// They wait for places or for locks.
				steps().claim(progress, limit, false);
				suspects = List.of();
			}
			if (suspects.isEmpty()) {
				takeLimited(progress, request.limit() - progress.tasks.size());
				if (limit == 0 && progress.tasks.isEmpty()) {
					steps().claim(progress, request.limit(), false);
				}
			}
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

	private void lose(ClaimProgress progress) {
		List<String> ended = progress.ended();
		if (!ended.isEmpty()) {
			this.database.node().transaction((session) -> {
				ended.forEach((name) -> progress.lose(session, name));
				return ended;
			});
		}
	}

	private void takeLimited(ClaimProgress progress, int room) {
		List<String> names = new ArrayList<>(progress.due().filter(progress::isLimited).toList());
		// Each name comes first in some claims.
		Collections.shuffle(names);
		int before = progress.tasks.size();
		this.limitedWork = false;
		for (String name : names) {
			int most = Math.min(before + room - progress.tasks.size(), progress.share(name).due());
			if (most > 0) {
				locked(progress, name, (locked) -> locked.take(most, steps()));
			}
			else {
				progress.more = true;
			}
		}
		this.limitedWork = !names.isEmpty() && (room == 0 || progress.tasks.size() > before);
	}

	private void locked(ClaimProgress progress, String name, Consumer<NameLimits> take) {
		for (int i = 0; i < LOCK_ATTEMPTS; i++) {
			try {
				ClaimProgress part = this.database.node().<@Nullable ClaimProgress>once(false, (session) -> {
					NameLimits locked = NameLimits.lock(session, progress, name);
					if (locked == null) {
						return null;
					}
					take.accept(locked);
					return locked.part;
				});
				if (part != null) {
					progress.add(part);
					return;
				}
			}
			catch (ConcurrencyFailureException ex) {
				// Other nodes have the lock.
			}
			// The row is locked, or does not exist yet.
			this.database.node().once(false, (session) -> TaskNames.create(session, name));
			LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_LOCK_PAUSE));
		}
		progress.startAt = Math.min(progress.startAt, progress.now() + LOCKED_MILLIS);
		progress.more = true;
	}

	/** The parts of a claim that depend on the database. Thread-safe. */
	interface Steps {

		/**
		 * Looks at all names, and claims tasks of those without limits, but no task if
		 * the node wants a suspect and one waits.
		 */
		void claim(ClaimProgress progress, int limit, boolean suspect);

		/** Begins the first due tasks of a name, whose row the transaction has locked. */
		List<TaskRow> begin(Session session, ClaimProgress progress, String name, int limit);

	}

}
