package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Eight threads schedule, move, cancel and query their own timers, and cancel and query
 * those of each other, until the wheel is stopped. Some tasks run on the driver, others
 * on an executor that sometimes refuses. Some tasks throw, and some schedule others.
 */
final class SoakRun {

	private static final int THREADS = 8;

	/** How many timers a thread works on. */
	private static final int TIMERS = 1_000;

	private final SplittableRandom random;

	private final String description;

	private final long tick;

	private final long limit;

	private final TimingWheel wheel;

	private final ScheduledExecutorService service;

	private final ExecutorService pool = Executors.newFixedThreadPool(2);

	private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

	private final AtomicReferenceArray<Subject> shared = new AtomicReferenceArray<>(64);

	private final AtomicLong accepted = new AtomicLong();

	private final AtomicLong ended = new AtomicLong();

	private final Queue<String> failures = new ConcurrentLinkedQueue<>();

	/**
	 * The latest deadline of a timer that has run on the driver. Only the driver uses it.
	 */
	private long latestHandedOver = Long.MIN_VALUE;

	SoakRun(long seed) {
		this.random = new SplittableRandom(seed);
		this.tick = 1L << this.random.nextInt(10, 22);
		int wheelSize = 1 << this.random.nextInt(1, 10);
		int shards = 1 << this.random.nextInt(4);
		this.limit = this.random.nextBoolean() ? Long.MAX_VALUE : this.random.nextLong(1, THREADS * TIMERS);
		this.description = "tick %d ns, wheelSize %d, shards %d, maxPending %d".formatted(this.tick, wheelSize, shards,
				this.limit);
		this.wheel = TimingWheel.builder(this::execute)
			.tick(Duration.ofNanos(this.tick))
			.wheelSize(wheelSize)
			.shards(shards)
			.maxPending(this.limit)
			.onError((task, error) -> check(error instanceof OnPurpose, () -> "A task has failed: " + error))
			.build();
		this.service = this.wheel.asScheduledExecutorService();
	}

	private void execute(Runnable task) {
		if (ThreadLocalRandom.current().nextInt(100) == 0) {
			throw new RejectedExecutionException("on purpose");
		}
		this.pool.execute(task);
	}

	void run(Duration duration) throws Exception {
		try {
			List<Future<?>> users = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				User user = new User(this.random.split());
				users.add(this.threads.submit(user));
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
			await().untilAsserted(() -> assertThat(this.ended).as("timers that ended").hasValue(this.accepted.get()));
			assertThat(this.wheel.pending()).isZero();
			assertThat(this.wheel.stop()).isEmpty();
			this.service.shutdown();
			assertThat(this.service.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
			assertThat(this.failures).isEmpty();
		}
		finally {
			this.wheel.close();
			this.threads.shutdownNow();
			this.pool.shutdownNow();
		}
	}

	long timers() {
		return this.accepted.get();
	}

	private void check(boolean condition, Supplier<String> otherwise) {
		if (!condition && this.failures.size() < 10) {
			this.failures.add(otherwise.get());
		}
	}

	@Override
	public String toString() {
		return this.description;
	}

	/**
	 * The work of one thread.
	 */
	private final class User implements Runnable {

		private final SplittableRandom random;

		private final Subject[] subjects = new Subject[TIMERS];

		/** The last timer of this thread's lane. */
		private Lane lane = new Lane(0);

		User(SplittableRandom random) {
			this.random = random;
		}

		@Override
		public void run() {
			while (SoakRun.this.wheel.snapshot().state() == WheelSnapshot.State.RUNNING) {
				for (int i = 0; i < 100; i++) {
					step();
				}
			}
		}

		private void step() {
			int index = this.random.nextInt(TIMERS);
			Subject subject = this.subjects[index];
			if (subject == null || !subject.handle.isPending()) {
				this.subjects[index] = schedule(chooseDelay());
				return;
			}
			switch (this.random.nextInt(16)) {
				case 0, 1, 2 -> subject.cancel();
				case 3, 4, 5, 6, 7 -> subject.move(chooseDelay());
				case 8 -> SoakRun.this.shared.set(this.random.nextInt(SoakRun.this.shared.length()), subject);
				case 9, 10 -> meddle(SoakRun.this.shared.get(this.random.nextInt(SoakRun.this.shared.length())));
				case 11 -> subject.look();
				case 12 -> periodic();
				default -> this.lane = this.lane.next();
			}
		}

		private long chooseDelay() {
			return switch (this.random.nextInt(8)) {
				case 0 -> 0;
				case 1 -> this.random.nextLong(4 * SoakRun.this.tick);
				case 2 -> this.random.nextLong(1L << 40);
				case 3 -> Long.MAX_VALUE;
				default -> this.random.nextLong(20_000_000);
			};
		}

		private Subject schedule(long delay) {
			Subject subject = this.random.nextBoolean() ? new Subject() : new DirectSubject();
			return subject.schedule(delay) ? subject : null;
		}

		/**
		 * Cancels or queries a timer of another thread. Only the thread that knows the
		 * deadline moves a timer.
		 */
		private void meddle(Subject other) {
			if (other != null) {
				if (this.random.nextInt(4) == 0) {
					other.cancel();
				}
				else {
					other.look();
				}
			}
		}

		private void periodic() {
			AtomicInteger concurrent = new AtomicInteger();
			try {
				ScheduledFuture<?> future = SoakRun.this.service.scheduleAtFixedRate(() -> {
					check(concurrent.incrementAndGet() == 1, () -> "A periodic task overlaps itself");
					concurrent.decrementAndGet();
				}, this.random.nextLong(10_000), this.random.nextLong(1, 10_000), TimeUnit.NANOSECONDS);
				for (int spin = this.random.nextInt(200); spin > 0; spin--) {
					Thread.onSpinWait();
				}
				future.cancel(this.random.nextBoolean());
			}
			catch (RejectedExecutionException ex) {
				// The wheel is stopped, or the limit is reached.
			}
		}

	}

	/**
	 * A timer and the bounds of its deadline. Only the thread that scheduled it moves it.
	 */
	private class Subject implements Runnable {

		private final AtomicInteger ends = new AtomicInteger();

		/** Whether the timer is scheduled and moved by deadlines, or by delays. */
		private final boolean byDeadline = ThreadLocalRandom.current().nextBoolean();

		volatile TimerHandle handle;

		/** A lower bound of the deadline, by the JVM's clock. */
		volatile long deadline;

		/** An upper bound of the first deadline, 0 if it is not known. */
		volatile long latestDeadline;

		volatile boolean moved;

		boolean schedule(long delay) {
			this.deadline = System.nanoTime() + delay;
			try {
				SoakRun.this.accepted.incrementAndGet();
				this.handle = this.byDeadline ? SoakRun.this.wheel.scheduleAt(this, this.deadline)
						: SoakRun.this.wheel.schedule(this, delay, TimeUnit.NANOSECONDS);
				this.latestDeadline = (delay < (1L << 50)) ? System.nanoTime() + delay : 0;
				return true;
			}
			catch (RejectedExecutionException ex) {
				SoakRun.this.accepted.decrementAndGet();
				return false;
			}
		}

		void move(long delay) {
			long before = this.deadline;
			long now = System.nanoTime();
			long after = now + delay;
			this.moved = true;
			// The task must not run before the earlier of both deadlines. A comparison of
			// the deadlines themselves could overflow.
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
						&& !this.handle.reschedule(0, TimeUnit.SECONDS),
						() -> "A cancelled timer is still alive: " + this.handle);
			}
		}

		void look() {
			boolean pending = this.handle.isPending();
			check(this.handle.remaining(TimeUnit.NANOSECONDS) >= 0,
					() -> "The remaining time is negative: " + this.handle);
			check(pending || !this.handle.isPending() || !isDirect(), () -> "A timer is pending again: " + this.handle);
		}

		boolean isDirect() {
			return false;
		}

		@Override
		public void run() {
			long deadline = this.deadline;
			long early = deadline - System.nanoTime();
			// A timer whose deadline exceeds the range of the clock must not run at all.
			check(early <= 0 && early > Long.MIN_VALUE / 2, () -> "A timer is early by " + early + " ns");
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
			check(this.ends.incrementAndGet() == 1, () -> "A timer has ended twice, the second time " + how);
			SoakRun.this.ended.incrementAndGet();
		}

	}

	/**
	 * A timer whose task runs on the driver, and so in the order of ticks. A deadline and
	 * its due tick are less than one tick apart.
	 */
	private class DirectSubject extends Subject implements DirectTask {

		@Override
		boolean isDirect() {
			return true;
		}

		@Override
		public void run() {
			long latest = this.latestDeadline;
			if (!this.moved && latest != 0) {
				check(SoakRun.this.latestHandedOver == Long.MIN_VALUE
						|| SoakRun.this.latestHandedOver - latest < 2 * SoakRun.this.tick,
						() -> "A timer was overtaken by one that is " + (SoakRun.this.latestHandedOver - latest)
								+ " ns later");
				SoakRun.this.latestHandedOver = Math.max(SoakRun.this.latestHandedOver, this.deadline);
			}
			super.run();
		}

	}

	/**
	 * One of the timers that a thread schedules with the same delay. Their deadlines
	 * never decrease, so they run in the order in which they were scheduled.
	 */
	private final class Lane extends DirectSubject {

		private static final long DELAY = 3_000_000;

		private final int number;

		private volatile Lane previous;

		Lane(int number) {
			this.number = number;
		}

		Lane next() {
			Lane next = new Lane(this.number + 1);
			next.previous = this;
			return next.schedule(DELAY) ? next : this;
		}

		@Override
		public void run() {
			Lane previous = this.previous;
			check(previous == null || previous.number == 0 || !previous.handle.isPending(),
					() -> "Timer " + this.number + " of a lane has overtaken the one before");
			this.previous = null;
			super.run();
		}

	}

	private static final class OnPurpose extends RuntimeException {

		OnPurpose() {
			super(null, null, false, false);
		}

	}

}
