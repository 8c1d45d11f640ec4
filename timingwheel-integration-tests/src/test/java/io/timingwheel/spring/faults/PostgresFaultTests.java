package io.timingwheel.spring.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

import io.timingwheel.spring.Postgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A crash of the database.
 */
@ParameterizedClass
@EnumSource(names = "POSTGRESQL")
class PostgresFaultTests extends FaultTestSupport {

	/**
	 * Cancels tasks at random before, during and after the crash. A cancel that fails may
	 * have taken effect or not.
	 */
	@Test
	void aCrashOfTheServerLosesNoTaskAndNoCancelledTaskRuns() throws Exception {
		Postgres server = (Postgres) this.server.process();
		int tasks = 6000;
		startNodes("a", "b");
		this.client.enqueue(0, tasks, Instant.now().plusSeconds(2), Duration.ofSeconds(12), 5);
		Set<Long> cancelled = ConcurrentHashMap.newKeySet();
		Set<Long> uncertain = ConcurrentHashMap.newKeySet();
		AtomicBoolean end = new AtomicBoolean();
		Thread canceller = new Thread(() -> {
			while (!end.get()) {
				long number = ThreadLocalRandom.current().nextLong(tasks);
				try {
					if (this.client.template().cancel(key(number))) {
						cancelled.add(number);
					}
				}
				catch (RuntimeException ex) {
					uncertain.add(number);
				}
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
			}
		});
		canceller.start();
		try {
			await(() -> this.executions.started() > tasks / 3);
			server.kill();
			server.restart();
			await().ignoreExceptions().until(this.client::isEmpty);
		}
		finally {
			end.set(true);
			canceller.join();
		}
		Set<Long> run = runs().keySet();
		assertThat(cancelled).isNotEmpty().doesNotContainAnyElementsOf(run);
		Set<Long> lost = LongStream.range(0, tasks).boxed().collect(Collectors.toSet());
		lost.removeAll(run);
		lost.removeAll(cancelled);
		lost.removeAll(uncertain);
		assertThat(lost).isEmpty();
		assertNeverEarly();
	}

}
