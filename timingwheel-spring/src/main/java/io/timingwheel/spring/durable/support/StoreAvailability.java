package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import io.timingwheel.spring.durable.PartialOutage;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Whether the store can be reached, as those who talk to it find: says once that it, or a
 * part of it, is gone, and once that all is back. Thread-safe.
 */
final class StoreAvailability {

	private static final Log logger = LogFactory.getLog(StoreAvailability.class);

	private final Supplier<@Nullable PartialOutage> partialOutage;

	private final Map<Caller, Throwable> failing = new EnumMap<>(Caller.class);

	/** What was warned of since the store was last all there. */
	private final Set<String> missed = new HashSet<>();

	private boolean allMissed;

	private @Nullable PartialOutage partial;

	private volatile @Nullable Instant downSince;

	/**
	 * Creates one that believes all is well.
	 * @param partialOutage tells what part of the store cannot be reached, and is asked
	 * whenever another part has answered
	 */
	StoreAvailability(Supplier<@Nullable PartialOutage> partialOutage) {
		this.partialOutage = partialOutage;
	}

	synchronized void failed(Caller caller, Throwable error) {
		this.failing.put(caller, error);
		begin();
		if (!this.allMissed) {
			this.allMissed = true;
			logger.warn("The store of durable tasks cannot be reached (%s): trying again until it is back"
				.formatted(caller.action), error);
		}
		else if (logger.isDebugEnabled()) {
			logger.debug("Still failing: " + caller.action, error);
		}
	}

	void succeeded(Caller caller) {
		if (this.downSince != null || this.partialOutage.get() != null) {
			settle(caller);
		}
	}

	/**
	 * A caller has nothing more to say: that it failed, or what it missed, tells nothing
	 * of the store. Others find out when it is back.
	 */
	void idle(Caller caller) {
		if (this.downSince != null) {
			forget(caller);
		}
	}

	private synchronized void forget(Caller caller) {
		this.failing.remove(caller);
		if (caller == Caller.CLAIM) {
			// Only claims go on asking all parts.
			this.partial = null;
		}
	}

	private synchronized void settle(Caller caller) {
		this.failing.remove(caller);
		PartialOutage partial = this.partialOutage.get();
		this.partial = partial;
		if (partial != null) {
			begin();
			if (this.missed.addAll(partial.parts())) {
				logger.warn("A part of the store of durable tasks does not answer (%s): its tasks wait until it is back"
					.formatted(String.join(", ", partial.parts())), partial.cause());
			}
		}
		else if (this.failing.isEmpty()) {
			end();
		}
	}

	private void begin() {
		if (this.downSince == null) {
			this.downSince = Instant.now();
		}
	}

	private void end() {
		Instant since = this.downSince;
		if (since != null) {
			this.downSince = null;
			this.allMissed = false;
			this.missed.clear();
			logger
				.info("The store of durable tasks is back after %s".formatted(Duration.between(since, Instant.now())));
		}
	}

	/**
	 * The latest failure.
	 * @return what a caller meets now, {@code null} if all is well
	 */
	synchronized @Nullable Throwable error() {
		if (!this.failing.isEmpty()) {
			return this.failing.values().iterator().next();
		}
		return (this.partial != null) ? this.partial.cause() : null;
	}

	/**
	 * What part of the store does not answer, empty if all or nothing of it does.
	 */
	synchronized Set<String> missingParts() {
		return (this.partial != null && this.failing.isEmpty()) ? this.partial.parts() : Set.of();
	}

	@Nullable Instant downSince() {
		return this.downSince;
	}

	/**
	 * Those who talk to the store on threads of their own.
	 */
	enum Caller {

		CLAIM("claiming tasks"), BEGIN("beginning tasks"), RENEW("renewing leases"), SETTLE("settling tasks");

		private final String action;

		Caller(String action) {
			this.action = action;
		}

	}

}
