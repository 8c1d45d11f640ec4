package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for executors that refuse expired tasks. In {@link WheelModelTests} some
 * executors do so, too. Each test has a timeout, because without a backoff
 * {@code advance} would never return.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RefusalTests {

	@RegisterExtension
	final WheelLog log = new WheelLog();

	private final ManualTimeSource clock = new ManualTimeSource();

	private final RecordingTask task = new RecordingTask(this.clock);

	/** The times of all refusals, in milliseconds. */
	private final List<Long> refusedAt = new ArrayList<>();

	private boolean refuse = true;

	private final TimingWheel wheel = wheel(this::refuseOrRun);

	/** Netty: a timer whose executor rejects it is logged and lost. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void refusedTimerIsPendingAgainAndFiresOnceTheExecutorAcceptsIt(boolean loggerFails) {
		this.log.failing = loggerFails;
		TimerHandle handle = schedule(5);
		advance(5);
		assertThat(this.log.records()).hasSize(1);
		assertThat(handle.isPending()).isTrue();
		WheelSnapshot snapshot = this.wheel.snapshot();
		assertThat(List.of(snapshot.pending(), snapshot.refused(), snapshot.fired())).containsExactly(1L, 1L, 0L);
		assertThat(snapshot.nextExpiry()).isPositive();
		this.refuse = false;
		advance(60_000);
		assertThat(this.task.count()).isOne();
		assertThat(handle.isPending()).isFalse();
		snapshot = this.wheel.snapshot();
		assertThat(List.of(snapshot.pending(), snapshot.fired(), snapshot.scheduled(), snapshot.rescheduled()))
			.containsExactly(0L, 1L, 1L, 0L);
	}

	@Test
	void refusedTimerIsTriedAgainWithABackoff() {
		schedule(5);
		advance(4_000);
		assertThat(this.refusedAt).containsExactly(5L, 10L, 20L, 40L, 80L, 160L, 320L, 640L, 1280L, 2280L, 3280L);
		advance(600_000);
		assertThat(this.refusedAt).hasSize(611);
		assertThat(this.wheel.snapshot().refused()).isEqualTo(611);
		assertThat(this.wheel.pending()).isOne();
		assertThat(this.log.records()).hasSizeBetween(1, 20)
			.allSatisfy((logged) -> assertThat(logged.getThrown()).hasMessage("on purpose"));
	}

	/**
	 * The executor accepts a task at a retry, and later one that falls due between two
	 * retries.
	 */
	@Test
	void backoffStartsAgainAtItsMinimumThoughATimerIsStillRefused() {
		RecordingTask never = new RecordingTask(this.clock);
		TimingWheel wheel = wheel((timer) -> {
			refuse(((Timer) timer).task() == never);
			if (this.refuse) {
				throw new RejectedExecutionException("on purpose");
			}
			timer.run();
		});
		wheel.schedule(never, 5, TimeUnit.MILLISECONDS);
		wheel.schedule(this.task, 200, TimeUnit.MILLISECONDS);
		advance(300);
		this.refuse = false;
		wheel.schedule(this.task, 300, TimeUnit.MILLISECONDS);
		advance(350);
		assertThat(this.task.count()).isEqualTo(2);
		assertThat(this.refusedAt).containsExactly(5L, 10L, 20L, 40L, 80L, 160L, 320L, 325L, 335L, 355L, 395L, 475L,
				605L, 610L, 620L, 640L);
	}

	@Test
	void timersThatAreRefusedAtOneTickAreTriedAgainTogetherAndInTheirOrder() {
		List<Integer> ran = new ArrayList<>();
		for (int i = 0; i < 3_000; i++) {
			int number = i;
			this.wheel.schedule(() -> ran.add(number), 5, TimeUnit.MILLISECONDS);
		}
		advance(5);
		this.refuse = false;
		advance(4);
		assertThat(ran).isEmpty();
		advance(1);
		assertThat(ran).hasSize(3_000).isSorted();
		assertThat(this.refusedAt).containsExactly(5L, 5L);
	}

	/**
	 * The wheel calls the executor. Or each third task does so itself, and each third one
	 * names its executor only when it is tried again.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void deadExecutorIsTriedRarelyHoweverManyTimersAreDue(boolean mixed) {
		Executor executor = this::refuseOrRun;
		for (int i = 0; i < 20_000; i++) {
			AtomicReference<Executor> named = new AtomicReference<>((mixed && i % 3 == 0) ? null : executor);
			this.wheel.schedule((mixed && i % 3 == 1) ? handingOver(() -> executor, (timer) -> {
				executor.execute(timer);
				return true;
			}) : routed(() -> named.getAndSet(executor)), i / 10, TimeUnit.MILLISECONDS);
		}
		advance(2_000);
		// Three refusals for each of the retries after 5, 10, 20 ms and so on.
		assertThat(this.refusedAt).hasSizeBetween(10, 30);
		assertThat(this.wheel.pending()).isEqualTo(20_000);
		this.refusedAt.clear();
		advance(60_000);
		assertThat(this.refusedAt).hasSizeBetween(60, 130);
		this.refuse = false;
		advance(1_000);
		assertThat(this.task.count()).isEqualTo(20_000);
	}

	/** The executor accepts 200 tasks a second, and many more are due. */
	@Test
	void executorThatAcceptsOneTaskInEachPauseThrowsThreeTimesPerPauseAndOncePerAcceptedTask() {
		AtomicLong free = new AtomicLong();
		TimingWheel wheel = wheel((timer) -> {
			long now = this.clock.nanoTime();
			refuse(now < free.get());
			free.set(now + Gate.MIN_PAUSE);
			timer.run();
		});
		for (int i = 0; i < 20_000; i++) {
			wheel.schedule(this.task, i % 5_000, TimeUnit.MILLISECONDS);
		}
		advance(10_000);
		int pauses = 2_000;
		assertThat(this.task.count()).isBetween(pauses / 2, pauses + 1);
		assertThat(this.refusedAt).hasSizeBetween(pauses + 1, 3 * pauses + this.task.count());
	}

	/**
	 * The crowd of one executor waits in front of the timer of another one and of a timer
	 * that is due.
	 */
	@Test
	void retryOfACrowdIsBoundedSoThatOtherTimersComeInBetween() {
		List<String> ran = new ArrayList<>();
		Executor crowded = this::refuseOrRun;
		Executor other = this::refuseOrRun;
		for (int i = 0; i < 3_000; i++) {
			this.wheel.schedule(routed(() -> crowded, () -> ran.add("crowd")), 5, TimeUnit.MILLISECONDS);
		}
		this.wheel.schedule(routed(() -> other, () -> ran.add("other")), 5, TimeUnit.MILLISECONDS);
		this.wheel.schedule(() -> ran.add("due"), 10, TimeUnit.MILLISECONDS);
		advance(5);
		this.refuse = false;
		advance(5);
		assertThat(ran).hasSize(3_002);
		assertThat(ran.indexOf("other")).isLessThanOrEqualTo(600);
		assertThat(ran.indexOf("due")).isLessThanOrEqualTo(600);
	}

	/**
	 * Within ten seconds, the wheel has found out that the executor accepts none of the
	 * ten timers.
	 */
	@Test
	void timersThatAreAlwaysRefusedStopNoOtherTimer() {
		Set<Runnable> never = Collections.newSetFromMap(new IdentityHashMap<>());
		TimingWheel wheel = wheel((timer) -> {
			refuse(never.contains(((Timer) timer).task()));
			timer.run();
		});
		for (int i = 0; i < 10; i++) {
			Runnable refused = new RecordingTask(this.clock);
			never.add(refused);
			wheel.schedule(refused, i, TimeUnit.MILLISECONDS);
		}
		advance(10_000);
		List<Long> expected = new ArrayList<>();
		for (int i = 1; i <= 20; i++) {
			wheel.schedule(this.task, i, TimeUnit.SECONDS);
			expected.add(TimeUnit.SECONDS.toNanos(10 + i));
		}
		advance(20_000);
		assertThat(this.task.times()).isEqualTo(expected);
		assertThat(wheel.pending()).isEqualTo(10);
	}

	@Test
	void executorThatRefusesEveryOtherCallStillRunsMostTimersInTime() {
		AtomicInteger calls = new AtomicInteger();
		TimingWheel wheel = wheel((timer) -> {
			refuse(calls.incrementAndGet() % 2 == 0);
			timer.run();
		});
		for (int i = 0; i < 1_000; i++) {
			wheel.schedule(this.task, i, TimeUnit.MILLISECONDS);
		}
		advance(1_000);
		assertThat(this.task.count()).isGreaterThanOrEqualTo(700);
		advance(1_000);
		assertThat(this.task.count()).isEqualTo(1_000);
	}

	@Test
	void taskThatSomebodyElseTakesDoesNotShowThatItsExecutorAccepts() {
		Executor executor = this::refuseOrRun;
		AtomicInteger taken = new AtomicInteger();
		for (int i = 0; i < 2_000; i++) {
			this.wheel.schedule(handingOver(() -> executor, (timer) -> {
				taken.incrementAndGet();
				return false;
			}), i, TimeUnit.MILLISECONDS);
			this.wheel.schedule(routed(() -> executor), i, TimeUnit.MILLISECONDS);
		}
		advance(2_000);
		assertThat(this.refusedAt).hasSizeBetween(10, 30);
		assertThat(this.wheel.snapshot().fired()).isEqualTo(taken.get());
		this.refuse = false;
		advance(1_000);
		assertThat(taken).hasValue(2_000);
		assertThat(this.task.count()).isEqualTo(2_000);
		assertThat(this.wheel.pending()).isZero();
	}

	/** The second task names another executor from its second hand-over on. */
	@Test
	void taskThatAnotherExecutorAcceptsDoesNotShowThatTheFirstOneDoes() {
		Executor refusing = this::refuseOrRun;
		List<Executor> executors = new ArrayList<>(List.of(refusing, Runnable::run));
		this.wheel.schedule(routed(() -> refusing), 5, TimeUnit.MILLISECONDS);
		this.wheel.schedule(routed(() -> executors.remove(0)), 5, TimeUnit.MILLISECONDS);
		advance(100);
		assertThat(this.task.count()).isOne();
		assertThat(this.refusedAt).containsExactly(5L, 5L, 10L, 20L, 40L, 80L);
	}

	/**
	 * The executor or the task's method {@code executor} throws at the first call.
	 */
	@ParameterizedTest
	@MethodSource("io.timingwheel.Throwables#ofEachKind")
	void exceptionBeforeTheTaskBeginsIsARefusal(Throwable thrown) {
		List<Throwable> left = new ArrayList<>(List.of(thrown, thrown));
		Executor throwing = (timer) -> {
			if (!left.isEmpty()) {
				throw Throwables.sneaky(left.remove(0));
			}
			timer.run();
		};
		TimingWheel wheel = wheel(throwing);
		wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS);
		wheel.schedule(routed(() -> {
			throwing.execute(() -> {
			});
			return Runnable::run;
		}), 5, TimeUnit.MILLISECONDS);
		advance(60_000);
		assertThat(this.task.count()).isEqualTo(2);
		assertThat(wheel.snapshot().refused()).isEqualTo(2);
		assertThat(wheel.snapshot().fired()).isEqualTo(2);
	}

	/**
	 * It also does so when the timer is due again. Others wait, and their first ends all.
	 */
	@Test
	void executorThatRunsARefusedTaskTooLateDoesNotLoseIt() {
		List<Runnable> kept = new ArrayList<>();
		List<TimerHandle> others = new ArrayList<>();
		Executor keeping = (timer) -> {
			kept.add(timer);
			refuseOrRun(timer);
		};
		TimerHandle handle = this.wheel.schedule(routed(() -> {
			kept.forEach(Runnable::run);
			return keeping;
		}), 5, TimeUnit.MILLISECONDS);
		advance(5);
		kept.get(0).run();
		assertThat(this.task.count()).isZero();
		handle.reschedule(20, TimeUnit.MILLISECONDS);
		for (int i = 0; i < 2 + TimerList.Chunk.CAPACITY; i++) {
			Runnable other = () -> others.forEach(TimerHandle::cancel);
			others.add(this.wheel.schedule(routed(() -> keeping, other), 19, TimeUnit.MILLISECONDS));
		}
		advance(19);
		this.refuse = false;
		advance(1);
		assertThat(this.task.count()).isOne();
		advance(2_000);
		assertThat(this.wheel.snapshot().fired()).isEqualTo(2);
		assertThat(this.wheel.pending()).isZero();
		kept.forEach(Runnable::run);
		assertThat(this.task.count()).isOne();
	}

	@Test
	void periodicTaskThatIsCancelledWhileItsExecutorRefusesHasNotFired() {
		AtomicReference<ScheduledFuture<?>> future = new AtomicReference<>();
		TimingWheel wheel = wheel((timer) -> {
			future.get().cancel(false);
			refuse(true);
		});
		future.set(wheel.asScheduledExecutorService().scheduleAtFixedRate(this.task, 5, 5, TimeUnit.MILLISECONDS));
		advance(60_000);
		WheelSnapshot snapshot = wheel.snapshot();
		assertThat(this.task.count()).isZero();
		assertThat(List.of(snapshot.fired(), snapshot.refused(), snapshot.cancelled(), snapshot.pending()))
			.containsExactly(0L, 1L, 1L, 0L);
	}

	private TimingWheel wheel(Executor executor) {
		return TimingWheel.builder(executor).timeSource(this.clock).build();
	}

	private TimerHandle schedule(long millis) {
		return this.wheel.schedule(this.task, millis, TimeUnit.MILLISECONDS);
	}

	private void advance(long millis) {
		this.clock.advance(Duration.ofMillis(millis));
	}

	private void refuseOrRun(Runnable task) {
		refuse(this.refuse);
		task.run();
	}

	private void refuse(boolean refuse) {
		if (refuse) {
			this.refusedAt.add(TimeUnit.NANOSECONDS.toMillis(this.clock.nanoTime()));
			throw new RejectedExecutionException("on purpose");
		}
	}

	private RoutedTask routed(Supplier<Executor> executor) {
		return routed(executor, this.task);
	}

	private static RoutedTask routed(Supplier<Executor> executor, Runnable task) {
		return new Routed(executor, task, null);
	}

	private RoutedTask handingOver(Supplier<Executor> executor, Predicate<Runnable> handOver) {
		return new Routed(executor, this.task, handOver);
	}

	private record Routed(Supplier<Executor> named, Runnable task, Predicate<Runnable> handOver) implements RoutedTask {

		@Override
		public Executor executor() {
			return this.named.get();
		}

		@Override
		public boolean handOver(Executor executor, Runnable timer) {
			return (this.handOver != null) ? this.handOver.test(timer) : RoutedTask.super.handOver(executor, timer);
		}

		@Override
		public void run() {
			this.task.run();
		}

	}

}
