package io.timingwheel.benchmarks.durable;

import java.io.IOException;

/**
 * Where durable tasks are kept.
 */
enum Store {

	/** Waits for the disk, as in production. */
	POSTGRESQL(50_000, 200) {

		@Override
		Server start() throws IOException {
			return new PostgresServer();
		}

	},

	/** With an append-only file that is written to disk every second. */
	REDIS(100_000, 1_000) {

		@Override
		Server start() throws IOException {
			return new RedisInstance();
		}

	};

	private final int backlog;

	private final int rate;

	Store(int backlog, int rate) {
		this.backlog = backlog;
		this.rate = rate;
	}

	abstract Server start() throws IOException;

	/**
	 * How many overdue tasks the nodes run.
	 */
	int backlog() {
		return this.backlog;
	}

	/**
	 * How many tasks a second make a steady load.
	 */
	int rate() {
		return this.rate;
	}

}
