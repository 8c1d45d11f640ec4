package io.timingwheel.sample.drivers;

import java.time.Duration;
import java.time.Instant;

/**
 * A driver as of the last heartbeat. Immutable: a heartbeat makes a new one.
 *
 * @param id the id
 * @param status whether something was heard of the driver lately
 * @param heartbeats how many heartbeats have come
 * @param lastHeartbeat when the last one came
 * @param offlineAt when the driver goes, or went, offline without another one
 */
record Driver(String id, Status status, long heartbeats, Instant lastHeartbeat, Instant offlineAt) {

	enum Status {

		ONLINE, OFFLINE

	}

	static Driver online(String id, long heartbeats, Duration silence) {
		Instant now = Instant.now();
		return new Driver(id, Status.ONLINE, heartbeats, now, now.plus(silence));
	}

	/**
	 * Goes offline, unless another heartbeat has come since.
	 * @param heartbeat the heartbeat after which nothing was heard
	 * @return the driver, offline or as it was
	 */
	Driver silentSince(long heartbeat) {
		return (this.heartbeats == heartbeat)
				? new Driver(this.id, Status.OFFLINE, this.heartbeats, this.lastHeartbeat, this.offlineAt) : this;
	}

}
