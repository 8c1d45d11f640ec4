package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelJdbcStoreAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.support.MemoryStore;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The order of the calls in a transaction decides which task is pending after the commit,
 * in memory as in every store. All sequences of up to three calls are tried. The second
 * call of a sequence schedules a task that is due in two hours, and so on.
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
					check(context, place, ifPending, calls, false);
					check(context, place, ifPending, calls, true);
				}
			}
			assertThat(this.wrong).isEmpty();
		});
	}

	private void check(ApplicationContext context, Place place, IfPending ifPending, List<Call> calls,
			boolean hasEarlier) {
		TaskId id = TaskId.of(ifPending.name(), UUID.randomUUID());
		Session session = new Session(context, place, ifPending, id);
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
				case MEMORY -> DelayedContexts.runner(TransactionConfiguration.class, Silent.class)
					.withBean(Orders.class, MemoryOrders::new);
				case MEMORY_AFTER_COMMIT -> DelayedContexts.runner(TransactionConfiguration.class, Silent.class)
					.withBean(Orders.class, AfterCommitOrders::new);
				case DATABASE -> DelayedContexts.realTimeRunner(Silent.class)
					.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class,
							DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
							TransactionAutoConfiguration.class, TimingWheelJdbcStoreAutoConfiguration.class,
							TimingWheelStoreAutoConfiguration.class))
					.withPropertyValues("timingwheel.store.type=jdbc",
							"spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID())
					.withBean(Orders.class, DurableOrders::new);
				case STORE_APART ->
					DurableContexts.runner(new MemoryStore(false), TransactionConfiguration.class, Silent.class)
						.withBean(Orders.class, DurableOrders::new);
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
			Orders orders = this.context.getBean(Orders.class);
			DelayedTaskTemplate template = this.context.getBean(DelayedTaskTemplate.class);
			switch (call) {
				case METHOD -> {
					switch (this.ifPending) {
						case REPLACE -> orders.replace(this.id.key(), delay);
						case KEEP -> orders.keep(this.id.key(), delay);
						case REJECT -> orders.reject(this.id.key(), delay);
					}
				}
				case CANCELLING_METHOD -> {
					switch (this.ifPending) {
						case REPLACE -> orders.cancelReplace(this.id.key());
						case KEEP -> orders.cancelKeep(this.id.key());
						case REJECT -> orders.cancelReject(this.id.key());
					}
				}
				case FIRST_CANCELLING_METHOD -> {
					switch (this.ifPending) {
						case REPLACE -> orders.cancelReplaceFirst(this.id.key());
						case KEEP -> orders.cancelKeepFirst(this.id.key());
						case REJECT -> orders.cancelRejectFirst(this.id.key());
					}
				}
				case TEMPLATE_CANCEL -> {
					return template.cancel(this.id);
				}
				case TEMPLATE, TEMPLATE_KEEP, TEMPLATE_REJECT -> {
					if (this.place.isDurable()) {
						template.enqueue(this.id, delay, this.id.key(), delay);
					}
					else {
						template.task(() -> {
						}).id(this.id).ifPending(call.ifPending(this.ifPending)).after(delay);
					}
				}
			}
			return null;
		}

		Optional<Integer> pending() {
			return this.context.getBean(DelayedTaskTemplate.class)
				.find(this.id)
				.map(DelayedTask::dueAt)
				.map((due) -> (int) Duration.between(Instant.now(), due).plusMinutes(30).toHours());
		}

	}

	/**
	 * One task for each {@link IfPending}.
	 */
	interface Orders {

		void replace(String key, Duration delay);

		void keep(String key, Duration delay);

		void reject(String key, Duration delay);

		@CancelDelayed(name = "REPLACE", key = "#key")
		void cancelReplace(String key);

		@CancelDelayed(name = "KEEP", key = "#key")
		void cancelKeep(String key);

		@CancelDelayed(name = "REJECT", key = "#key")
		void cancelReject(String key);

		@CancelDelayed(name = "REPLACE", key = "#key", beforeInvocation = true)
		void cancelReplaceFirst(String key);

		@CancelDelayed(name = "KEEP", key = "#key", beforeInvocation = true)
		void cancelKeepFirst(String key);

		@CancelDelayed(name = "REJECT", key = "#key", beforeInvocation = true)
		void cancelRejectFirst(String key);

	}

	abstract static class AbstractOrders implements Orders {

		@Override
		public void cancelReplace(String key) {
		}

		@Override
		public void cancelKeep(String key) {
		}

		@Override
		public void cancelReject(String key) {
		}

		@Override
		public void cancelReplaceFirst(String key) {
		}

		@Override
		public void cancelKeepFirst(String key) {
		}

		@Override
		public void cancelRejectFirst(String key) {
		}

	}

	static class MemoryOrders extends AbstractOrders {

		@Override
		@Delayed(delayExpression = "#delay", name = "REPLACE", key = "#key")
		public void replace(String key, Duration delay) {
		}

		@Override
		@Delayed(delayExpression = "#delay", name = "KEEP", key = "#key", ifPending = IfPending.KEEP)
		public void keep(String key, Duration delay) {
		}

		@Override
		@Delayed(delayExpression = "#delay", name = "REJECT", key = "#key", ifPending = IfPending.REJECT)
		public void reject(String key, Duration delay) {
		}

	}

	static class AfterCommitOrders extends AbstractOrders {

		@Override
		@Delayed(delayExpression = "#delay", name = "REPLACE", key = "#key", afterCommit = true)
		public void replace(String key, Duration delay) {
		}

		@Override
		@Delayed(delayExpression = "#delay", name = "KEEP", key = "#key", ifPending = IfPending.KEEP,
				afterCommit = true)
		public void keep(String key, Duration delay) {
		}

		@Override
		@Delayed(delayExpression = "#delay", name = "REJECT", key = "#key", ifPending = IfPending.REJECT,
				afterCommit = true)
		public void reject(String key, Duration delay) {
		}

	}

	static class DurableOrders extends AbstractOrders {

		@Override
		@Delayed(delayExpression = "#delay", name = "REPLACE", key = "#key", durable = true)
		public void replace(String key, Duration delay) {
		}

		@Override
		@Delayed(delayExpression = "#delay", name = "KEEP", key = "#key", ifPending = IfPending.KEEP, durable = true)
		public void keep(String key, Duration delay) {
		}

		@Override
		@Delayed(delayExpression = "#delay", name = "REJECT", key = "#key", ifPending = IfPending.REJECT,
				durable = true)
		public void reject(String key, Duration delay) {
		}

	}

	/**
	 * Ignores calls that are rejected at the commit.
	 */
	@Configuration(proxyBeanMethods = false)
	@Import(Silent.Handler.class)
	static class Silent {

		static class Handler implements AsyncUncaughtExceptionHandler {

			@Override
			public void handleUncaughtException(Throwable ex, Method method, @Nullable Object... params) {
			}

		}

	}

}
