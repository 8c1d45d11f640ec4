package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import io.timingwheel.spring.actuate.internal.StoreNode.Outage;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.PartialOutage;
import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;
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

	private final DelayedTaskStore store;

	/** The callers that fail and, last, the missing parts. */
	private final Map<Caller, Outage> failing = new EnumMap<>(Caller.class);

	/** The problems and the missing parts that were logged since all was well. */
	private final Set<String> logged = new HashSet<>();

	/** How often each caller has failed since it succeeded, or since all was well. */
	private final Map<Caller, Integer> failures = new EnumMap<>(Caller.class);

	private @Nullable Instant downSince;

	StoreAvailability(DelayedTaskStore store) {
		this.store = store;
	}

	/** Gives the nanoseconds until the next attempt. */
	long failed(Caller caller, Throwable error) {
		return failed(caller, error, this.store.isRefusal(error) ? "refuses a request" : "is unavailable");
	}

	private synchronized long failed(Caller caller, Throwable error, String problem) {
		if (add(caller, error, Set.of(), Set.of(problem))) {
			logger.warn("The store of durable tasks %s (%s): trying again".formatted(problem,
					caller.name().toLowerCase(Locale.ROOT)), error);
		}
		else {
			logger.debug("Still failing: " + caller, error);
		}
		return BACKOFF.after(this.failures.merge(caller, 1, Integer::sum)).toNanos();
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

	void succeeded(Caller caller) {
		succeeded(caller, this.store.partialOutage());
	}

	private synchronized void succeeded(Caller caller, @Nullable PartialOutage partial) {
		this.failing.remove(caller);
		this.failures.remove(caller);
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

	/** The requests of a node, and those that find a part of the store missing. */
	enum Caller {

		CLAIM, BEGIN, RENEW, SETTLE, PARTS

	}

}
