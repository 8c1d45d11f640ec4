package io.timingwheel.spring.faults;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTaskContext;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A durable method whose body commits with its task. The effect of the body is a row in
 * the database of the store.
 */
@ConditionalOnProperty(name = "timingwheel.store.type", havingValue = "jdbc")
class TransactionalWorker {

	static final String NAME = "transactional";

	private static final long MAX_COMMIT_NANOS = 3_000_000;

	private final Executions executions;

	private final JdbcTemplate jdbc;

	TransactionalWorker(Executions executions, JdbcTemplate jdbc) {
		this.executions = executions;
		this.jdbc = jdbc;
	}

	/** Inserts the effect. In the first run of a task, halts the JVM at a step. */
	@Delayed(delay = "0s", name = NAME, durable = true, transactional = true)
	void work(long number, Step step) {
		long execution = this.executions.begin(number);
		boolean first = DelayedTaskContext.current().orElseThrow().deliveries() == 1;
		Step halt = first ? step : Step.NONE;
		haltAt(Step.BEGUN, halt);
		this.jdbc.update("insert into effect (number) values (?)", number);
		haltAt(Step.CHANGED, halt);
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void beforeCompletion() {
				haltAt(Step.ACKNOWLEDGED, halt);
				if (halt == Step.COMMITTING) {
					new Thread(() -> {
						LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_COMMIT_NANOS));
						haltAt(halt, halt);
					}).start();
				}
			}

			@Override
			public void afterCommit() {
				haltAt(Step.COMMITTED, halt);
			}

		});
		this.executions.end(execution);
	}

	private static void haltAt(Step here, Step halt) {
		if (here == halt) {
			Runtime.getRuntime().halt(1);
		}
	}

	enum Step {

		/** Nowhere. */
		NONE,

		/** Before the body has changed anything. */
		BEGUN,

		/** After the body has made its change. */
		CHANGED,

		/** After the transaction has deleted the task, before its commit. */
		ACKNOWLEDGED,

		/** At about the time of the commit. */
		COMMITTING,

		/** After the commit, before the node knows it. */
		COMMITTED

	}

}
