package io.timingwheel.spring.faults;

import java.util.concurrent.CountDownLatch;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTaskContext;

/** The durable methods of the nodes. Each run is recorded at its start and at its end. */
class Worker {

	static final String NAME = "work";

	/** With {@link #NAME}, a name on each primary of a Cluster. */
	static final String SECOND = "other-work";

	static final String THIRD = "late-work";

	/** As the duration of a task: the task ends the JVM. */
	static final long HALT = -1;

	private final Executions executions;

	private volatile CountDownLatch gate = new CountDownLatch(0);

	Worker(Executions executions) {
		this.executions = executions;
	}

	/** Sleeps in the first run of a task. Later runs return at once. */
	@Delayed(delay = "0s", name = NAME, aliases = { SECOND, THIRD }, durable = true)
	void work(long number, long millis) throws InterruptedException {
		long execution = this.executions.begin(number);
		if (millis == HALT) {
			Runtime.getRuntime().halt(1);
		}
		this.gate.await();
		if (DelayedTaskContext.current().orElseThrow().deliveries() == 1) {
			Thread.sleep(millis);
		}
		this.executions.end(execution);
	}

	void hold() {
		this.gate = new CountDownLatch(1);
	}

	void letGo() {
		this.gate.countDown();
	}

}
