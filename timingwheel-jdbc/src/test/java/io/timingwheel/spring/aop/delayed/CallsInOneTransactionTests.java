package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskCounts;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
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

	private final List<String> wrong = new ArrayList<>();

	@ParameterizedTest
	@EnumSource
	void theOrderOfCallsDecidesWhatIsPendingAfterTheCommit(Place place) {
		place.runner().run((context) -> {
			for (IfPending ifPending : IfPending.values()) {
				for (List<Call> calls : sequences(place.calls())) {
					boolean all = calls.size() < 3 || place != Place.DATABASE;
					if (all || ifPending == IfPending.REPLACE) {
						check(context, place, ifPending, calls, true);
					}
					if (all) {
						check(context, place, ifPending, calls, false);
					}
				}
			}
			assertThat(this.wrong).isEmpty();
		});
	}

	private void check(ApplicationContext context, Place place, IfPending ifPending, List<Call> calls,
			boolean hasEarlier) {
		Session session = new Session(context, place, ifPending, newId(ifPending));
		Pending expected = new Pending();
		if (hasEarlier) {
			session.make(Call.METHOD, EARLIER);
			expected.apply(Call.METHOD, ifPending, EARLIER);
		}
		List<Object> expectedResults = new ArrayList<>();
		List<Object> results = new ArrayList<>();
		context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
			for (int i = 0; i < calls.size(); i++) {
				expectedResults.add(expected.apply(calls.get(i), ifPending, i + 1));
				results.add(session.make(calls.get(i), i + 1));
			}
		});
		Object found = session.pending();
		if (!Optional.ofNullable(expected.hours).equals(found)) {
			this.wrong.add("%s after %s%s, not %s, with %s".formatted(found, hasEarlier ? "[EARLIER] " : "", calls,
					expected.hours, ifPending));
		}
		if (place.tellsResults() && !results.equals(expectedResults)) {
			this.wrong.add("%s from %s%s, not %s, with %s".formatted(results, hasEarlier ? "[EARLIER] " : "", calls,
					expectedResults, ifPending));
		}
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "DATABASE")
	void aRollbackLeavesWhatWasPending(Place place) {
		place.runner().run((context) -> {
			for (IfPending ifPending : IfPending.values()) {
				for (List<Call> calls : sequences(place.callsThatWaitForTheCommit())) {
					Session session = new Session(context, place, ifPending, newId(ifPending));
					session.make(Call.METHOD, EARLIER);
					context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
						for (int i = 0; i < calls.size(); i++) {
							session.make(calls.get(i), i + 1);
						}
						status.setRollbackOnly();
					});
					checkPending(session, EARLIER, "the rollback of " + calls);
				}
			}
			assertThat(this.wrong).isEmpty();
		});
	}

	@ParameterizedTest
	@EnumSource
	void aRollbackToASavepointUndoesWhatCameAfterIt(Place place) {
		place.runner().run((context) -> {
			// In the database the rollback is that of the database, and takes longer.
			for (IfPending ifPending : (place != Place.DATABASE) ? IfPending.values()
					: new IfPending[] { IfPending.REPLACE }) {
				for (List<Call> calls : sequences(place.callsThatWaitForTheCommit())) {
					if (calls.size() == 3) {
						checkSavepoint(context, place, ifPending, calls);
					}
				}
			}
			assertThat(this.wrong).isEmpty();
		});
	}

	private void checkSavepoint(ApplicationContext context, Place place, IfPending ifPending, List<Call> calls) {
		Session session = new Session(context, place, ifPending, newId(ifPending));
		session.make(Call.METHOD, EARLIER);
		Pending expected = new Pending();
		expected.apply(Call.METHOD, ifPending, EARLIER);
		expected.apply(calls.get(0), ifPending, 1);
		expected.apply(calls.get(2), ifPending, 3);
		context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
			session.make(calls.get(0), 1);
			Object savepoint = status.createSavepoint();
			session.make(calls.get(1), 2);
			status.rollbackToSavepoint(savepoint);
			session.make(calls.get(2), 3);
		});
		checkPending(session, expected.hours, calls + " without the second");
	}

	private void checkPending(Session session, @Nullable Integer expected, String what) {
		Object found = session.pending();
		if (!Optional.ofNullable(expected).equals(found)) {
			this.wrong.add("%s after %s, not %s, with %s".formatted(found, what, expected, session.ifPending()));
		}
	}

	/**
	 * In the database the other call would wait for the transaction.
	 */
	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "DATABASE")
	void aTaskStaysThatAnotherThreadSchedulesBetweenACallAndTheCommit(Place place) {
		place.runner().run((context) -> {
			Session session = new Session(context, place, IfPending.REPLACE, newId(IfPending.REPLACE));
			session.make(Call.METHOD, EARLIER);
			context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
				session.make(Call.CANCELLING_METHOD, 1);
				CompletableFuture.runAsync(() -> session.make(Call.METHOD, 2)).join();
			});
			assertThat(session.pending()).contains(2);
			if (place == Place.MEMORY_AFTER_COMMIT) {
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
		place.runner().run((context) -> {
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			TransactionTemplate separate = new TransactionTemplate(context.getBean(PlatformTransactionManager.class),
					new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
			Session session = new Session(context, place, IfPending.REPLACE, newId(IfPending.REPLACE));
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
			assertThat(session.pending()).isEqualTo((place == Place.MEMORY) ? Optional.of(4) : Optional.empty());
		});
	}

	@Test
	void aCallThatIsOverriddenBeforeTheCommitDoesNotReachTheWheel() {
		Place.MEMORY_AFTER_COMMIT.runner().run((context) -> {
			AfterCommitOrders orders = context.getBean(AfterCommitOrders.class);
			context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
				orders.replace("1", Duration.ZERO);
				context.getBean(Cancels.class).replace("1");
				orders.replace("2", Duration.ZERO);
				orders.replace("2", Duration.ofHours(1));
				orders.replace("3", Duration.ZERO);
				assertThat(context.getBean(DelayedTaskTemplate.class).cancel(TaskId.of("REPLACE", 3))).isTrue();
				assertThat(context.getBean(DelayedTaskTemplate.class).cancel(TaskId.of("REPLACE", 3))).isFalse();
			});
			assertThat(context.getBean(TimingWheel.class).snapshot().scheduled()).isOne();
			TaskCounts counts = counts(context, "REPLACE");
			assertThat(counts.cancelled()).isEqualTo(2);
			assertThat(counts.replaced()).isOne();
			assertThat(counts.pending()).isOne();
		});
	}

	@Test
	void aCallThatIsOverriddenBeforeTheCommitDoesNotReachTheStore() {
		MemoryStore store = new MemoryStore(false);
		store.refuse("1", "4");
		Place.apart(store).run((context) -> {
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
			assertThat(context.getBean(Silent.Handler.class).errors).isEmpty();
			assertThat(store.payloads("REPLACE")).hasSize(1);
			assertThat(tasks).extracting(DelayedTask::status)
				.containsExactly(Status.CANCELLED, Status.CANCELLED, Status.CANCELLED, Status.CANCELLED,
						Status.SCHEDULED);
			TaskCounts counts = counts(context, "REPLACE");
			assertThat(counts.cancelled()).isEqualTo(3);
			assertThat(counts.replaced()).isOne();
		});
	}

	@Test
	void aHandleThatCancelsBeforeTheCommitFollowsTheTransaction() {
		MemoryStore store = new MemoryStore(false);
		Place.apart(store).run((context) -> {
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
			assertThat(store.payloads("KEEP")).singleElement().asString().contains("PT2H");
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
		Place.apart(new MemoryStore(false)).run((context) -> {
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

	private static TaskId newId(IfPending ifPending) {
		return TaskId.of(ifPending.name(), UUID.randomUUID());
	}

	private static List<List<Call>> sequences(List<Call> calls) {
		List<List<Call>> sequences = new ArrayList<>();
		for (Call first : calls) {
			sequences.add(List.of(first));
			for (Call second : calls) {
				sequences.add(List.of(first, second));
				for (Call third : calls) {
					sequences.add(List.of(first, second, third));
				}
			}
		}
		return sequences;
	}

	enum Place {

		MEMORY, MEMORY_AFTER_COMMIT, DATABASE, STORE_APART;

		ApplicationContextRunner runner() {
			return switch (this) {
				case MEMORY ->
					DelayedContexts.runner(TransactionConfiguration.class, Silent.class).withBean(MemoryOrders.class);
				case MEMORY_AFTER_COMMIT -> DelayedContexts.runner(TransactionConfiguration.class, Silent.class)
					.withBean(AfterCommitOrders.class);
				case DATABASE -> DurableContexts.jdbc(Silent.class)
					.withConfiguration(AutoConfigurations.of(DataSourceTransactionManagerAutoConfiguration.class,
							TransactionAutoConfiguration.class))
					.withBean(DurableOrders.class);
				case STORE_APART -> apart(new MemoryStore(false));
			};
		}

		static ApplicationContextRunner apart(MemoryStore store) {
			return DurableContexts.runner(store, TransactionConfiguration.class, Silent.class)
				.withBean(DurableOrders.class);
		}

		Class<?> orders() {
			return switch (this) {
				case MEMORY -> MemoryOrders.class;
				case MEMORY_AFTER_COMMIT -> AfterCommitOrders.class;
				case DATABASE, STORE_APART -> DurableOrders.class;
			};
		}

		boolean isDurable() {
			return this == DATABASE || this == STORE_APART;
		}

		/**
		 * Whether the results of the calls in a transaction follow from the order of the
		 * calls too. In memory some calls act at once, others at the commit.
		 */
		boolean tellsResults() {
			return isDurable();
		}

		List<Call> calls() {
			return Arrays.stream(Call.values())
				.filter((call) -> !isDurable() || (call != Call.TEMPLATE_KEEP && call != Call.TEMPLATE_REJECT))
				.toList();
		}

		List<Call> callsThatWaitForTheCommit() {
			return switch (this) {
				case MEMORY -> List.of(Call.CANCELLING_METHOD);
				case MEMORY_AFTER_COMMIT -> List.of(Call.METHOD, Call.CANCELLING_METHOD);
				case DATABASE, STORE_APART -> calls();
			};
		}

	}

	/**
	 * A call with the key of the sequence.
	 */
	enum Call {

		METHOD, CANCELLING_METHOD, FIRST_CANCELLING_METHOD, TEMPLATE, TEMPLATE_KEEP, TEMPLATE_REJECT, TEMPLATE_CANCEL;

		IfPending ifPending(IfPending ofMethod) {
			return switch (this) {
				case TEMPLATE_KEEP -> IfPending.KEEP;
				case TEMPLATE_REJECT -> IfPending.REJECT;
				case TEMPLATE -> IfPending.REPLACE;
				default -> ofMethod;
			};
		}

	}

	/**
	 * What is pending if the calls take effect one after the other.
	 */
	static class Pending {

		private @Nullable Integer hours;

		Object apply(Call call, IfPending ofMethod, int hours) {
			boolean pending = this.hours != null;
			switch (call) {
				case CANCELLING_METHOD, FIRST_CANCELLING_METHOD -> this.hours = null;
				case TEMPLATE_CANCEL -> {
					this.hours = null;
					return pending;
				}
				default -> {
					IfPending ifPending = call.ifPending(ofMethod);
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

	/**
	 * Makes the calls of one sequence.
	 */
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
			DelayedTaskTemplate template = this.context.getBean(DelayedTaskTemplate.class);
			return switch (call) {
				case METHOD -> invoke(this.place.orders(), method, this.id.key(), delay);
				case CANCELLING_METHOD -> invoke(Cancels.class, method, this.id.key());
				case FIRST_CANCELLING_METHOD -> invoke(Cancels.class, method + "First", this.id.key());
				case TEMPLATE_CANCEL -> template.cancel(this.id);
				case TEMPLATE, TEMPLATE_KEEP, TEMPLATE_REJECT -> {
					if (this.place.isDurable()) {
						template.enqueue(this.id, delay, this.id.key(), delay);
					}
					else {
						template.task(() -> {
						}).id(this.id).ifPending(call.ifPending(this.ifPending)).after(delay);
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

		@CancelDelayed(name = "REPLACE", key = "#key", beforeInvocation = true)
		public void replaceFirst(String key) {
		}

		@CancelDelayed(name = "UPDATE", key = "#key", beforeInvocation = true)
		public void updateFirst(String key) {
		}

		@CancelDelayed(name = "KEEP", key = "#key", beforeInvocation = true)
		public void keepFirst(String key) {
		}

		@CancelDelayed(name = "REJECT", key = "#key", beforeInvocation = true)
		public void rejectFirst(String key) {
		}

	}

	static class MemoryOrders {

		@Delayed(delayExpression = "#delay", name = "REPLACE", key = "#key")
		public void replace(String key, Duration delay) {
		}

		@Delayed(delayExpression = "#delay", name = "UPDATE", key = "#key", ifPending = IfPending.UPDATE)
		public void update(String key, Duration delay) {
		}

		@Delayed(delayExpression = "#delay", name = "KEEP", key = "#key", ifPending = IfPending.KEEP)
		public void keep(String key, Duration delay) {
		}

		@Delayed(delayExpression = "#delay", name = "REJECT", key = "#key", ifPending = IfPending.REJECT)
		public void reject(String key, Duration delay) {
		}

	}

	static class AfterCommitOrders {

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

	/**
	 * Keeps the log free of calls that are rejected at the commit.
	 */
	@Configuration(proxyBeanMethods = false)
	@Import({ Silent.Handler.class, Cancels.class })
	static class Silent {

		static class Handler implements AsyncUncaughtExceptionHandler {

			private final List<Throwable> errors = new CopyOnWriteArrayList<>();

			@Override
			public void handleUncaughtException(Throwable ex, Method method, @Nullable Object... params) {
				this.errors.add(ex);
			}

		}

	}

}
