package io.timingwheel.spring.durable.support;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.PartlyStoredException;
import io.timingwheel.spring.task.IfPending;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Callers that store tasks at the same time, on a store whose requests wait until the
 * test lets them go on.
 */
class SharedEnqueuesTests {

	private final HeldStore store = new HeldStore();

	private final SharedEnqueues enqueues = new SharedEnqueues(this.store.proxy(), 1, 1, (nanos) -> 0);

	/** The next request waits for the callers of the request before, however long. */
	private final SharedEnqueues patient = new SharedEnqueues(this.store.proxy(), 1, 1,
			(nanos) -> TimeUnit.HOURS.toNanos(1));

	private final List<Thread> threads = new ArrayList<>();

	@AfterEach
	void end() throws InterruptedException {
		this.store.permits.release(1000);
		for (Thread thread : this.threads) {
			thread.join(TimeUnit.SECONDS.toMillis(30));
			assertThat(thread.isAlive()).isFalse();
		}
		assertThat(this.store.shared.stream().flatMap(List::stream)).doesNotHaveDuplicates();
	}

	@Test
	void aSingleCallerSendsItsTaskAtOnce() {
		this.store.permits.release(2);
		assertThat(this.enqueues.enqueue(task("a")).id()).isEqualTo("a");
		assertThat(this.enqueues.enqueue(task("b")).id()).isEqualTo("b");
		assertThat(this.store.shared).containsExactly(List.of("a"), List.of("b"));
		assertThat(this.store.alone).isEmpty();
	}

	@Test
	void callersThatComeDuringARequestShareTheNextOne() throws Exception {
		List<Caller> callers = firstAndOthers(5);
		this.store.permits.release(2);
		for (int i = 0; i < callers.size(); i++) {
			assertThat(callers.get(i).get().id()).isEqualTo("" + i);
		}
		assertThat(this.store.shared).hasSize(2);
		assertThat(this.store.shared.get(1)).containsExactlyInAnyOrder("1", "2", "3", "4", "5");
		assertThat(this.store.alone).isEmpty();
	}

	@Test
	void theNextRequestWaitsForTheCallersOfTheEndedOneAndTheLastOfThemSendsIt() throws Exception {
		List<Caller> callers = firstAndOthers(this.patient, 2);
		this.store.permits.release();
		assertThat(callers.get(0).get().id()).isEqualTo("0");
		callers.get(1).awaitWaitingForCompany();
		assertThat(this.store.shared).hasSize(1);
		Caller back = call(this.patient, "3");
		awaitShared(2);
		assertThat(this.store.shared.get(1)).containsExactlyInAnyOrder("1", "2", "3");
		assertThat(this.store.senders.get(1)).isEqualTo(back.thread);
		this.store.permits.release();
		for (Caller caller : List.of(callers.get(1), callers.get(2), back)) {
			caller.get();
		}
		// Three callers may come back.
		List<Caller> again = List.of(call(this.patient, "4"), call(this.patient, "5"));
		again.get(0).awaitWaiting();
		again.get(1).awaitWaiting();
		assertThat(this.store.shared).hasSize(2);
		call(this.patient, "6");
		awaitShared(3);
		assertThat(this.store.shared.get(2)).containsExactlyInAnyOrder("4", "5", "6");
	}

	@Test
	void theFirstThatWaitsSendsTheRequestIfTheCallersDoNotComeBackInTime() throws Exception {
		SharedEnqueues brief = new SharedEnqueues(this.store.proxy(), 1, 1,
				(nanos) -> TimeUnit.MILLISECONDS.toNanos(1));
		List<Caller> callers = firstAndOthers(brief, 2);
		this.store.permits.release(2);
		assertThat(callers.get(1).get().id()).isEqualTo("1");
		assertThat(callers.get(2).get().id()).isEqualTo("2");
		assertThat(this.store.shared).hasSize(2);
		assertThat(this.store.senders.get(1)).isEqualTo(callers.get(1).thread);
	}

	@Test
	void aCallerWithoutCompanyNeverWaits() {
		this.store.permits.release(3);
		for (String id : List.of("1", "2", "3")) {
			assertThat(this.patient.enqueue(task(id)).id()).isEqualTo(id);
		}
		assertThat(this.store.shared).containsExactly(List.of("1"), List.of("2"), List.of("3"));
	}

	@Test
	void enoughTasksWaitForNoMore() throws Exception {
		List<Caller> callers = firstAndOthers(this.patient, 16);
		this.store.permits.release(2);
		for (Caller caller : callers) {
			caller.get();
		}
		assertThat(this.store.shared).extracting(List::size).containsExactly(1, 16);
	}

	@Test
	void aCallerThatIsInterruptedWhileItWaitsForCompanyGetsItsResult() throws Exception {
		List<Caller> callers = firstAndOthers(this.patient, 1);
		this.store.permits.release();
		callers.get(1).awaitWaitingForCompany();
		callers.get(1).thread.interrupt();
		await(() -> !callers.get(1).thread.isInterrupted());
		assertThat(this.store.shared).hasSize(1);
		Caller back = call(this.patient, "2");
		this.store.permits.release();
		assertThat(callers.get(1).get().id()).isEqualTo("1");
		assertThat(back.get().id()).isEqualTo("2");
		await(() -> callers.get(1).interrupted);
	}

	@Test
	void theWaitIsAPartOfTheTimeOfTheRequest() {
		assertThat(SharedEnqueues.companyNanos(TimeUnit.MICROSECONDS.toNanos(400))).isBetween(1L,
				TimeUnit.MICROSECONDS.toNanos(200));
		assertThat(SharedEnqueues.companyNanos(TimeUnit.MICROSECONDS.toNanos(40))).isZero();
		assertThat(SharedEnqueues.companyNanos(TimeUnit.SECONDS.toNanos(5)))
			.isLessThan(TimeUnit.MILLISECONDS.toNanos(1));
	}

	@Test
	void twoRequestsAreUnderWayAtATime() throws Exception {
		SharedEnqueues two = new SharedEnqueues(this.store.proxy(), 2, 2, (nanos) -> 0);
		List<Caller> callers = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			callers.add(call(two, "" + i));
			if (i < 2) {
				awaitShared(i + 1);
			}
			else {
				callers.get(i).awaitWaiting();
			}
		}
		assertThat(this.store.shared).containsExactly(List.of("0"), List.of("1"));
		this.store.permits.release();
		awaitShared(3);
		assertThat(this.store.shared.get(2)).containsExactlyInAnyOrder("2", "3", "4");
		this.store.permits.release(2);
		for (int i = 0; i < 5; i++) {
			assertThat(callers.get(i).get().id()).isEqualTo("" + i);
		}
	}

	@Test
	void besideASharedRequestASecondOneBeginsOnceHalfOfTheCallersWait() throws Exception {
		SharedEnqueues two = new SharedEnqueues(this.store.proxy(), 2, 2, (nanos) -> 0);
		List<Caller> callers = shareARequest(two, 4);
		for (int i = 6; i < 8; i++) {
			callers.add(call(two, "" + i));
			callers.get(i).awaitWaiting();
		}
		assertThat(this.store.shared).hasSize(3);
		callers.add(call(two, "8"));
		awaitShared(4);
		assertThat(this.store.shared.get(3)).containsExactlyInAnyOrder("6", "7", "8");
		this.store.permits.release(2);
		for (int i = 0; i < callers.size(); i++) {
			assertThat(callers.get(i).get().id()).isEqualTo("" + i);
		}
	}

	@Test
	void theSmallerHalfOfAnOddNumberOfCallersDoesNotWaitForTheOtherHalf() throws Exception {
		SharedEnqueues two = new SharedEnqueues(this.store.proxy(), 2, 2, (nanos) -> 0);
		shareARequest(two, 2);
		call(two, "4");
		awaitShared(4);
		assertThat(this.store.shared.get(3)).containsExactly("4");
	}

	@Test
	void inOneGroupAFewCallersBeginNoRequestBesideASharedOne() throws Exception {
		SharedEnqueues one = new SharedEnqueues(this.store.proxy(), 2, 1, (nanos) -> 0);
		List<Caller> callers = shareARequest(one, 4);
		for (int i = 6; i < 14; i++) {
			callers.add(call(one, "" + i));
			callers.get(i).awaitWaiting();
		}
		assertThat(this.store.shared).hasSize(3);
		this.store.permits.release();
		awaitShared(4);
		assertThat(this.store.shared.get(3)).hasSize(8);
		this.store.permits.release();
		for (int i = 0; i < callers.size(); i++) {
			assertThat(callers.get(i).get().id()).isEqualTo("" + i);
		}
	}

	@Test
	void callersThatMayComeBackCountAsCallers() throws Exception {
		SharedEnqueues two = new SharedEnqueues(this.store.proxy(), 2, 2, (nanos) -> TimeUnit.HOURS.toNanos(1));
		List<Caller> callers = shareARequest(two, 3);
		callers.add(call(two, "5"));
		callers.get(5).awaitWaiting();
		this.store.permits.release();
		for (int i = 2; i < 5; i++) {
			assertThat(callers.get(i).get().id()).isEqualTo("" + i);
		}
		callers.get(5).awaitWaitingForCompany();
		assertThat(this.store.shared).hasSize(3);
		callers.add(call(two, "6"));
		awaitShared(4);
		assertThat(this.store.shared.get(3)).containsExactlyInAnyOrder("5", "6");
	}

	@Test
	void manyCallersBeginASecondRequestBesideALargeOne() throws Exception {
		SharedEnqueues two = new SharedEnqueues(this.store.proxy(), 2, 2, (nanos) -> 0);
		List<Caller> callers = shareARequest(two, 40);
		for (int i = 42; i < 57; i++) {
			callers.add(call(two, "" + i));
			callers.get(i).awaitWaiting();
		}
		assertThat(this.store.shared).hasSize(3);
		callers.add(call(two, "57"));
		awaitShared(4);
		assertThat(this.store.shared.get(3)).hasSize(16);
	}

	/**
	 * Lets two callers send a request each, and as many others as given share the only
	 * request that is then under way.
	 */
	private List<Caller> shareARequest(SharedEnqueues two, int others) throws Exception {
		List<Caller> callers = new ArrayList<>();
		for (int i = 0; i < 2 + others; i++) {
			callers.add(call(two, "" + i));
			if (i < 2) {
				awaitShared(i + 1);
			}
			else {
				callers.get(i).awaitWaiting();
			}
		}
		this.store.permits.release();
		awaitShared(3);
		assertThat(this.store.shared.get(2)).hasSize(others);
		assertThat(callers.get(0).get().id()).isEqualTo("0");
		this.store.permits.release();
		assertThat(callers.get(1).get().id()).isEqualTo("1");
		return callers;
	}

	@Test
	void theFirstCallerReturnsBeforeTheNextRequestEnds() throws Exception {
		List<Caller> callers = firstAndOthers(2);
		this.store.permits.release();
		assertThat(callers.get(0).get().id()).isEqualTo("0");
		awaitShared(2);
		assertThat(callers.get(1).isDone()).isFalse();
	}

	@Test
	void aRequestHasAtMostAHundredTasks() throws Exception {
		List<Caller> callers = firstAndOthers(130);
		this.store.permits.release(3);
		for (Caller caller : callers) {
			caller.get();
		}
		assertThat(this.store.shared).extracting(List::size).containsExactly(1, 100, 30);
	}

	@Test
	void aCallerThatCompletesARequestWithoutRoomForItsTaskWaitsForTheNextOne() throws Exception {
		Caller first = call(this.patient, task("0"));
		awaitShared(1);
		List<Caller> large = new ArrayList<>();
		for (String id : List.of("1", "2")) {
			large.add(call(this.patient, task(id, "x".repeat(600_000))));
			large.get(large.size() - 1).awaitWaiting();
		}
		this.store.permits.release();
		assertThat(first.get().id()).isEqualTo("0");
		large.get(0).awaitWaitingForCompany();
		Caller last = call(this.patient, task("3"));
		awaitShared(2);
		this.store.permits.release();
		assertThat(large.get(0).get().id()).isEqualTo("1");
		large.get(1).awaitWaitingForCompany();
		Caller back = call(this.patient, task("4"));
		this.store.permits.release();
		for (Caller caller : List.of(large.get(1), last, back)) {
			caller.get();
		}
		assertThat(this.store.shared).containsExactly(List.of("0"), List.of("1"), List.of("2", "3", "4"));
		assertThat(this.store.alone).isEmpty();
	}

	@Test
	void aCallWithinTheRequestOfItsOwnThreadIsSentAlone() throws Exception {
		this.store.permits.release();
		this.store.whileShared = () -> this.enqueues.enqueue(task("inner"));
		Caller outer = call("in its request");
		await(outer::isDone);
		assertThat(outer.get().id()).isEqualTo("in its request");
		assertThat(this.store.alone).containsExactly("inner");
	}

	@Test
	void aStoreWithTooFewResultsFailsAndTheNextRequestGoesOn() throws Exception {
		List<Caller> callers = firstAndOthers(2);
		this.store.tooFew = true;
		this.store.permits.release(2);
		for (Caller caller : callers) {
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(caller::get)
				.withCauseInstanceOf(IllegalStateException.class);
		}
	}

	@Test
	void tasksThatCannotBeStoredTogetherAreStoredByTheirCallers() throws Exception {
		this.store.refused.add("2");
		List<Caller> callers = firstAndOthers(3);
		this.store.permits.release(2);
		assertThat(callers.get(1).get().id()).isEqualTo("1");
		assertThat(callers.get(3).get().id()).isEqualTo("3");
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(callers.get(2)::get)
			.withCauseInstanceOf(IllegalArgumentException.class);
		assertThat(this.store.alone).containsExactlyInAnyOrder("1", "2", "3");
	}

	@Test
	void aTaskThatIsStoredAloneHoldsUpNobody() throws Exception {
		this.store.refused.add("0");
		this.store.slow.add("0");
		Caller slow = call("0");
		awaitShared(1);
		this.store.permits.release(2);
		await(() -> this.store.alone.contains("0"));
		assertThat(call("1").get().id()).isEqualTo("1");
		assertThat(slow.isDone()).isFalse();
		this.store.end.countDown();
	}

	@Test
	void allCallersOfARequestGetItsFailureAndTheNextRequestGoesOn() throws Exception {
		List<Caller> callers = firstAndOthers(2);
		IllegalStateException failure = new IllegalStateException("The store is down");
		this.store.failure = failure;
		this.store.permits.release();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(callers.get(0)::get).withCause(failure);
		awaitShared(2);
		Caller later = call("later");
		later.awaitWaiting();
		this.store.permits.release();
		for (Caller caller : callers.subList(1, 3)) {
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(caller::get).withCause(failure);
		}
		awaitShared(3);
		this.store.failure = null;
		this.store.permits.release();
		assertThat(later.get().id()).isEqualTo("later");
		assertThat(this.store.alone).isEmpty();
	}

	@Test
	void anErrorReachesTheCallers() {
		this.store.failure = new StackOverflowError();
		this.store.permits.release();
		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> this.enqueues.enqueue(task("a")));
		this.store.failure = null;
		this.store.permits.release();
		assertThat(this.enqueues.enqueue(task("b")).id()).isEqualTo("b");
	}

	@Test
	void ofTasksThatAreStoredInPartEachCallerGetsItsOwnResult() throws Exception {
		List<Caller> callers = firstAndOthers(2);
		this.store.missing.add("1");
		this.store.permits.release(2);
		assertThat(callers.get(0).get().id()).isEqualTo("0");
		assertThat(callers.get(2).get().id()).isEqualTo("2");
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(callers.get(1)::get)
			.havingCause()
			.withMessage("not stored");
	}

	@Test
	void aCallerThatIsInterruptedWhileItWaitsGetsItsResultAndKeepsTheFlag() throws Exception {
		List<Caller> callers = firstAndOthers(1);
		callers.get(1).thread.interrupt();
		this.store.permits.release(2);
		assertThat(callers.get(1).get().id()).isEqualTo("1");
		await(() -> callers.get(1).interrupted);
	}

	@Test
	void ifTheCallerThatWouldSendIsInterruptedEachCallerStoresItsTaskAlone() throws Exception {
		List<Caller> callers = new ArrayList<>(List.of(call("0")));
		awaitShared(1);
		for (int i = 1; i <= 3; i++) {
			callers.add(call("" + i));
			callers.get(i).awaitWaiting();
		}
		callers.get(1).thread.interrupt();
		// The caller waits on, and keeps the flag for later.
		await(() -> !callers.get(1).thread.isInterrupted());
		this.store.permits.release(2);
		for (int i = 0; i <= 3; i++) {
			assertThat(callers.get(i).get().id()).isEqualTo("" + i);
		}
		assertThat(this.store.shared).containsExactly(List.of("0"));
		assertThat(this.store.alone).containsExactlyInAnyOrder("1", "2", "3");
		call("9");
		awaitShared(2);
	}

	@Test
	void aCallerThatIsInterruptedBeforeSendsItsTaskAlone() {
		Thread.currentThread().interrupt();
		try {
			assertThat(this.enqueues.enqueue(task("a")).id()).isEqualTo("a");
		}
		finally {
			assertThat(Thread.interrupted()).isTrue();
		}
		assertThat(this.store.alone).containsExactly("a");
		assertThat(this.store.shared).isEmpty();
	}

	@Test
	void tasksThatShareNoRequestDoNotWaitForEachOther() throws Exception {
		Caller held = call("a1");
		awaitShared(1);
		Caller other = call("b1");
		awaitShared(2);
		this.store.permits.release(2);
		assertThat(held.get().id()).isEqualTo("a1");
		assertThat(other.get().id()).isEqualTo("b1");
		assertThat(this.enqueues.enqueue(task("none")).id()).isEqualTo("none");
		assertThat(this.store.alone).containsExactly("none");
	}

	@Test
	void aTaskThatTheStoreCannotAskForFails() {
		this.store.refused.add("lane");
		assertThatIllegalStateException().isThrownBy(() -> this.enqueues.enqueue(task("lane")));
		this.store.permits.release();
		assertThat(this.enqueues.enqueue(task("b")).id()).isEqualTo("b");
	}

	/**
	 * A caller whose request is under way, and others that wait.
	 */
	private List<Caller> firstAndOthers(int others) {
		return firstAndOthers(this.enqueues, others);
	}

	private List<Caller> firstAndOthers(SharedEnqueues enqueues, int others) {
		List<Caller> callers = new ArrayList<>();
		callers.add(call(enqueues, "0"));
		awaitShared(1);
		for (int i = 1; i <= others; i++) {
			callers.add(call(enqueues, "" + i));
			callers.get(i).awaitWaiting();
		}
		return callers;
	}

	private void awaitShared(int requests) {
		await(() -> this.store.shared.size() == requests);
	}

	private static void await(Callable<Boolean> condition) {
		Awaitility.await().pollInterval(Duration.ofMillis(2)).until(condition);
	}

	private Caller call(String id) {
		return call(this.enqueues, id);
	}

	private Caller call(SharedEnqueues enqueues, String id) {
		return call(enqueues, task(id));
	}

	private Caller call(SharedEnqueues enqueues, NewTask task) {
		Caller caller = new Caller(enqueues, task);
		this.threads.add(caller.thread);
		caller.thread.start();
		return caller;
	}

	private static NewTask task(String id) {
		return task(id, "payload");
	}

	private static NewTask task(String id, String payload) {
		return new NewTask(id, "name", null, payload, DueTime.after(Duration.ZERO), IfPending.REPLACE, null);
	}

	private final class Caller extends FutureTask<Enqueued> {

		private final Thread thread = new Thread(this);

		private volatile boolean interrupted;

		Caller(SharedEnqueues enqueues, NewTask task) {
			super(() -> enqueues.enqueue(task));
		}

		@Override
		protected void done() {
			this.interrupted = Thread.currentThread().isInterrupted();
		}

		void awaitWaiting() {
			await(() -> this.thread.getState() == Thread.State.WAITING
					|| this.thread.getState() == Thread.State.TIMED_WAITING);
		}

		void awaitWaitingForCompany() {
			await(() -> this.thread.getState() == Thread.State.TIMED_WAITING);
		}

	}

	/**
	 * Each shared request takes a permit.
	 */
	private static final class HeldStore {

		private final Semaphore permits = new Semaphore(0, true);

		private final List<List<String>> shared = new CopyOnWriteArrayList<>();

		private final List<Thread> senders = new CopyOnWriteArrayList<>();

		private final List<String> alone = new CopyOnWriteArrayList<>();

		private final List<String> refused = new CopyOnWriteArrayList<>();

		private final List<String> slow = new CopyOnWriteArrayList<>();

		private final List<String> missing = new CopyOnWriteArrayList<>();

		private final CountDownLatch end = new CountDownLatch(1);

		private volatile @Nullable Throwable failure;

		private volatile boolean tooFew;

		private volatile Runnable whileShared = () -> {
		};

		DelayedTaskStore proxy() {
			return (DelayedTaskStore) Proxy.newProxyInstance(getClass().getClassLoader(),
					new Class<?>[] { DelayedTaskStore.class }, (proxy, method, arguments) -> switch (method.getName()) {
						case "sharedRequest" -> lane(((NewTask) arguments[0]).id());
						case "enqueueShared" -> enqueueShared(
								((List<?>) arguments[0]).stream().map((task) -> ((NewTask) task).id()).toList());
						case "enqueue" -> enqueue(((NewTask) arguments[0]).id());
						default -> throw new UnsupportedOperationException(method.getName());
					});
		}

		private @Nullable Object lane(String id) {
			if (id.equals("lane") && this.refused.contains(id)) {
				throw new IllegalStateException();
			}
			return id.equals("none") ? null : Character.isDigit(id.charAt(0)) ? "digit" : id.charAt(0);
		}

		private @Nullable List<Enqueued> enqueueShared(List<String> ids) throws Throwable {
			this.senders.add(Thread.currentThread());
			this.shared.add(ids);
			this.permits.acquireUninterruptibly();
			this.whileShared.run();
			Throwable failure = this.failure;
			if (failure != null) {
				throw failure;
			}
			if (ids.stream().anyMatch(this.refused::contains)) {
				return null;
			}
			if (ids.stream().anyMatch(this.missing::contains)) {
				throw new PartlyStoredException(Arrays.asList(ids.stream()
					.map((id) -> this.missing.contains(id) ? null : stored(id))
					.toArray(Enqueued[]::new)), new IllegalStateException("not stored"));
			}
			return ids.stream().skip(this.tooFew ? 1 : 0).map(HeldStore::stored).toList();
		}

		private Enqueued enqueue(String id) throws InterruptedException {
			this.alone.add(id);
			if (this.slow.contains(id)) {
				this.end.await();
			}
			else if (this.refused.contains(id)) {
				throw new IllegalArgumentException(id);
			}
			return stored(id);
		}

		private static Enqueued stored(String id) {
			return new Enqueued(Outcome.INSERTED, id, 1, 0, 0, false);
		}

	}

}
