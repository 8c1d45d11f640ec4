package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.LeasedTask.TaskRef;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.State;
import io.timingwheel.spring.durable.store.test.InMemoryTaskStore;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/** Tasks whose bodies take a while, on threads. */
class RunningTaskTests extends NodeTestSupport {

	private static final int THREADS = 4;

	private final ThreadPoolExecutor executor = new ThreadPoolExecutor(THREADS, THREADS, 0, TimeUnit.SECONDS,
			new LinkedBlockingQueue<>());

	private final CountDownLatch end = new CountDownLatch(1);

	private final AtomicInteger started = new AtomicInteger();

	private final AtomicInteger interrupted = new AtomicInteger();

	RunningTaskTests() {
		this.handOvers = new HandOverExecutors(false);
	}

	@AfterEach
	void endBodies() {
		this.end.countDown();
		this.executor.shutdownNow();
	}

	private void handleOnThreads(String name, NumberHandler.Body body) {
		handle(NumberHandler.of(name, body, this.executor, null, Missed.ONCE));
	}

	private void waitForEnd(int number) throws InterruptedException {
		this.started.incrementAndGet();
		try {
			this.end.await();
		}
		catch (InterruptedException ex) {
			this.interrupted.incrementAndGet();
			throw ex;
		}
	}

	private int begun() {
		return (int) this.store.counts(List.of(NAME)).getOrDefault(NAME, StoredCounts.NONE).running();
	}

	@Test
	void aLeaseIsRenewedWhileTheBodyRuns() {
		handleOnThreads(NAME, this::waitForEnd);
		String id = enqueue(1, Duration.ZERO);
		node();
		advanceMillis(1);
		await().until(() -> this.started.get() == 1);
		advance(LEASE.multipliedBy(5));
		assertThat(find(id).state()).isEqualTo(State.RUNNING);
		assertThat(find(id).deliveries()).isEqualTo(1);
		assertThat(this.interrupted).hasValue(0);
		this.end.countDown();
		await().until(() -> {
			advanceMillis(1);
			return counts().completed() == 1;
		});
	}

	/**
	 * The machine may have been suspended, so that the thread of the leases comes later.
	 */
	@Test
	void aTaskWhoseLeaseIsOverDoesNotStartAndIsLostOnce() {
		LeasedTask task = new LeasedTask("id", 1, NAME, null, "1", null, 0, true, 1, 1, 0, null);
		Run run = begun(task, NumberHandler.of(NAME, this::waitForEnd), () -> 0, 900);
		assertThat(run.start(900)).isFalse();
		assertThat(run.loseLease()).isTrue();
		assertThat(run.loseLease()).isFalse();
		assertThat(run.start(100)).isFalse();
	}

	@Test
	void aBodyWhoseNodeLosesTheLeaseIsInterruptedAndNotReported() {
		AtomicBoolean fails = new AtomicBoolean();
		use(new InMemoryTaskStore() {

			@Override
			public List<Reply> renew(List<TaskRef> tasks, Duration lease) {
				if (fails.get()) {
					throw new IllegalStateException("down");
				}
				return super.renew(tasks, lease);
			}

		});
		handleOnThreads(NAME, this::waitForEnd);
		String id = enqueue(1, Duration.ZERO);
		DurableNode node = node();
		advanceMillis(1);
		await().until(() -> this.started.get() == 1);
		fails.set(true);
		advance(LEASE.multipliedBy(9).dividedBy(10).minusMillis(100));
		assertThat(this.interrupted).hasValue(0);
		node.pause();
		advance(LEASE.dividedBy(10));
		await().until(() -> this.interrupted.get() == 1);
		await().until(() -> counts().running() == 0);
		assertThat(node.figures().lostLeases()).isEqualTo(1);
		assertThat(node.inFlight()).isZero();
		assertThat(counts().failed()).isZero();
		assertThat(find(id).state()).isEqualTo(State.RUNNING);
	}

	@Test
	void aBodyIsInterruptedAlsoWhileARenewalOfItsLeaseHangs() {
		CompletableFuture<List<Reply>> replies = new CompletableFuture<>();
		use(new InMemoryTaskStore() {

			@Override
			public List<Reply> renew(List<TaskRef> tasks, Duration lease) {
				return replies.join();
			}

		});
		this.lease = Duration.ofMillis(500);
		handleOnThreads(NAME, this::waitForEnd);
		enqueue(1, Duration.ZERO);
		DurableNode node = nodeOnThreads();
		try {
			await().until(() -> this.interrupted.get() == 1);
			await().until(() -> node.figures().lostLeases() == 1);
		}
		finally {
			replies.complete(List.of(Reply.REFUSED));
		}
	}

	@Test
	void tasksThatFallDueAtOnceAndCannotStartSoonAreGivenBack() {
		handleOnThreads(NAME, this::waitForEnd);
		IntStream.range(0, 200).forEach((number) -> enqueue(number, Duration.ofMillis(500)));
		DurableNode node = node();
		advanceMillis(499);
		assertThat(node.inFlight()).isEqualTo(200);
		advanceMillis(1);
		await().until(() -> this.started.get() == THREADS);
		advanceMillis(150);
		assertThat(node.inFlight()).isLessThan(20);
		assertThat(begun()).isLessThan(20);
		assertThat(list(Order.PENDING).stream().filter((task) -> task.state() == State.SCHEDULED).count())
			.isGreaterThan(180);
		this.end.countDown();
		await().until(() -> {
			advanceMillis(1);
			return counts().completed() == 200;
		});
	}

	@Test
	void aSlowNameLeavesItsBacklogInTheStoreAndRoomForOthers() {
		handleOnThreads(NAME, this::waitForEnd);
		handle("quick", (number) -> this.started.addAndGet(1_000));
		IntStream.range(0, 500).forEach((number) -> enqueue(number, Duration.ZERO));
		DurableNode node = node();
		advanceMillis(100);
		assertThat(begun()).isBetween(THREADS, 20);
		enqueue("quick", "1", Duration.ZERO);
		advance(POLL);
		await().until(() -> this.started.get() >= 1_000);
		assertThat(node.inFlight()).isLessThan(20);
	}

	@Test
	void aNodeHoldsNoMoreThanItsLimitAndRunsAll() {
		this.maxInFlight = 10;
		handleOnThreads(NAME, this::waitForEnd);
		IntStream.range(0, 100).forEach((number) -> enqueue(number, Duration.ZERO));
		DurableNode node = node();
		advanceMillis(1);
		await().until(() -> this.started.get() == THREADS);
		advance(POLL);
		assertThat(node.inFlight()).isEqualTo(10);
		this.end.countDown();
		await().until(() -> {
			advanceMillis(1);
			assertThat(node.inFlight()).isLessThanOrEqualTo(10);
			return counts().completed() == 100;
		});
	}

	@ParameterizedTest
	@CsvSource({ "10, 4, 1, 510", "50, 4, 1, 175", "200, 4, 1, 55", "1000, 4, 1, 42", "50, 1, 5, 80",
			"1000, 1, 5, 80" })
	void aBacklogBesideAnIdleNameKeepsThreadsBusyWithFewClaims(int maxInFlight, int starts, int millis,
			int mostClaims) {
		int rounds = 500;
		this.maxInFlight = maxInFlight;
		handleOnThreads(NAME, (number) -> this.started.incrementAndGet());
		handleOnThreads("idle", this::waitForEnd);
		IntStream.range(0, rounds * starts).forEach((number) -> enqueue(number, Duration.ZERO));
		// The threads are busy, and the test runs some bodies in each round.
		IntStream.range(0, THREADS).forEach((thread) -> this.executor.submit(() -> {
			this.end.await();
			return null;
		}));
		DurableNode node = node();
		for (int round = 0; round < rounds + 2; round++) {
			advanceMillis(millis);
			List<Runnable> bodies = new ArrayList<>();
			this.executor.getQueue().drainTo(bodies, starts);
			bodies.forEach(Runnable::run);
		}
		assertThat(this.started).hasValue(rounds * starts);
		assertThat(node.figures().claims()).isLessThanOrEqualTo(mostClaims);
	}

	@Test
	void aFullNodeLearnsOfPausesAndUsesEachFreePlace() {
		this.maxInFlight = 2;
		Semaphore ends = new Semaphore(0);
		handleOnThreads(NAME, (number) -> {
			this.started.incrementAndGet();
			ends.acquire();
		});
		IntStream.range(0, 6).forEach((number) -> enqueue(number, Duration.ZERO));
		DurableNode node = node();
		advanceMillis(10);
		await().until(() -> this.started.get() == 2);
		this.store.setPaused("other", true);
		advance(POLL.multipliedBy(2));
		assertThat(node.isPaused("other")).isTrue();
		ends.release();
		await().until(() -> {
			advanceMillis(0);
			return counts().completed() == 1;
		});
		advanceMillis(5);
		await().until(() -> this.started.get() == 3);
		ends.release(5);
	}

	@Test
	void noNameStarvesAnother() {
		this.maxInFlight = 40;
		handleOnThreads(NAME, this::waitForEnd);
		AtomicInteger quick = new AtomicInteger();
		handle("quick", (number) -> quick.incrementAndGet());
		IntStream.range(0, 1_000).forEach((number) -> enqueue(number, Duration.ofMillis(1_000)));
		IntStream.range(0, 100).forEach((number) -> enqueue("quick", "1", Duration.ofMillis(1_000)));
		node();
		await().until(() -> {
			advanceMillis(50);
			return quick.get() == 100;
		});
		assertThat(list(Order.PENDING)).as("slow tasks that wait").hasSizeGreaterThan(950);
	}

	@Test
	void anExecutorThatRefusesGetsItsTasksLater() {
		ThreadPoolExecutor one = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new SynchronousQueue<>());
		handle(NumberHandler.of(NAME, (number) -> this.started.incrementAndGet(), one, null, Missed.ONCE));
		IntStream.range(0, 20).forEach((number) -> enqueue(number, Duration.ZERO));
		nodeOnThreads();
		await().until(() -> this.started.get() == 20);
		await().until(() -> this.store.counts(List.of()).isEmpty());
		one.shutdownNow();
	}

	static List<Arguments> whatExecutorsThrow() {
		OutOfMemoryError noThread = new OutOfMemoryError("unable to create native thread");
		return List.of(arguments(new BeanCreationException("lateExecutor", "not yet"), true, 1),
				arguments(noThread, true, 0),
				arguments(new BeanCreationException("lateExecutor", "failed to start", noThread), true, 0),
				arguments(new IllegalStateException("No context"), false, 1));
	}

	@ParameterizedTest
	@MethodSource("whatExecutorsThrow")
	void aTaskWithoutAnExecutorHasFailedOrIsGivenBackIfThereIsNoThread(Throwable failure, boolean isLookedUp,
			int failures) {
		AtomicBoolean failed = new AtomicBoolean();
		Runnable fail = () -> {
			if (failed.compareAndSet(false, true)) {
				ReflectionUtils.rethrowRuntimeException(failure);
			}
		};
		handle(NumberHandler.of(NAME, (number) -> this.started.incrementAndGet(), () -> {
			if (isLookedUp) {
				fail.run();
			}
			return (body) -> {
				fail.run();
				body.run();
			};
		}, null, Missed.ONCE, () -> {
		}));
		enqueue(1, Duration.ZERO);
		node();
		await().until(() -> {
			advance(POLL);
			return this.started.get() == 1;
		});
		assertThat(counts().failed()).isEqualTo(failures);
	}

	@Test
	void whileAnErrorOfSuchATaskIsHandledOtherTasksRun() {
		CompletableFuture<Void> handled = new CompletableFuture<>();
		AtomicBoolean handling = new AtomicBoolean();
		handle(NumberHandler.of(NAME, (number) -> this.started.incrementAndGet(), () -> {
			throw new BeanCreationException("lateExecutor", "never");
		}, null, Missed.ONCE, () -> {
			handling.set(true);
			handled.join();
		}));
		handle("other", (number) -> this.started.addAndGet(number));
		enqueue(1, Duration.ZERO);
		node();
		await().until(() -> {
			advance(POLL);
			return handling.get();
		});
		enqueue("other", "2", Duration.ZERO);
		await().until(() -> {
			advance(POLL);
			return this.started.get() == 2;
		});
		handled.complete(null);
	}

	@Test
	void aNodeWhoseWheelIsFullPausesItsClaims() {
		this.maxPending = 2;
		handleOnThreads(NAME, (number) -> this.started.incrementAndGet());
		DurableNode node = nodeOnThreads();
		IntStream.range(0, 20).forEach((number) -> enqueue(number, Duration.ofMillis(1_800)));
		await().until(() -> node.figures().released() > 0);
		long start = System.nanoTime();
		long claims = node.figures().claims();
		await().until(() -> node.figures().claims() >= claims + 2 || this.started.get() > 0);
		// On a slow machine the tasks may be due before the node has claimed that often.
		assertThat(this.started.get() > 0 || System.nanoTime() - start > POLL.toNanos() / 2).isTrue();
		await().until(() -> this.started.get() == 20);
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "SKIP")
	void aRunThatIsLongerThanItsPeriodDoesNotOverlapTheNext(Missed missed) {
		AtomicInteger running = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		Queue<Long> times = new ConcurrentLinkedQueue<>();
		handle(NumberHandler.of(NAME, (number) -> {
			most.accumulateAndGet(running.incrementAndGet(), Math::max);
			times.add(DelayedTaskContext.current().orElseThrow().dueAt().toEpochMilli());
			waitForEnd(number);
			running.decrementAndGet();
		}, this.executor, null, missed));
		long hour = Duration.ofHours(1).toMillis();
		long first = storeNow() + hour;
		recur("every(PT1H)", Duration.ofHours(1));
		node();
		node();
		advance(Duration.ofHours(1).plusMillis(1));
		await().until(() -> this.started.get() == 1);
		advance(Duration.ofHours(11).plusMinutes(30));
		assertThat(times).containsExactly(first);
		this.end.countDown();
		await().until(() -> {
			advanceMillis(1);
			return list(Order.PENDING).stream().anyMatch((task) -> task.dueAt() == first + 12 * hour);
		});
		assertThat(times).containsExactlyElementsOf(
				IntStream.rangeClosed(0, (missed == Missed.ALL) ? 11 : 1).mapToObj((i) -> first + i * hour).toList());
		assertThat(most).hasValue(1);
	}

	@Test
	void aClosingNodeGivesBackWhatHasNotStartedAndWaitsForTheRest() throws Exception {
		handleOnThreads(NAME, this::waitForEnd);
		IntStream.range(0, 8).forEach((number) -> enqueue(number, Duration.ZERO));
		DurableNode node = nodeOnThreads();
		await().until(() -> this.started.get() == THREADS && begun() == 8);
		CompletableFuture<Void> closed = CompletableFuture.runAsync(() -> {
			try {
				node.shutdown(Duration.ofMinutes(1));
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		});
		await().until(() -> begun() == THREADS);
		await().untilAsserted(() -> assertThat(list(Order.PENDING)).hasSize(4)
			.allMatch((task) -> task.state() == State.SCHEDULED && task.deliveries() == 0));
		this.end.countDown();
		closed.get(1, TimeUnit.MINUTES);
		assertThat(counts().completed()).isEqualTo(THREADS);
		assertThat(node.inFlight()).isZero();
	}

	@Test
	void aBodyThatTakesTooLongToCloseIsInterruptedAndGivenBack() throws Exception {
		handleOnThreads(NAME, this::waitForEnd);
		String id = enqueue(1, Duration.ZERO);
		DurableNode node = nodeOnThreads();
		await().until(() -> this.started.get() == 1);
		node.shutdown(Duration.ofMillis(20));
		assertThat(this.interrupted).hasValue(1);
		StoredTask task = find(id);
		assertThat(task.state()).isEqualTo(State.SCHEDULED);
		assertThat(task.attempt()).isEqualTo(1);
		assertThat(task.error()).isNull();
		assertThat(counts().failed()).isZero();
	}

}
