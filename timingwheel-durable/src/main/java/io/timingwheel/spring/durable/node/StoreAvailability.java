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
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Whether the store answers and takes the requests of this node. Logs once that it, or a
 * part, does not, and once that all is back. A store that refuses requests is not away.
 * Thread-safe.
 */
final class StoreAvailability {

	private static final Log logger = LogFactory.getLog(StoreAvailability.class);

	/** What was logged since the whole store last answered, besides missing parts. */
	private static final String REFUSED = "refuses a request";

	private static final String UNREACHABLE = "cannot be reached";

	/** The part of the store that a call, which has succeeded, found missing. */
	private final Supplier<@Nullable PartialOutage> partialOutage;

	private final Predicate<Throwable> isRefusal;

	private final Map<Caller, Throwable> failing = new EnumMap<>(Caller.class);

	private final Set<String> logged = new HashSet<>();

	private @Nullable PartialOutage partial;

	private volatile @Nullable Instant downSince;

	StoreAvailability(Supplier<@Nullable PartialOutage> partialOutage, Predicate<Throwable> isRefusal) {
		this.partialOutage = partialOutage;
		this.isRefusal = isRefusal;
	}

	/** The store has answered with an exception, and will do so again. */
	boolean isRefusal(Throwable error) {
		return this.isRefusal.test(error);
	}

	synchronized void failed(Caller caller, Throwable error) {
		this.failing.put(caller, error);
		boolean refused = isRefusal(error);
		if (!begin(Set.of(refused ? REFUSED : UNREACHABLE))) {
			logger.debug("Still failing: " + caller.action, error);
			return;
		}
		logger.warn("The store of durable tasks %s (%s): trying again until it is %s"
			.formatted(refused ? REFUSED : UNREACHABLE, caller.action, refused ? "accepted" : "back"), error);
	}

	void succeeded(Caller caller) {
		if (this.downSince != null || this.partialOutage.get() != null) {
			settle(caller);
		}
	}

	/**
	 * Forgets a caller that has no more calls to make. Others show when the store is
	 * back.
	 */
	synchronized void idle(Caller caller) {
		this.failing.remove(caller);
		if (caller == Caller.CLAIM) {
			// Only claims call all parts of the store.
			this.partial = null;
		}
	}

	private synchronized void settle(Caller caller) {
		this.failing.remove(caller);
		PartialOutage partial = this.partialOutage.get();
		this.partial = partial;
		if (partial == null) {
			end();
		}
		else if (begin(partial.parts())) {
			logger.warn("A part of the store of durable tasks does not answer (%s): its tasks wait until it is back"
				.formatted(String.join(", ", partial.parts())), partial.cause());
		}
	}

	/** Whether one of these problems was not logged yet. */
	private boolean begin(Set<String> problems) {
		if (this.downSince == null) {
			this.downSince = Instant.now();
		}
		return this.logged.addAll(problems);
	}

	private void end() {
		Instant since = this.downSince;
		if (since != null && this.failing.isEmpty()) {
			boolean onlyRefused = this.logged.equals(Set.of(REFUSED));
			this.downSince = null;
			this.logged.clear();
			Duration down = Duration.between(since, Instant.now()).truncatedTo(ChronoUnit.MILLIS);
			logger.info("The store of durable tasks " + (onlyRefused ? "accepts all requests again" : "is back")
					+ " after " + DurationFormatterUtils.print(down, DurationFormat.Style.COMPOSITE));
		}
	}

	synchronized @Nullable Outage outage() {
		if (!this.failing.isEmpty()) {
			return new Outage(this.failing.values().iterator().next(), this.downSince, Set.of());
		}
		return (this.partial != null) ? new Outage(this.partial.cause(), this.downSince, this.partial.parts()) : null;
	}

	enum Caller {

		CLAIM("claiming tasks"), BEGIN("beginning tasks"), RENEW("renewing leases"), SETTLE("settling tasks");

		private final String action;

		Caller(String action) {
			this.action = action;
		}

	}

}
