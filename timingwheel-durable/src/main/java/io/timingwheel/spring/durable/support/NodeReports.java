package io.timingwheel.spring.durable.support;

import java.time.Duration;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.NodeState;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Tells the store what this node holds, so that operators see all nodes. Nothing depends
 * on these reports: if a report fails, the next one follows at the usual time. With
 * virtual time there are none. Only the thread of the poller reports.
 */
final class NodeReports {

	private static final Log logger = LogFactory.getLog(NodeReports.class);

	/** The time between two reports, unless the node is paused or resumed. */
	private static final Duration INTERVAL = Duration.ofSeconds(5);

	private final NodeTurns turns;

	private final DelayedTaskStore store;

	private final String nodeId;

	private final InFlight inFlight;

	private boolean reported;

	private boolean claiming;

	private long reportedAt;

	NodeReports(NodeTurns turns, DelayedTaskStore store, String nodeId, InFlight inFlight) {
		this.turns = turns;
		this.store = store;
		this.nodeId = nodeId;
		this.inFlight = inFlight;
	}

	/**
	 * The longest time between two reports of a node with this poll interval, since it
	 * reports when it polls.
	 */
	static Duration interval(Duration pollInterval) {
		return INTERVAL.plus(pollInterval);
	}

	/**
	 * Reports, unless the last report is young and still true.
	 * @param claiming whether this node claims tasks
	 */
	void report(boolean claiming) {
		boolean isYoung = this.reported && claiming == this.claiming
				&& this.turns.nanoTime() - this.reportedAt < INTERVAL.toNanos();
		if (isYoung || this.turns.isVirtual()) {
			return;
		}
		this.reported = true;
		this.claiming = claiming;
		this.reportedAt = this.turns.nanoTime();
		try {
			this.store.report(new NodeState(this.nodeId, claiming, this.inFlight.size()));
		}
		catch (RuntimeException ex) {
			logger.debug("The state of this node could not be reported; the next report follows", ex);
		}
	}

	/**
	 * Takes the report back, after the poller has ended.
	 */
	void end() {
		try {
			if (this.reported) {
				this.store.forget(this.nodeId);
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The report of this node could not be deleted; the store forgets it in its time", ex);
		}
	}

}
