package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;

/**
 * Claim. The first request looks at all names and claims tasks of those without limits. A
 * name with limits that has due tasks takes a transaction more, and so do a suspect and
 * the runs whose leases have ended. Thread-safe.
 */
abstract class Claiming {

	private static final Log logger = LogFactory.getLog(Claiming.class);

	/** The order of the index for claims, see {@link Dialect#lockFirst}. */
	static final String FIRST = " order by name, queue, next_at";

	private static final String ENDED = "{task} where name = ? and queue = {running} and next_at <= ?" + FIRST;

	/** How many ended runs of a name a claim takes away. */
	private static final int MAX_ENDED = 128;

	private static final int LOCK_ATTEMPTS = 4;

	private static final long MAX_LOCK_PAUSE = TimeUnit.MILLISECONDS.toNanos(3);

	/** How long after failed attempts to lock a name the next claim tries again. */
	private static final long LOCKED_MILLIS = 20;

	final Database database;

	/** Whether the latest claim took tasks with limits, or had no room for them. */
	private volatile boolean limitedWork;

	Claiming(Database database) {
		this.database = database;
	}

	/**
	 * Looks at all names, and claims tasks of those without limits, but no task if the
	 * node wants a suspect and one waits.
	 */
	abstract void claimUnlimited(ClaimProgress progress, int limit, boolean suspect);

	/** Begins the first due tasks of a name, whose row the transaction has locked. */
	List<TaskRow> begin(Session session, ClaimProgress progress, String name, long now, int limit) {
		return progress.lease(session, progress.lockFirst(session, name, "{pending}", now, now, limit), now, true);
	}

	Claimed claim(ClaimRequest request) {
		ClaimProgress progress = new ClaimProgress(request);
		// Names with limits that had tasks get a half, and what the others leave.
		int limit = this.limitedWork ? request.limit() / 2 : request.limit();
		claimUnlimited(progress, limit, request.suspect());
		try {
			lose(progress);
			List<String> suspects = request.suspect() ? progress.suspects() : List.of();
			for (int i = 0; i < suspects.size() && progress.tasks.isEmpty(); i++) {
				locked(progress, suspects.get(i), NameLimits::takeSuspect);
				progress.more |= !progress.tasks.isEmpty();
			}
			if (!suspects.isEmpty() && progress.tasks.isEmpty()) {
				// They wait for places or for locks.
				claimUnlimited(progress, limit, false);
				suspects = List.of();
			}
			if (suspects.isEmpty()) {
				takeLimited(progress, request.limit());
				if (limit == 0 && progress.tasks.isEmpty()) {
					claimUnlimited(progress, request.limit(), false);
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
		return progress.result();
	}

	/** Makes suspects of runs whose leases have ended. */
	private void lose(ClaimProgress progress) {
		List<String> names = progress.ended();
		progress.newSuspects = !names.isEmpty() && this.database.node().transaction((session) -> {
			String lock = session.dialect().lockFirst("{columns}", ENDED, MAX_ENDED);
			List<TaskRow> ended = new ArrayList<>();
			names.forEach((name) -> ended.addAll(session.rows(lock, session.dialect().text(name), progress.now)));
			ended.forEach((row) -> row.lose(progress.now));
			session.write(ended);
			return !ended.isEmpty();
		});
	}

	private void takeLimited(ClaimProgress progress, int limit) {
		List<String> names = new ArrayList<>(progress.due().filter(progress::isLimited).toList());
		// Each name comes first in some claims.
		Collections.shuffle(names);
		int before = progress.tasks.size();
		this.limitedWork = false;
		for (String name : names) {
			int most = Math.min(limit - progress.tasks.size(), progress.share(name).due());
			if (most > 0) {
				locked(progress, name, (locked) -> locked.take(most, this));
			}
			else {
				progress.more = true;
			}
		}
		// Of requests for one task, the others get each second one.
		this.limitedWork = !names.isEmpty() && (before == limit || (limit > 1 && progress.tasks.size() > before));
	}

	private void locked(ClaimProgress progress, String name, Consumer<NameLimits> take) {
		for (int i = 0; i < LOCK_ATTEMPTS; i++) {
			try {
				NameLimits taken = this.database.node().<@Nullable NameLimits>once(false, (session) -> {
					NameLimits locked = NameLimits.lock(session, progress, name);
					if (locked != null) {
						take.accept(locked);
					}
					return locked;
				});
				if (taken != null) {
					progress.now = taken.now;
					progress.tasks.addAll(taken.tasks);
					progress.startAt(taken.startAt);
					progress.more |= taken.more;
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
		progress.startAt(progress.now + LOCKED_MILLIS);
		progress.more = true;
	}

}
