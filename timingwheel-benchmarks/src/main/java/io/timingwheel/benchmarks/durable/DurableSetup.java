package io.timingwheel.benchmarks.durable;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

import io.timingwheel.benchmarks.report.Effort;
import io.timingwheel.benchmarks.report.Step;

/**
 * What all measurements of a run have in common.
 *
 * @param store the kind of server
 * @param server gives the server once a measurement runs
 * @param effort how much time to spend
 * @param warmUp how many tasks each node runs to warm up, on average
 * @param commitLatency what each commit that waits for the disk takes in addition
 * @param pending how many other tasks are pending all the time
 */
record DurableSetup(Store store, Supplier<Server> server, Effort effort, int warmUp, Duration commitLatency,
		int pending) {

	/** The setup of a store without a server, to list its measurements. */
	static DurableSetup of(Store store) {
		return new DurableSetup(store, () -> {
			throw new IllegalStateException("There is no server");
		}, Effort.of(0, List.of()), 0, Duration.ZERO, 0);
	}

	Step step(int nodes, DurableStep.Work work) {
		return new DurableStep(this, nodes, work);
	}

	/** The name of the report. */
	String name() {
		return this.store.name().toLowerCase(Locale.ROOT)
				+ (hasLatency() ? "-commit-" + this.commitLatency.toNanos() / 1_000 + "us" : "")
				+ (hasPending() ? "-pending-" + this.pending : "");
	}

	/** The remarks of this run, which follow the text of each measurement. */
	String conditions() {
		return (hasLatency() ? " Each commit that waits for the disk takes %s ms more."
			.formatted(this.commitLatency.toNanos() / 1e6) : "") + (hasPending()
					? " %,d other tasks are pending, nine of ten with the same name as those that run. They are due in one to eight days."
						.formatted(this.pending)
					: "");
	}

	private boolean hasLatency() {
		return !this.commitLatency.isZero();
	}

	boolean hasPending() {
		return this.pending > 0;
	}

}
