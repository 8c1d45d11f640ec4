package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskCounts;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.test.util.ReflectionTestUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.counts;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The order of the calls in a transaction decides which task is pending after the commit,
 * in memory as in every store. All sequences of up to three calls are tried, only in the
 * database not all of those with three. The second call of a sequence schedules a task
 * that is due in two hours, and so on.
 */
class CallsInOneTransactionTests {

	private static final int EARLIER = 9;

	private final MemoryStore store = new MemoryStore();

	private final List<Throwable> uncaught = new CopyOnWriteArrayList<>();

	private final List<String> wrong = new ArrayList<>();

	private ApplicationContextRunner runner(Place place) {
		ApplicationContextRunner runner = switch (place) {
			case MEMORY -> DelayedContexts.runner().withBean(MemoryOrders.class);
			case DATABASE -> DurableContexts.jdbc().withBean(DurableOrders.class);
			case STORE_APART -> DurableContexts.runner(this.store).withBean(DurableOrders.class);
		};
		// Keeps the log free of calls that are rejected at the commit.
		return DurableContexts.withTransactions(runner)
			.withBean(Cancels.class)
			.withBean(AsyncUncaughtExceptionHandler.class, () -> (ex, method, arguments) -> this.uncaught.add(ex));
	}

	@ParameterizedTest
	@EnumSource
	void theOrderOfCallsDecidesWhatIsPendingAfterTheCommit(Place place) {
		runner(place).run((context) -> {
			for (IfPending ifPending : IfPending.values()) {
				for (List<Call> calls : sequences(place.calls(), ifPending)) {
					boolean all = calls.size() < 3 || place != Place.DATABASE;
					if (all || ifPending == IfPending.REPLACE) {
						check(context, place, ifPending, calls, true, End.COMMIT);
					}
					if (all) {
						check(context, place, ifPending, calls, false, End.COMMIT);
					}
				}
			}
			assertThat(this.wrong).isEmpty();
		});
	}

	@ParameterizedTest
	@EnumSource
	void whatIsRolledBackAlsoToASavepointHasNotHappened(Place place) {
		runner(place).run((context) -> {
			for (IfPending ifPending : IfPending.values()) {
				for (List<Call> calls : sequences(place.callsThatWaitForTheCommit(), ifPending)) {
					if (place != Place.DATABASE) {
						check(context, place, ifPending, calls, true, End.ROLLBACK);
					}
					// The rollback of the database itself takes longer.
					if (calls.size() == 3 && (place != Place.DATABASE || ifPending == IfPending.REPLACE)) {
						check(context, place, ifPending, calls, true, End.COMMIT_WITHOUT_THE_SECOND);
					}
				}
			}
			assertThat(this.wrong).isEmpty();
		});
	}

	private void check(ApplicationContext context, Place place, IfPending ifPending, List<Call> calls,
			boolean hasEarlier, End end) {
		Session session = new Session(context, place, ifPending, TaskId.of(ifPending.name(), UUID.randomUUID()));
		Pending expected = new Pending();
		if (hasEarlier) {
			session.make(Call.METHOD, EARLIER);
			expected.apply(Call.METHOD, ifPending, EARLIER);
		}
		List<Object> expectedResults = new ArrayList<>();
		List<Object> results = new ArrayList<>();
		context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
			for (int i = 0; i < calls.size(); i++) {
				Object savepoint = end.undoes(i) ? status.createSavepoint() : null;
				Object result = session.make(calls.get(i), i + 1);
				if (savepoint != null) {
					status.rollbackToSavepoint(savepoint);
				}
				else if (end != End.ROLLBACK) {
					results.add(result);
					expectedResults.add(expected.apply(calls.get(i), ifPending, i + 1));
				}
			}
			if (end == End.ROLLBACK) {
				status.setRollbackOnly();
			}
		});
		String sequence = "%s%s, %s, with %s".formatted(hasEarlier ? "[EARLIER] " : "", calls, end, ifPending);
		Object found = session.pending();
		if (!Optional.ofNullable(expected.hours).equals(found)) {
			this.wrong.add("%s after %s, not %s".formatted(found, sequence, expected.hours));
		}
		if (place == Place.STORE_APART) {
			// The exception comes after the commit, and only if no later call overrides
			// this one.
			Collections.replaceAll(expectedResults, DuplicateTaskException.class, "");
		}
		if (place.tellsResults() && !results.equals(expectedResults)) {
			this.wrong.add("%s from %s, not %s".formatted(results, sequence, expectedResults));
		}
	}

	/** Without a call of the method, three calls are tried for one method only. */
	private static List<List<Call>> sequences(List<Call> calls, IfPending ifPending) {
		List<List<Call>> sequences = new ArrayList<>();
		for (Call first : calls) {
			sequences.add(List.of(first));
			for (Call second : calls) {
				sequences.add(List.of(first, second));
				for (Call third : calls) {
					List<Call> three = List.of(first, second, third);
					if (ifPending == IfPending.REPLACE || three.contains(Call.METHOD)) {
						sequences.add(three);
					}
				}
			}
		}
		return sequences;
	}

	/** In the database the other call would wait for the transaction. */
	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "DATABASE")
	void aTaskStaysThatAnotherThreadSchedulesBetweenACallAndTheCommit(Place place) {
		runner(place).run((context) -> {
			Session session = new Session(context, place, IfPending.REPLACE, TaskId.of("REPLACE", 1));
			session.make(Call.METHOD, EARLIER);
			context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
				session.make(Call.CANCELLING_METHOD, 1);
				CompletableFuture.runAsync(() -> session.make(Call.METHOD, 2)).join();
			});
			assertThat(session.pending()).contains(2);
			if (place == Place.MEMORY) {
				context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
					session.make(Call.METHOD, 3);
					CompletableFuture.runAsync(() -> session.make(Call.METHOD, 4)).join();
				});
				assertThat(session.pending()).contains(4);
				assertThat(counts(context, "REPLACE").replaced()).isEqualTo(3);
			}
		});
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "DATABASE")
	void aSeparateTransactionWithinAnotherHasCallsOfItsOwn(Place place) {
		runner(place).run((context) -> {
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			TransactionTemplate separate = new TransactionTemplate(context.getBean(PlatformTransactionManager.class),
					new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
			Session session = new Session(context, place, IfPending.REPLACE, TaskId.of("REPLACE", 1));
			session.make(Call.METHOD, EARLIER);
			transaction.executeWithoutResult((outer) -> {
				session.make(Call.CANCELLING_METHOD, 1);
				separate.executeWithoutResult((inner) -> session.make(Call.METHOD, 2));
				assertThat(session.pending()).contains(2);
			});
			assertThat(session.pending()).contains(2);
			transaction.executeWithoutResult((outer) -> {
				session.make(Call.CANCELLING_METHOD, 3);
				separate.executeWithoutResult((inner) -> {
					session.make(Call.METHOD, 4);
					inner.setRollbackOnly();
				});
			});
			assertThat(session.pending()).isEmpty();
		});
	}

	@Test
	void callsThatWaitOnlyBehindAnotherActInTheirOrderAfterARollback() {
		runner(Place.MEMORY).run((context) -> {
			for (Call call : List.of(Call.TEMPLATE, Call.TEMPLATE_UPDATE, Call.TEMPLATE_KEEP, Call.TEMPLATE_REJECT)) {
				Session session = new Session(context, Place.MEMORY, IfPending.REPLACE,
						TaskId.of("REPLACE", call.name()));
				Pending expected = new Pending();
				session.make(Call.METHOD, EARLIER);
				expected.apply(Call.METHOD, IfPending.REPLACE, EARLIER);
				context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
					session.make(Call.CANCELLING_METHOD, 1);
					for (int hours = 2; hours <= 3; hours++) {
						session.make(call, hours);
						expected.apply(call, IfPending.REPLACE, hours);
					}
					assertThat(session.pending()).contains(EARLIER);
					status.setRollbackOnly();
				});
				assertThat(session.pending()).as(call.name()).isEqualTo(Optional.ofNullable(expected.hours));
			}
		});
	}

	@Test
	void aCallThatIsOverriddenBeforeTheCommitDoesNotReachTheWheel() {
		runner(Place.MEMORY).run((context) -> {
			MemoryOrders orders = context.getBean(MemoryOrders.class);
			context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
				orders.replace("1", Duration.ZERO);
				context.getBean(Cancels.class).replace("1");
				orders.replace("2", Duration.ZERO);
				orders.replace("2", Duration.ofHours(1));
				orders.replace("3", Duration.ZERO);
				assertThat(context.getBean(DelayedTaskTemplate.class).cancel(TaskId.of("REPLACE", 3))).isTrue();
				assertThat(context.getBean(DelayedTaskTemplate.class).cancel(TaskId.of("REPLACE", 3))).isFalse();
				assertThat(orders.withHandle(Duration.ZERO).cancel(false)).isTrue();
			});
			assertThat(context.getBean(TimingWheel.class).snapshot().scheduled()).isOne();
			assertThat(counts(context, "HANDLE").cancelled()).isOne();
			TaskCounts counts = counts(context, "REPLACE");
			assertThat(counts.cancelled()).isEqualTo(2);
			assertThat(counts.replaced()).isOne();
			assertThat(counts.pending()).isOne();
		});
	}

	@Test
	void aCallThatIsOverriddenBeforeTheCommitDoesNotReachTheStore() {
		this.store.refuse("1", "4");
		runner(Place.STORE_APART).run((context) -> {
			DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
			List<DelayedTask<?>> tasks = new ArrayList<>();
			context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
				for (int i = 1; i <= 4; i++) {
					tasks.add(template.enqueue(TaskId.of("REPLACE", i), Duration.ZERO, "", Duration.ZERO));
				}
				context.getBean(Cancels.class).replace("1");
				assertThat(template.cancel(TaskId.of("REPLACE", 2))).isTrue();
				assertThat(template.cancel(TaskId.of("REPLACE", 2))).isFalse();
				tasks.add(template.enqueue(TaskId.of("REPLACE", 3), Duration.ofHours(1), "", Duration.ZERO));
				assertThat(tasks.get(3).cancel(false)).isTrue();
				assertThat(tasks.get(3).cancel(false)).isFalse();
			});
			assertThat(this.uncaught).isEmpty();
			assertThat(this.store.payloads("REPLACE")).hasSize(1);
			assertThat(tasks).extracting(DelayedTask::status)
				.containsExactly(Status.CANCELLED, Status.CANCELLED, Status.CANCELLED, Status.CANCELLED,
						Status.SCHEDULED);
			TaskCounts counts = counts(context, "REPLACE");
			assertThat(counts.cancelled()).isEqualTo(3);
			assertThat(counts.replaced()).isOne();
		});
	}

	@Test
	void aCallThatIsRejectedAfterTheCommitTellsTheExceptionHandler() {
		runner(Place.STORE_APART).run((context) -> {
			Session session = new Session(context, Place.STORE_APART, IfPending.REJECT, TaskId.of("REJECT", 1));
			session.make(Call.METHOD, EARLIER);
			context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
				assertThat(session.make(Call.METHOD, 1)).isNotEqualTo(DuplicateTaskException.class);
				assertThat(this.uncaught).isEmpty();
			});
			assertThat(this.uncaught).singleElement().isInstanceOf(DuplicateTaskException.class);
			assertThat(session.pending()).contains(EARLIER);
		});
	}

	@Test
	void aHandleThatCancelsBeforeTheCommitFollowsTheTransaction() {
		runner(Place.STORE_APART).run((context) -> {
			DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			Supplier<DelayedTask<?>> enqueue = () -> template.enqueue(TaskId.of("KEEP", 1), Duration.ofHours(1), "",
					Duration.ZERO);
			DelayedTask<?> kept = transaction.execute((status) -> {
				DelayedTask<?> task = enqueue.get();
				Object savepoint = status.createSavepoint();
				assertThat(task.cancel(false)).isTrue();
				status.rollbackToSavepoint(savepoint);
				assertThat(task.isCancelled()).isFalse();
				return task;
			});
			assertThat(kept.status()).isEqualTo(Status.SCHEDULED);
			transaction.executeWithoutResult((status) -> {
				assertThat(kept.cancel(false)).isTrue();
				context.getBean(DurableOrders.class).keep("1", Duration.ofHours(2));
			});
			assertThat(kept.status()).isEqualTo(Status.CANCELLED);
			assertThat(this.store.payloads("KEEP")).singleElement().asString().contains("PT2H");
			DelayedTask<?> rolledBack = transaction.execute((status) -> {
				DelayedTask<?> task = enqueue.get();
				task.cancel(false);
				status.setRollbackOnly();
				return task;
			});
			assertThat(rolledBack.status()).isEqualTo(Status.CANCELLED);
		});
	}

	@Test
	void aTaskThatMovesInATransactionMovesAfterTheCommitIfItIsStillPendingThen() {
		runner(Place.STORE_APART).run((context) -> {
			DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			Session session = new Session(context, Place.STORE_APART, IfPending.REPLACE, TaskId.of("REPLACE", 1));
			DelayedTask<?> task = template.enqueue(session.id(), Duration.ofHours(1), "", Duration.ZERO);
			transaction.executeWithoutResult((status) -> {
				assertThat(template.reschedule(session.id(), Duration.ofHours(2))).isTrue();
				assertThat(session.pending()).contains(1);
			});
			assertThat(session.pending()).contains(2);
			transaction.executeWithoutResult((status) -> {
				assertThat(task.reschedule(Duration.ofHours(3))).isTrue();
				status.setRollbackOnly();
			});
			assertThat(session.pending()).contains(2);
			transaction.executeWithoutResult((status) -> {
				DelayedTask<?> later = template.enqueue(session.id(), Duration.ofHours(4), "", Duration.ZERO);
				assertThat(task.reschedule(Duration.ofHours(5))).isFalse();
				assertThat(later.reschedule(Duration.ofHours(6))).isTrue();
			});
			assertThat(session.pending()).contains(6);
			DelayedTask<?> moved = template.find(session.id()).orElseThrow();
			transaction.executeWithoutResult((status) -> moved.reschedule(Duration.ofHours(7)));
			assertThat(moved.dueAt()).isEqualTo(template.find(session.id()).orElseThrow().dueAt());
			DelayedTask<?> found = template.find(session.id()).orElseThrow();
			transaction.executeWithoutResult((status) -> {
				session.make(Call.CANCELLING_METHOD, 7);
				assertThat(template.reschedule(session.id(), Duration.ofHours(8))).isFalse();
				assertThat(found.reschedule(Duration.ofHours(8))).isFalse();
				assertThat(found.cancel(false)).isFalse();
			});
			assertThat(session.pending()).isEmpty();
		});
	}

	enum Place {

		MEMORY, DATABASE, STORE_APART;

		/**
		 * Whether the results of the calls in a transaction follow from the order of the
		 * calls too. In memory some calls act at once, others at the commit.
		 */
		boolean tellsResults() {
			return this != MEMORY;
		}

		/** A stored call gives way only if a method says so. */
		List<Call> calls() {
			return Stream.of(Call.values())
				.filter((call) -> this == MEMORY || call.ifPending == null || call.ifPending == IfPending.REPLACE)
				.toList();
		}

		List<Call> callsThatWaitForTheCommit() {
			return (this == MEMORY) ? List.of(Call.METHOD, Call.CANCELLING_METHOD) : calls();
		}

	}

	enum End {

		COMMIT, COMMIT_WITHOUT_THE_SECOND, ROLLBACK;

		boolean undoes(int call) {
			return this == COMMIT_WITHOUT_THE_SECOND && call == 1;
		}

	}

	/** A call with the key of the sequence. In memory, the template acts at once. */
	enum Call {

		METHOD(null), CANCELLING_METHOD(null), TEMPLATE(IfPending.REPLACE), TEMPLATE_UPDATE(IfPending.UPDATE),
		TEMPLATE_KEEP(IfPending.KEEP), TEMPLATE_REJECT(IfPending.REJECT), TEMPLATE_CANCEL(null);

		/** {@code null} for that of the method. */
		private final @Nullable IfPending ifPending;

		Call(@Nullable IfPending ifPending) {
			this.ifPending = ifPending;
		}

	}

	/** What is pending if the calls take effect one after the other. */
	static class Pending {

		private @Nullable Integer hours;

		Object apply(Call call, IfPending ofMethod, int hours) {
			boolean pending = this.hours != null;
			switch (call) {
				case CANCELLING_METHOD -> this.hours = null;
				case TEMPLATE_CANCEL -> {
					this.hours = null;
					return pending;
				}
				default -> {
					IfPending ifPending = (call.ifPending != null) ? call.ifPending : ofMethod;
					if (!pending || ifPending == IfPending.REPLACE) {
						this.hours = hours;
					}
					else if (ifPending == IfPending.REJECT) {
						return DuplicateTaskException.class;
					}
				}
			}
			return "";
		}

	}

	/** Makes the calls of one sequence. */
	record Session(ApplicationContext context, Place place, IfPending ifPending, TaskId id) {

		Object make(Call call, int hours) {
			try {
				Object result = make(call, Duration.ofHours(hours));
				return (result != null) ? result : "";
			}
			catch (DuplicateTaskException ex) {
				return DuplicateTaskException.class;
			}
		}

		private @Nullable Object make(Call call, Duration delay) {
			String method = this.ifPending.name().toLowerCase(Locale.ROOT);
			boolean durable = this.place != Place.MEMORY;
			DelayedTaskTemplate template = this.context.getBean(DelayedTaskTemplate.class);
			return switch (call) {
				case METHOD -> invoke(durable ? DurableOrders.class : MemoryOrders.class, method, this.id.key(), delay);
				case CANCELLING_METHOD -> invoke(Cancels.class, method, this.id.key());
				case TEMPLATE_CANCEL -> template.cancel(this.id);
				case TEMPLATE, TEMPLATE_UPDATE, TEMPLATE_KEEP, TEMPLATE_REJECT -> {
					if (durable) {
						template.enqueue(this.id, delay, this.id.key(), delay);
					}
					else {
						template.task(() -> {
						}).id(this.id).ifPending(call.ifPending).after(delay);
					}
					yield null;
				}
			};
		}

		private @Nullable Object invoke(Class<?> bean, String method, Object... arguments) {
			return ReflectionTestUtils.invokeMethod(this.context.getBean(bean), method, arguments);
		}

		Optional<Integer> pending() {
			return this.context.getBean(DelayedTaskTemplate.class)
				.find(this.id)
				.map(DelayedTask::dueAt)
				.map((due) -> (int) Duration.between(Instant.now(), due).plusMinutes(30).toHours());
		}

	}

	/**
	 * One method for the task of each {@link IfPending}.
	 */
	static class Cancels {

		@CancelDelayed(name = "REPLACE", key = "#key")
		public void replace(String key) {
		}

		@CancelDelayed(name = "UPDATE", key = "#key")
		public void update(String key) {
		}

		@CancelDelayed(name = "KEEP", key = "#key")
		public void keep(String key) {
		}

		@CancelDelayed(name = "REJECT", key = "#key")
		public void reject(String key) {
		}

	}

	static class MemoryOrders {

		@Delayed(delayExpression = "#delay", name = "HANDLE", afterCommit = true)
		public DelayedTask<String> withHandle(Duration delay) {
			return DelayedTask.completed("");
		}

		@Delayed(delayExpression = "#delay", name = "REPLACE", key = "#key", afterCommit = true)
		public void replace(String key, Duration delay) {
		}

		@Delayed(delayExpression = "#delay", name = "UPDATE", key = "#key", ifPending = IfPending.UPDATE,
				afterCommit = true)
		public void update(String key, Duration delay) {
		}

		@Delayed(delayExpression = "#delay", name = "KEEP", key = "#key", ifPending = IfPending.KEEP,
				afterCommit = true)
		public void keep(String key, Duration delay) {
		}

		@Delayed(delayExpression = "#delay", name = "REJECT", key = "#key", ifPending = IfPending.REJECT,
				afterCommit = true)
		public void reject(String key, Duration delay) {
		}

	}

	static class DurableOrders {

		@Delayed(delayExpression = "#delay", name = "REPLACE", key = "#key", durable = true)
		public void replace(String key, Duration delay) {
		}

		@Delayed(delayExpression = "#delay", name = "UPDATE", key = "#key", ifPending = IfPending.UPDATE,
				durable = true)
		public void update(String key, Duration delay) {
		}

		@Delayed(delayExpression = "#delay", name = "KEEP", key = "#key", ifPending = IfPending.KEEP, durable = true)
		public void keep(String key, Duration delay) {
		}

		@Delayed(delayExpression = "#delay", name = "REJECT", key = "#key", ifPending = IfPending.REJECT,
				durable = true)
		public void reject(String key, Duration delay) {
		}

	}

}
