package io.timingwheel.spring.aop.timeout;

import java.util.List;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Tells the listeners; what they throw is logged, as the caller has an exception to get.
 */
final class TimeoutEvents {

	private static final Log logger = LogFactory.getLog(TimeoutListener.class);

	private final Supplier<List<TimeoutListener>> listeners;

	TimeoutEvents(Supplier<List<TimeoutListener>> listeners) {
		this.listeners = listeners;
	}

	void timedOut(TimeLimit limit) {
		try {
			for (TimeoutListener listener : this.listeners.get()) {
				listener.timedOut(limit.method());
			}
		}
		catch (RuntimeException ex) {
			logger.warn("Listener failed on the timeout of " + limit.method(), ex);
		}
	}

}
