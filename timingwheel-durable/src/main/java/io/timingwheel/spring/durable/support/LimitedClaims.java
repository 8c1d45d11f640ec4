package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.StartLimits;
import org.jspecify.annotations.Nullable;

/**
 * The claims of a store if the starts of some names are limited over all nodes.
 *
 * <p>
 * A claim first looks at the first tasks of the limited names, which shows the names that
 * have tasks to start. A name that had tasks for all its free places is busy: the next
 * claims need no look, since they meet more such tasks. Now and then a claim looks all
 * the same, since only a look shows runs that were lost. Thread-safe.
 *
 * @param <L> what a look shows of a name
 * @since 0.1
 */
public abstract class LimitedClaims<L extends LimitedClaims.Look> {

	/** After so many claims of a busy name without a look, a claim looks again. */
	private static final int MAX_CLAIMS_WITHOUT_LOOK = 8;

	private final AtomicInteger turn = new AtomicInteger();

	/** How many more claims of a busy name need no look. */
	private final Map<String, Integer> busy = new ConcurrentHashMap<>();

	/**
	 * Claims tasks of limited and of other names. The limited names come first in every
	 * second claim, and the other names in the claims between. A suspect is claimed
	 * alone.
	 * @param request the request, with limited names
	 * @return the result
	 */
	public final Claimed claim(ClaimRequest request) {
		Map<String, L> looks = needsLook(request) ? look(request) : Map.of();
		Claimed suspect = request.suspect() ? claimSuspect(request, looks) : null;
		if (suspect != null) {
			return suspect;
		}
		PartialClaim claim = new PartialClaim();
		try {
			claim(request, looks, claim);
		}
		catch (RuntimeException ex) {
			claim.endedBy(ex);
		}
		if (!claim.hasTime()) {
			lookAfter(request, claim);
		}
		return claim.claimed();
	}

	private boolean needsLook(ClaimRequest request) {
		return request.suspect() || !request.expireAfter().isEmpty()
				|| request.startLimits().keySet().stream().anyMatch((name) -> this.busy.getOrDefault(name, 0) == 0);
	}

	private void claim(ClaimRequest request, Map<String, L> looks, PartialClaim claim) {
		int turn = this.turn.getAndIncrement();
		boolean limitedFirst = !request.suspect() && (turn & 1) == 0;
		List<String> names = inOrder(request, looks, turn >> 1);
		if (limitedFirst) {
			claimLimited(request, names, looks, claim);
		}
		ClaimRequest others = request.withoutStartLimits(request.limit() - claim.size());
		if (others.limit() > 0 && !others.names().isEmpty()) {
			claim.add(claimOthers(others));
		}
		if (!limitedFirst && !claim.hasSuspect()) {
			claimLimited(request, names, looks, claim);
		}
	}

	/**
	 * The limited names, in the order in which their first tasks are due. Without a look
	 * the names take turns to be the first.
	 */
	private List<String> inOrder(ClaimRequest request, Map<String, L> looks, int turn) {
		List<String> names = new ArrayList<>(request.startLimits().keySet());
		if (looks.isEmpty()) {
			Collections.rotate(names, Math.floorMod(turn, names.size()));
		}
		else {
			names.sort(Comparator.comparingLong((name) -> Objects.requireNonNull(looks.get(name)).dueAt()));
		}
		return names;
	}

	private void claimLimited(ClaimRequest request, List<String> names, Map<String, L> looks, PartialClaim claim) {
		looks.values().forEach((look) -> heard(look, claim));
		for (String name : names) {
			if (claimExpired(request, name, looks.get(name), claim)) {
				// The next claim goes on with the tasks that have expired.
				continue;
			}
			Limit limit = Objects.requireNonNull(request.names().get(name));
			int room = Math.max(0, Math.min(request.limit() - claim.size(), limit.due()));
			L look = looks.get(name);
			if (look == null) {
				this.busy.computeIfPresent(name, (key, left) -> Math.max(0, left - 1));
			}
			else if (look.dueAt() == Long.MAX_VALUE) {
				this.busy.remove(name);
			}
			claimLimited(request, name, look, room, claim);
		}
	}

	/**
	 * Leases tasks of a name that have expired.
	 * @return whether there may be more of them
	 */
	private boolean claimExpired(ClaimRequest request, String name, @Nullable L look, PartialClaim claim) {
		Duration expireAfter = request.expireAfter().get(name);
		if (expireAfter == null || look == null || look.dueAt() >= look.now() - expireAfter.toMillis()) {
			return false;
		}
		int room = request.limit() - claim.size();
		return room == 0 || claimExpired(request, name, look, expireAfter, room, claim);
	}

	private static void heard(Look look, PartialClaim claim) {
		claim.heard(look.now());
		claim.startsAt(look.laterAt());
	}

	/**
	 * Looks after a claim that has not looked before, to learn when more tasks are due.
	 * @param request the request
	 * @param claim the claim
	 */
	protected final void lookAfter(ClaimRequest request, PartialClaim claim) {
		look(request).values().forEach((look) -> heard(look, claim));
	}

	/**
	 * Records that a claim which has looked at a name found tasks for all its free
	 * places. A claim that found no free place calls neither this method nor
	 * {@link #setIdle}, since it does not know.
	 * @param name the limited name
	 */
	protected final void setBusy(String name) {
		this.busy.put(name, MAX_CLAIMS_WITHOUT_LOOK);
	}

	/**
	 * Records that a name may have had fewer tasks than free places, so that the next
	 * claim looks.
	 * @param name the limited name
	 */
	protected final void setIdle(String name) {
		this.busy.remove(name);
	}

	/**
	 * The limits of a name.
	 * @param request the request
	 * @param name a limited name
	 * @return its limits
	 */
	protected static StartLimits limits(ClaimRequest request, String name) {
		return Objects.requireNonNull(request.startLimits().get(name));
	}

	/**
	 * Looks at the first tasks of each limited name, without a change.
	 * @param request the request
	 * @return what each limited name has
	 */
	protected abstract Map<String, L> look(ClaimRequest request);

	/**
	 * Claims a suspect of a limited name.
	 * @param request the request
	 * @param looks what each limited name has
	 * @return {@code null} if no suspect may start
	 */
	protected abstract @Nullable Claimed claimSuspect(ClaimRequest request, Map<String, L> looks);

	/**
	 * Claims tasks of names without limits.
	 * @param request a request without limited names
	 * @return the result
	 */
	protected abstract Claimed claimOthers(ClaimRequest request);

	/**
	 * Leases tasks of a limited name that are too late to start, without counting them
	 * for the limits. They do not begin.
	 * @param request the request
	 * @param name the limited name
	 * @param look what the name has
	 * @param expireAfter by how much a task may be late
	 * @param room how many tasks to lease at most, at least 1
	 * @param claim takes the tasks
	 * @return whether there may be more such tasks
	 */
	protected abstract boolean claimExpired(ClaimRequest request, String name, L look, Duration expireAfter, int room,
			PartialClaim claim);

	/**
	 * Claims tasks of a limited name.
	 * @param request the request
	 * @param name the limited name
	 * @param look what the name has, {@code null} if the name is busy and the claim has
	 * not looked
	 * @param room how many tasks to claim at most, 0 if the node has no room
	 * @param claim takes the tasks
	 */
	protected abstract void claimLimited(ClaimRequest request, String name, @Nullable L look, int room,
			PartialClaim claim);

	/**
	 * The first tasks of a name.
	 */
	public interface Look {

		/**
		 * When the look was taken.
		 * @return the time by the store's clock, in milliseconds since the epoch
		 */
		long now();

		/**
		 * The time of the first task that is due, or whose lease has ended before it
		 * began.
		 * @return milliseconds since the epoch, {@link Long#MAX_VALUE} for none
		 */
		long dueAt();

		/**
		 * When the next task is due, or its lease ends.
		 * @return milliseconds since the epoch, {@link Long#MAX_VALUE} for none
		 */
		long laterAt();

	}

}
