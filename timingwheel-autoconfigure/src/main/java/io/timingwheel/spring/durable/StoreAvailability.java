package io.timingwheel.spring.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Whether the store can be reached, as those who talk to it find: says once that it is
 * gone, and once that it is back. Thread-safe.
 */
final class StoreAvailability {

	private static final Log logger = LogFactory.getLog(StoreAvailability.class);

	private final Map<Caller, Throwable> failing = new EnumMap<>(Caller.class);

	private volatile @Nullable Instant downSince;

	synchronized void failed(Caller caller, Throwable error) {
		this.failing.put(caller, error);
		if (this.downSince == null) {
			this.downSince = Instant.now();
			logger.warn("The store of durable tasks cannot be reached (%s): trying again until it is back"
				.formatted(caller.action), error);
		}
		else if (logger.isDebugEnabled()) {
			logger.debug("Still failing: " + caller.action, error);
		}
	}

	void succeeded(Caller caller) {
		if (this.downSince != null) {
			settle(caller);
		}
	}

	/**
	 * A caller has nothing more to say: that it failed tells nothing of the store. Others
	 * find out when it is back.
	 */
	void idle(Caller caller) {
		if (this.downSince != null) {
			forget(caller);
		}
	}

	private synchronized void forget(Caller caller) {
		this.failing.remove(caller);
	}

	private synchronized void settle(Caller caller) {
		Instant since = this.downSince;
		this.failing.remove(caller);
		if (this.failing.isEmpty() && since != null) {
			this.downSince = null;
			logger
				.info("The store of durable tasks is back after %s".formatted(Duration.between(since, Instant.now())));
		}
	}

	/**
	 * The latest failure.
	 * @return what a caller meets now, {@code null} if all is well
	 */
	synchronized @Nullable Throwable error() {
		return this.failing.isEmpty() ? null : this.failing.values().iterator().next();
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
