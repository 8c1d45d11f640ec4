package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.timingwheel.spring.actuate.internal.StoreNode.Outage;
import io.timingwheel.spring.durable.store.DelayedTaskStore.PartialOutage;
import io.timingwheel.spring.task.internal.BackoffSettings;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Whether the store answers and accepts the requests of this node. Logs each problem
 * once, and its end. A store that refuses requests is not away. Thread-safe.
 */
final class StoreAvailability {

	private static final Log logger = LogFactory.getLog(StoreAvailability.class);

	private static final BackoffSettings BACKOFF = new BackoffSettings(Duration.ofMillis(50), 2.0,
			Duration.ofSeconds(2), 0.2);

	/** The part of the store that a call, which has succeeded, found missing. */
	private final Supplier<@Nullable PartialOutage> partialOutage;

	private final Predicate<Throwable> isRefusal;

	/** The callers that fail and, last, the missing parts. */
	private final Map<Caller, Outage> failing = new EnumMap<>(Caller.class);

	/** How often they have failed in a row. */
	private final Map<Caller, Integer> failures = new EnumMap<>(Caller.class);

	/** The problems and the missing parts that were logged since all was well. */
	private final Set<String> logged = new HashSet<>();

	private volatile @Nullable Instant downSince;

	StoreAvailability(Supplier<@Nullable PartialOutage> partialOutage, Predicate<Throwable> isRefusal) {
		this.partialOutage = partialOutage;
		this.isRefusal = isRefusal;
	}

	/** The store has answered with an exception, and will do so again. */
	boolean isRefusal(Throwable error) {
		return this.isRefusal.test(error);
	}

	/** Gives the nanoseconds until the next attempt. */
	synchronized long failed(Caller caller, Throwable error) {
		String problem = isRefusal(error) ? "refuses a request" : "is unavailable";
		if (add(caller, error, Set.of(), Set.of(problem))) {
			logger.warn("The store of durable tasks %s (%s): trying again".formatted(problem, caller.action), error);
		}
		else {
			logger.debug("Still failing: " + caller.action, error);
		}
		return BACKOFF.after(this.failures.merge(caller, 1, Integer::sum)).toNanos();
	}

	void succeeded(Caller caller) {
		if (this.downSince != null || this.partialOutage.get() != null) {
			settle(caller);
		}
	}

	/**
	 * Forgets a caller that has no more calls to make. Others show when the store is
	 * back. Only claims call all parts of the store.
	 */
	synchronized void idle(Caller caller) {
		this.failing.remove(caller);
		if (caller == Caller.CLAIM) {
			this.failing.remove(Caller.PARTS);
		}
	}

	private synchronized void settle(Caller caller) {
		this.failing.remove(caller);
		this.failures.remove(caller);
		PartialOutage partial = this.partialOutage.get();
		if (partial == null) {
			this.failing.remove(Caller.PARTS);
		}
		else if (add(Caller.PARTS, partial.cause(), partial.parts(), partial.parts())) {
			logger.warn("A part of the store of durable tasks does not answer (%s): its tasks wait until it is back"
				.formatted(String.join(", ", partial.parts())), partial.cause());
		}
		Instant since = this.downSince;
		if (since != null && this.failing.isEmpty()) {
			this.downSince = null;
			this.logged.clear();
			this.failures.clear();
			Duration down = Duration.between(since, Instant.now()).truncatedTo(ChronoUnit.MILLIS);
			logger.info("The store of durable tasks answers and accepts all requests again, after "
					+ DurationFormatterUtils.print(down, DurationFormat.Style.COMPOSITE));
		}
	}

	/** Gives whether one of the problems was not logged yet. */
	private boolean add(Caller caller, Throwable error, Set<String> parts, Set<String> problems) {
		if (this.downSince == null) {
			this.downSince = Instant.now();
		}
		this.failing.put(caller, new Outage(error, this.downSince, parts));
		return this.logged.addAll(problems);
	}

	synchronized @Nullable Outage outage() {
		return this.failing.isEmpty() ? null : this.failing.values().iterator().next();
	}

	enum Caller {

		CLAIM("claiming tasks"), BEGIN("beginning tasks"), RENEW("renewing leases"), SETTLE("settling tasks"),

		PARTS("calling all parts");

		private final String action;

		Caller(String action) {
			this.action = action;
		}

	}

}
