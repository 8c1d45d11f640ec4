package io.timingwheel.benchmarks.durable;

import java.io.IOException;
import java.time.Duration;

/** Where durable tasks are kept. */
enum Store {

	/** Waits for the disk, as in production. */
	POSTGRESQL(200, 2_000) {

		@Override
		Server start(Duration commitLatency) throws IOException {
			return new PostgresServer(commitLatency);
		}

	},

	/** With an append-only file that is written to disk every second. */
	REDIS(1_000, 5_000) {

		@Override
		Server start(Duration commitLatency) throws IOException {
			return new RedisInstance();
		}

	};

	private final int rate;

	private final int highRate;

	Store(int rate, int highRate) {
		this.rate = rate;
		this.highRate = highRate;
	}

	/**
	 * Starts a server.
	 * @param commitLatency what each commit that waits for the disk takes in addition;
	 * only PostgreSQL has such commits
	 */
	abstract Server start(Duration commitLatency) throws IOException;

	/** How many tasks a second make a steady load. */
	int rate() {
		return this.rate;
	}

	/** How many tasks a second make a steady load that two nodes share. */
	int highRate() {
		return this.highRate;
	}

}
