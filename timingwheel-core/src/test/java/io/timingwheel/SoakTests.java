package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Eight threads schedule, move and cancel timers on one wheel after the other, on the
 * JVM's clock, until the wheel is stopped. The executor sometimes refuses, and some tasks
 * throw. A build runs this for two seconds. For longer:
 *
 * <pre>
 * mvn verify -pl timingwheel-core -Dtest=SoakTests -Dtimingwheel.soak=10m
 * </pre>
 */
@ExtendWith(WheelLog.class)
class SoakTests {

	private static final Duration DURATION = Duration.parse("PT" + System.getProperty("timingwheel.soak", "2s"));

	private static final int THREADS = 8;

	/** How many timers a thread works on. */
	private static final int TIMERS = 1_000;

	private static final RuntimeException ON_PURPOSE = new IllegalStateException("on purpose");

	private final ExecutorService pool = Executors.newFixedThreadPool(2);

	private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

	/** Timers that any thread may cancel. */
	private final AtomicReferenceArray<Subject> shared = new AtomicReferenceArray<>(64);

	private final AtomicLong accepted = new AtomicLong();

	private final AtomicLong ended = new AtomicLong();

	private final Queue<String> failures = new ConcurrentLinkedQueue<>();

	@AfterEach
	void shutDown() {
		this.threads.shutdownNow();
		this.pool.shutdownNow();
	}

	@Test
	void eachTimerEndsInOneWayAndNeverEarly() throws Exception {
		long end = System.nanoTime() + DURATION.toNanos();
		while (System.nanoTime() - end < 0) {
			soak(new Random());
		}
	}

	private void soak(Random random) throws Exception {
		long before = this.accepted.get();
		try (TimingWheel wheel = TimingWheel.builder(this::execute)
			.tick(Duration.ofNanos(1L << random.nextInt(10, 22)))
			.wheelSize(1 << random.nextInt(1, 10))
			.shards(1 << random.nextInt(4))
			.onError((task, error) -> check(error == ON_PURPOSE, "A task has failed: " + error))
			.build()) {
			List<Future<?>> users = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				users.add(this.threads.submit(() -> use(wheel)));
			}
			TimeUnit.MILLISECONDS.sleep(random.nextInt(500, 1_500));
			wheel.stop().forEach((task) -> ((Subject) task).end());
			for (Future<?> user : users) {
				user.get(60, TimeUnit.SECONDS);
			}
			await().untilAsserted(() -> assertThat(this.ended).as("of %s", wheel).hasValue(this.accepted.get()));
			assertThat(this.accepted.get()).isGreaterThan(before);
			assertThat(wheel.pending()).isZero();
			assertThat(this.failures).as("of %s", wheel).isEmpty();
		}
	}

	private void execute(Runnable task) {
		if (ThreadLocalRandom.current().nextInt(100) == 0) {
			throw new RejectedExecutionException("on purpose");
		}
		this.pool.execute(task);
	}

	private void check(boolean condition, String otherwise) {
		if (!condition && this.failures.size() < 10) {
			this.failures.add(otherwise);
		}
	}

	/** The work of one thread. */
	private void use(TimingWheel wheel) {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		Subject[] subjects = new Subject[TIMERS];
		try {
			while (true) {
				long delay = (random.nextInt(8) == 0) ? random.nextLong(1L << 40) : random.nextLong(20_000_000);
				int index = random.nextInt(TIMERS);
				Subject subject = subjects[index];
				int dice = random.nextInt(8);
				if (subject == null || !subject.handle.isPending()) {
					subjects[index] = random.nextBoolean() ? new Subject() : new DirectSubject();
					subjects[index].schedule(wheel, delay);
				}
				else if (dice < 4) {
					subject.move(delay);
				}
				else if (dice < 6) {
					subject.cancel();
				}
				else {
					Subject other = this.shared.getAndSet(random.nextInt(this.shared.length()), subject);
					if (other != null) {
						other.cancel();
					}
				}
			}
		}
		catch (RejectedExecutionException ex) {
			// The wheel is stopped.
		}
	}

	/** A timer and its deadline. Only the thread that scheduled it moves it. */
	private class Subject implements Runnable {

		private final AtomicBoolean over = new AtomicBoolean();

		private TimerHandle handle;

		/** A lower bound of the deadline, by the JVM's clock. */
		private volatile long deadline;

		void schedule(TimingWheel wheel, long delay) {
			this.deadline = System.nanoTime() + delay;
			SoakTests.this.accepted.incrementAndGet();
			try {
				this.handle = wheel.schedule(this, delay, TimeUnit.NANOSECONDS);
			}
			catch (RejectedExecutionException ex) {
				SoakTests.this.accepted.decrementAndGet();
				throw ex;
			}
		}

		/**
		 * Until it is known whether the timer is moved, it must not run before the
		 * earlier of both deadlines.
		 */
		void move(long delay) {
			long after = System.nanoTime() + delay;
			this.deadline = Math.min(this.deadline, after);
			if (this.handle.reschedule(delay, TimeUnit.NANOSECONDS)) {
				this.deadline = after;
			}
		}

		void cancel() {
			if (this.handle.cancel()) {
				end();
				check(this.handle.isCancelled() && !this.handle.isPending() && !this.handle.cancel()
						&& !this.handle.reschedule(0, TimeUnit.SECONDS), "A cancelled timer is alive");
			}
		}

		@Override
		public void run() {
			long early = this.deadline - System.nanoTime();
			check(early <= 0, "A timer is early by these nanoseconds: " + early);
			end();
			if (ThreadLocalRandom.current().nextInt(64) == 0) {
				throw ON_PURPOSE;
			}
		}

		void end() {
			check(!this.over.getAndSet(true), "A timer has ended twice");
			SoakTests.this.ended.incrementAndGet();
		}

	}

	/** Runs on the driver, so that no wait for a thread hides that it is early. */
	private final class DirectSubject extends Subject implements DirectTask {

	}

}
