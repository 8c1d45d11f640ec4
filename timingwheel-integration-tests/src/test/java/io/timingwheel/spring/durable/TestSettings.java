package io.timingwheel.spring.durable;

import java.time.Duration;

import io.timingwheel.spring.durable.node.NodeSettings;
import io.timingwheel.spring.task.internal.Backoff;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a node in a test. A test changes those that it needs.
 */
public final class TestSettings {

	private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(50), 2, Duration.ofSeconds(1), 0);

	private static final int BATCH_SIZE = 100;

	private String nodeId = "node";

	/** A node that stalls for some time does not lose this lease. */
	private Duration lease = Duration.ofMinutes(1);

	private Duration lookAhead = Duration.ofSeconds(2);

	private Duration pollInterval = Duration.ofMillis(200);

	private int maxInFlight = 1000;

	private int maxAttempts = 3;

	private int maxLostDeliveries = 2;

	private Backoff backoff = BACKOFF;

	private long maxPayloadBytes = 64 * 1024;

	private @Nullable Duration deadRetention;

	TestSettings nodeId(String nodeId) {
		this.nodeId = nodeId;
		return this;
	}

	public TestSettings lease(Duration lease) {
		this.lease = lease;
		return this;
	}

	public TestSettings lookAhead(Duration lookAhead) {
		this.lookAhead = lookAhead;
		return this;
	}

	TestSettings pollInterval(Duration pollInterval) {
		this.pollInterval = pollInterval;
		return this;
	}

	public TestSettings maxInFlight(int maxInFlight) {
		this.maxInFlight = maxInFlight;
		return this;
	}

	TestSettings maxAttempts(int maxAttempts) {
		this.maxAttempts = maxAttempts;
		return this;
	}

	TestSettings maxLostDeliveries(int maxLostDeliveries) {
		this.maxLostDeliveries = maxLostDeliveries;
		return this;
	}

	TestSettings backoff(Backoff backoff) {
		this.backoff = backoff;
		return this;
	}

	TestSettings maxPayloadBytes(long maxPayloadBytes) {
		this.maxPayloadBytes = maxPayloadBytes;
		return this;
	}

	TestSettings deadRetention(Duration deadRetention) {
		this.deadRetention = deadRetention;
		return this;
	}

	NodeSettings build() {
		return new NodeSettings(this.nodeId, this.lease, this.lookAhead, this.pollInterval, BATCH_SIZE,
				this.maxInFlight, this.maxAttempts, this.maxLostDeliveries, this.backoff, this.maxPayloadBytes,
				this.deadRetention);
	}

}
