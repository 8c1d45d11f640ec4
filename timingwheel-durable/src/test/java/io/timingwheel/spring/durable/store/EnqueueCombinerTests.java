package io.timingwheel.spring.durable.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued.Outcome;
import io.timingwheel.spring.task.IfPending;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Callers that store tasks at the same time, on a store whose requests wait until the
 * test lets them go on.
 */
class EnqueueCombinerTests {

	private final Semaphore permits = new Semaphore(0, true);

	private final List<List<String>> requests = new CopyOnWriteArrayList<>();

	private final List<String> alone = new CopyOnWriteArrayList<>();

	private final List<String> refused = new CopyOnWriteArrayList<>();

	private final List<String> missing = new CopyOnWriteArrayList<>();

	private final EnqueueCombiner combiner = new EnqueueCombiner(this::sendTogether, this::sendAlone);

	private final List<Thread> threads = new ArrayList<>();

	private volatile @Nullable Throwable failure;

	private volatile Runnable duringRequest = () -> {
	};

	@AfterEach
	void end() throws InterruptedException {
		this.permits.release(1000);
		for (Thread thread : this.threads) {
			thread.join(TimeUnit.SECONDS.toMillis(30));
			assertThat(thread.isAlive()).isFalse();
		}
		assertThat(this.requests.stream().flatMap(List::stream)).doesNotHaveDuplicates();
	}

	@Test
	void aSingleCallerSendsItsTaskAtOnce() {
		this.permits.release(2);
		assertThat(this.combiner.enqueue(task("a")).id()).isEqualTo("a");
		assertThat(this.combiner.enqueue(task("b")).id()).isEqualTo("b");
		assertThat(this.requests).containsExactly(List.of("a"), List.of("b"));
		assertThat(this.alone).isEmpty();
	}

	@Test
	void callersThatComeDuringARequestShareTheNextOne() throws Exception {
		List<Caller> callers = firstAndOthers(5);
		this.permits.release();
		assertThat(callers.get(0).get().id()).isEqualTo("0");
		await(() -> this.requests.size() == 2);
		assertThat(this.requests.get(1)).containsExactly("1", "2", "3", "4", "5");
		assertThat(callers.get(1).isDone()).isFalse();
		this.permits.release();
		for (int i = 1; i < callers.size(); i++) {
			assertThat(callers.get(i).get().id()).isEqualTo("" + i);
		}
		assertThat(this.alone).isEmpty();
	}

	@Test
	void aRequestHasAtMostAHundredTasksAndALargeTaskIsSentAlone() throws Exception {
		List<Caller> callers = firstAndOthers(130);
		assertThat(this.combiner.enqueue(task("large", "x".repeat(10_001))).id()).isEqualTo("large");
		this.permits.release(3);
		for (Caller caller : callers) {
			caller.get();
		}
		assertThat(this.requests).extracting(List::size).containsExactly(1, 100, 30);
		assertThat(this.alone).containsExactly("large");
	}

	@Test
	void aCallWithinTheRequestOfItsThreadAndOneOfAnInterruptedThreadAreSentAlone() throws Exception {
		this.permits.release();
		this.duringRequest = () -> this.combiner.enqueue(task("inner"));
		assertThat(call(task("outer")).get(30, TimeUnit.SECONDS).id()).isEqualTo("outer");
		Thread.currentThread().interrupt();
		try {
			assertThat(this.combiner.enqueue(task("interrupted")).id()).isEqualTo("interrupted");
		}
		finally {
			assertThat(Thread.interrupted()).isTrue();
		}
		assertThat(this.alone).containsExactly("inner", "interrupted");
	}

	@Test
	void eachCallerGetsItsOwnResultIfTasksCannotBeStoredTogetherOrAreStoredInPart() throws Exception {
		this.refused.add("2");
		List<Caller> callers = firstAndOthers(3);
		this.permits.release(2);
		assertThat(callers.get(1).get().id()).isEqualTo("1");
		assertThat(callers.get(3).get().id()).isEqualTo("3");
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(callers.get(2)::get)
			.withCauseInstanceOf(IllegalArgumentException.class);
		assertThat(this.alone).containsExactlyInAnyOrder("1", "2", "3");
		this.requests.clear();
		this.refused.clear();
		this.missing.add("1");
		callers = firstAndOthers(2);
		this.permits.release(2);
		assertThat(callers.get(0).get().id()).isEqualTo("0");
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(callers.get(1)::get)
			.havingCause()
			.withMessage("not stored");
	}

	@Test
	void allCallersOfARequestGetItsFailureAndTheNextRequestGoesOn() throws Exception {
		for (Throwable unreachable : List.of(new IllegalStateException("down"), new StackOverflowError())) {
			this.requests.clear();
			this.failure = unreachable;
			List<Caller> callers = firstAndOthers(2);
			this.permits.release(2);
			for (Caller caller : callers) {
				assertThatExceptionOfType(ExecutionException.class).isThrownBy(caller::get).withCause(unreachable);
			}
			this.failure = null;
			this.permits.release();
			assertThat(this.combiner.enqueue(task("later")).id()).isEqualTo("later");
			assertThat(this.alone).isEmpty();
		}
	}

	@Test
	void anInterruptOfACallerThatWaitsReachesNoRequestAndIsKept() throws Exception {
		List<Caller> callers = firstAndOthers(2);
		boolean[] interrupted = new boolean[1];
		this.duringRequest = () -> interrupted[0] |= Thread.currentThread().isInterrupted();
		callers.get(1).thread.interrupt();
		await(() -> !callers.get(1).thread.isInterrupted());
		this.permits.release(2);
		assertThat(callers.get(1).get().id()).isEqualTo("1");
		assertThat(callers.get(2).get().id()).isEqualTo("2");
		assertThat(this.requests.get(1)).containsExactly("1", "2");
		assertThat(interrupted[0]).isFalse();
		await(() -> callers.get(1).interrupted);
	}

	/** A caller whose request is under way, and others that wait. */
	private List<Caller> firstAndOthers(int others) {
		List<Caller> callers = new ArrayList<>();
		callers.add(call(task("0")));
		await(() -> this.requests.size() == 1);
		for (int i = 1; i <= others; i++) {
			callers.add(call(task("" + i)));
			callers.get(i).awaitWaiting();
		}
		return callers;
	}

	private static void await(Callable<Boolean> condition) {
		Awaitility.await().pollInterval(Duration.ofMillis(2)).until(condition);
	}

	private Caller call(NewTask task) {
		Caller caller = new Caller(this.combiner, task);
		this.threads.add(caller.thread);
		caller.thread.start();
		return caller;
	}

	private static NewTask task(String id) {
		return task(id, "payload");
	}

	private static NewTask task(String id, String payload) {
		return new NewTask(id, "name", null, payload, null, DueTime.after(Duration.ZERO), IfPending.REPLACE, null);
	}

	private @Nullable List<Enqueued> sendTogether(List<NewTask> tasks) {
		List<String> ids = tasks.stream().map(NewTask::id).toList();
		this.requests.add(ids);
		this.permits.acquireUninterruptibly();
		this.duringRequest.run();
		if (this.failure != null) {
			ReflectionUtils.rethrowRuntimeException(this.failure);
		}
		if (ids.stream().anyMatch(this.refused::contains)) {
			return null;
		}
		if (ids.stream().anyMatch(this.missing::contains)) {
			throw new PartlyStoredException(Arrays.asList(
					ids.stream().map((id) -> this.missing.contains(id) ? null : stored(id)).toArray(Enqueued[]::new)),
					new IllegalStateException("not stored"));
		}
		return ids.stream().map(EnqueueCombinerTests::stored).toList();
	}

	private Enqueued sendAlone(NewTask task) {
		this.alone.add(task.id());
		if (this.refused.contains(task.id())) {
			throw new IllegalArgumentException(task.id());
		}
		return stored(task.id());
	}

	private static Enqueued stored(String id) {
		return new Enqueued(Outcome.INSERTED, id, 0, 0);
	}

	private static final class Caller extends FutureTask<Enqueued> {

		private final Thread thread = new Thread(this);

		private volatile boolean interrupted;

		Caller(EnqueueCombiner combiner, NewTask task) {
			super(() -> combiner.enqueue(task));
		}

		@Override
		protected void done() {
			this.interrupted = Thread.currentThread().isInterrupted();
		}

		void awaitWaiting() {
			await(() -> this.thread.getState() == Thread.State.WAITING);
		}

	}

}
