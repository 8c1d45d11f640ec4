package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.awaitility.Awaitility.await;

/**
 * Threads that use one wheel after the other at random, on the JVM's clock. A build runs
 * this for two seconds, the profile {@code faults} for half a minute. For longer:
 *
 * <pre>
 * mvn verify -pl timingwheel-core -Dtest=SoakTests -Dtimingwheel.soak=10m
 * </pre>
 */
@ExtendWith(WheelLog.class)
class SoakTests {

	private static final Duration DURATION = Duration.parse("PT" + System.getProperty("timingwheel.soak", "2s"));

	@Test
	void eachTimerEndsInOneWayNeverEarlyAndInOrder() {
		soak(DURATION);
	}

	@Test
	@Tag("faults")
	void eachTimerEndsInOneWayNeverEarlyAndInOrderForHalfAMinute() {
		soak(Duration.ofSeconds(30));
	}

	private static void soak(Duration duration) {
		long seed = Long.getLong("timingwheel.seed", System.nanoTime());
		Random random = new Random(seed);
		long end = System.nanoTime() + duration.toNanos();
		while (System.nanoTime() - end < 0) {
			Run run = new Run(random.nextLong());
			assertThatNoException().as("%s, which -Dtimingwheel.seed=%s replays", run.wheel, seed)
				.isThrownBy(() -> run.run(Duration.ofMillis(500 + random.nextInt(1_000))));
			assertThat(run.accepted).hasPositiveValue();
		}
	}

	/**
	 * Eight threads schedule, move and cancel their own timers, and cancel those of each
	 * other, until the wheel is stopped. Some tasks run on the driver, others on an
	 * executor that sometimes refuses. Some tasks throw, and some schedule others.
	 */
	private static final class Run {

		private static final int THREADS = 8;

		/** How many timers a thread works on. */
		private static final int TIMERS = 1_000;

		private final SplittableRandom random;

		private final long tick;

		private final long limit;

		private final TimingWheel wheel;

		private final ExecutorService pool = Executors.newFixedThreadPool(2);

		private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

		private final AtomicReferenceArray<Subject> shared = new AtomicReferenceArray<>(64);

		private final AtomicLong accepted = new AtomicLong();

		private final AtomicLong ended = new AtomicLong();

		private final Queue<String> failures = new ConcurrentLinkedQueue<>();

		Run(long seed) {
			this.random = new SplittableRandom(seed);
			this.tick = 1L << this.random.nextInt(10, 22);
			this.limit = this.random.nextBoolean() ? Long.MAX_VALUE : this.random.nextLong(1, THREADS * TIMERS);
			this.wheel = TimingWheel.builder(this::execute)
				.tick(Duration.ofNanos(this.tick))
				.wheelSize(1 << this.random.nextInt(1, 10))
				.shards(1 << this.random.nextInt(4))
				.maxPending(this.limit)
				.onError((task, error) -> check(error instanceof OnPurpose, "A task has failed", error))
				.build();
		}

		private void execute(Runnable task) {
			if (ThreadLocalRandom.current().nextInt(100) == 0) {
				throw new RejectedExecutionException("on purpose");
			}
			this.pool.execute(task);
		}

		private void check(boolean condition, String otherwise, Object detail) {
			if (!condition && this.failures.size() < 10) {
				this.failures.add(otherwise + ": " + detail);
			}
		}

		void run(Duration duration) throws Exception {
			try {
				List<Future<?>> users = new ArrayList<>();
				for (int i = 0; i < THREADS; i++) {
					SplittableRandom random = this.random.split();
					users.add(this.threads.submit(() -> use(random)));
				}
				long end = System.nanoTime() + duration.toNanos();
				while (System.nanoTime() - end < 0) {
					assertThat(this.wheel.pending()).isBetween(0L, this.limit);
					Thread.sleep(1);
				}
				for (Runnable task : this.wheel.stop()) {
					if (task instanceof Subject subject) {
						subject.end("returned");
					}
				}
				for (Future<?> user : users) {
					user.get(60, TimeUnit.SECONDS);
				}
				await()
					.untilAsserted(() -> assertThat(this.ended).as("timers that ended").hasValue(this.accepted.get()));
				assertThat(this.wheel.pending()).isZero();
				assertThat(this.wheel.stop()).isEmpty();
				assertThat(this.failures).isEmpty();
			}
			finally {
				this.wheel.close();
				this.threads.shutdownNow();
				this.pool.shutdownNow();
			}
		}

		/**
		 * The work of one thread.
		 */
		private void use(SplittableRandom random) {
			Subject[] subjects = new Subject[TIMERS];
			DirectSubject last = null;
			while (this.wheel.snapshot().state() == WheelSnapshot.State.RUNNING) {
				for (int i = 0; i < 100; i++) {
					int index = random.nextInt(TIMERS);
					Subject subject = subjects[index];
					if (subject == null || !subject.handle.isPending()) {
						Subject next = random.nextBoolean() ? new Subject() : new DirectSubject(null);
						subjects[index] = next.schedule(chooseDelay(random)) ? next : null;
						continue;
					}
					switch (random.nextInt(16)) {
						case 0, 1, 2 -> subject.cancel();
						case 3, 4, 5, 6, 7 -> subject.move(chooseDelay(random));
						case 8 -> this.shared.set(random.nextInt(this.shared.length()), subject);
						case 9 -> {
							Subject other = this.shared.get(random.nextInt(this.shared.length()));
							if (other != null) {
								other.cancel();
							}
						}
						default -> {
							// Their deadlines never decrease, so they run in this order.
							DirectSubject next = new DirectSubject(last);
							last = next.schedule(3_000_000) ? next : last;
						}
					}
				}
			}
		}

		private long chooseDelay(SplittableRandom random) {
			return switch (random.nextInt(8)) {
				case 0 -> 0;
				case 1 -> random.nextLong(4 * this.tick);
				case 2 -> random.nextLong(1L << 40);
				case 3 -> Long.MAX_VALUE;
				default -> random.nextLong(20_000_000);
			};
		}

		/**
		 * A timer and its deadline. Only the thread that scheduled it moves it.
		 */
		private class Subject implements Runnable {

			private final AtomicInteger ends = new AtomicInteger();

			/** Whether the timer is scheduled and moved by deadlines, or by delays. */
			private final boolean byDeadline = ThreadLocalRandom.current().nextBoolean();

			volatile TimerHandle handle;

			/** A lower bound of the deadline, by the JVM's clock. */
			private volatile long deadline;

			boolean schedule(long delay) {
				this.deadline = System.nanoTime() + delay;
				try {
					Run.this.accepted.incrementAndGet();
					this.handle = this.byDeadline ? Run.this.wheel.scheduleAt(this, this.deadline)
							: Run.this.wheel.schedule(this, delay, TimeUnit.NANOSECONDS);
					return true;
				}
				catch (RejectedExecutionException ex) {
					Run.this.accepted.decrementAndGet();
					return false;
				}
			}

			void move(long delay) {
				long before = this.deadline;
				long now = System.nanoTime();
				long after = now + delay;
				// The task must not run before the earlier of both deadlines. A
				// comparison of the deadlines themselves could overflow.
				this.deadline = (delay < before - now) ? after : before;
				if (this.byDeadline ? this.handle.rescheduleAt(after)
						: this.handle.reschedule(delay, TimeUnit.NANOSECONDS)) {
					// A task that runs at this moment has seen the earlier deadline.
					this.deadline = after;
				}
			}

			void cancel() {
				if (this.handle.cancel()) {
					end("cancelled");
					check(this.handle.isCancelled() && !this.handle.isPending() && !this.handle.cancel()
							&& !this.handle.reschedule(0, TimeUnit.SECONDS), "A cancelled timer is alive", this.handle);
				}
			}

			@Override
			public void run() {
				long early = this.deadline - System.nanoTime();
				// A timer whose deadline exceeds the range of the clock must not run.
				check(early <= 0 && early > Long.MIN_VALUE / 2, "A timer is early by these nanoseconds", early);
				end("run");
				int dice = ThreadLocalRandom.current().nextInt(64);
				if (dice == 0) {
					throw new OnPurpose();
				}
				if (dice < 8) {
					new Subject().schedule(dice * 1_000L);
				}
			}

			final void end(String how) {
				check(this.ends.incrementAndGet() == 1, "A timer has ended twice, the second time", how);
				Run.this.ended.incrementAndGet();
			}

		}

		/**
		 * A timer whose task runs on the driver, perhaps after another one.
		 */
		private final class DirectSubject extends Subject implements DirectTask {

			private volatile DirectSubject before;

			DirectSubject(DirectSubject before) {
				this.before = before;
			}

			@Override
			public void run() {
				DirectSubject before = this.before;
				check(before == null || !before.handle.isPending(), "A timer has overtaken", before);
				this.before = null;
				super.run();
			}

		}

	}

	private static final class OnPurpose extends RuntimeException {

		OnPurpose() {
			super(null, null, false, false);
		}

	}

}
