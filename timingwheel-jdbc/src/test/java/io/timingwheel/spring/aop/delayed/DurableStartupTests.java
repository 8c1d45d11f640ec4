package io.timingwheel.spring.aop.delayed;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.autoconfigure.StartFailures;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import jakarta.persistence.Entity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rules for durable methods, and their registration at startup.
 */
@ExtendWith(OutputCaptureExtension.class)
class DurableStartupTests {

	private final ApplicationContextRunner runner = DurableContexts.runner();

	@Test
	void handlersAreRegisteredBeforeTheirFirstCall() {
		this.runner.withBean("good", Good.class, Good::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(DurableHandlers.class).names()).containsExactlyInAnyOrder("good", "better",
						"best", "good.unnamed");
				assertThat(context.getBean(DurableHandlers.class).find("best"))
					.isSameAs(context.getBean(DurableHandlers.class).find("good"));
				assertThat(context.getBean(DelayedTaskRegistry.class).names()).containsExactly("good", "good.unnamed");
				assertThat(context.getBeanFactory().containsSingleton("good")).isFalse();
			});
	}

	@Test
	void theCheckForAStoreDoesNotInstantiateIt() {
		DelayedContexts.runner().withBean("store", DelayedTaskStore.class, () -> {
			throw new IllegalStateException("instantiated");
		}, (definition) -> definition.setLazyInit(true))
			.withBean("plain", InMemory.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void withoutAStore() {
		assertFails(DelayedContexts.runner(), Good.class, "Good#",
				"@Delayed is durable, but there is no store to keep its tasks in",
				"set timingwheel.store.type to jdbc or redis, or remove durable = true");
	}

	@Test
	void returnTypesThatWaitForTheBody() {
		String remedy = "return void or DelayedTask<Void>";
		for (Class<?> bean : List.of(ReturnsFuture.class, ReturnsTaskOfString.class, ReturnsRawTask.class,
				ReturnsTaskOfAnything.class)) {
			assertFails(this.runner, bean, bean.getSimpleName() + "#run()",
					"@Delayed is durable and on a method that returns ", remedy);
		}
	}

	@Test
	void aliasesWithoutDurable() {
		assertFails(this.runner, Aliases.class, "Aliases#run()", "@Delayed has aliases, but is not durable",
				"set durable = true, or remove the aliases");
	}

	@Test
	void namesAndAliasesThatClash() {
		for (Class<?> bean : List.of(AliasIsName.class, AliasIsAlias.class, NameIsAlias.class,
				MemoryNameIsAlias.class)) {
			assertFails(this.runner.withBean("good", Good.class), bean, "#", "of @Delayed belongs to",
					"give each method a name of its own");
		}
	}

	@Test
	void oneNamedMethodInTwoBeans() {
		assertFails(this.runner.withBean("first", InTwoBeans.class), InTwoBeans.class, "InTwoBeans#run()",
				"the durable @Delayed method is in the beans \"first\" and \"culprit\", and a stored call does not say which is to run it",
				"remove the name");
	}

	@Test
	void namesThatAreTooLong() {
		String name = "€".repeat(86);
		assertFails(this.runner.withPropertyValues("the.name=" + name), Named.class, "Named#run()",
				"the name \"" + name + "\" of the durable @Delayed has 258 bytes", "use at most 255 bytes");
		assertFails(this.runner.withPropertyValues("the.alias=" + name), Named.class, "Named#run()",
				"the alias \"" + name + "\" of the durable @Delayed has 258 bytes", "use at most 255 bytes");
		this.runner.withPropertyValues("the.name=" + "€".repeat(85))
			.withBean(Named.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void aRecurringMethodWithTheAliasOfAnotherMethodOrANameThatIsTooLong() {
		assertFails(this.runner.withBean("first", Named.class).withPropertyValues("the.report=alias"), Report.class,
				"Report#run()", "the name \"alias\" of @Recurring belongs to a @Delayed method already",
				"give each method a name of its own");
		String name = "€".repeat(86);
		assertFails(this.runner.withPropertyValues("the.report=" + name), Report.class, "Report#run()",
				"the name \"" + name + "\" of the durable @Recurring has 258 bytes", "use at most 255 bytes");
	}

	@Test
	void namesThatAreNoValidUnicode() {
		assertFails(this.runner.withPropertyValues("the.name=half\ud83d"), Named.class, "Named#run()",
				"or holds the character NUL or half of a surrogate pair", "use at most 255 bytes");
	}

	@Test
	void argumentsThatCannotBeStored() {
		assertFails(this.runner, TakesEntity.class, "TakesEntity#run(long, Optional)",
				"argument 2 (customer) cannot be stored: io.timingwheel.spring.aop.delayed.DurableStartupTests$Customer is a JPA entity",
				"pass its id");
		assertFails(this.runner, TakesCode.class, "TakesCode#run(Runnable)",
				"argument 1 (code) cannot be stored: java.lang.Runnable is code", "pass the data");
	}

	@Test
	void typeVariablesAreKnownByTheBeansClass() {
		this.runner.withBean(TakesStrings.class).run((context) -> assertThat(context).hasNotFailed());
		assertFails(this.runner, TakesObjects.class, "Generic#run(Object, List, Object[])",
				"argument 1 (value) cannot be stored: java.lang.Object", "declare the type");
	}

	@Test
	void aMethodThatTheTypeOfTheBeanHidesIsRegisteredWhenTheBeanIsMade() {
		this.runner.withBean("hidden", Marker.class, Hidden::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(context.getBean(DurableHandlers.class).names()).isEmpty();
				context.getBean("hidden");
				assertThat(context.getBean(DurableHandlers.class).names()).containsExactly("hidden");
			});
	}

	@Test
	void cancellingANameOfAnotherApplicationIsOnlyWarnedOf(CapturedOutput output) {
		this.runner.withBean("culprit", CancelsUnknown.class).withBean("unrelated", Marker.class, () -> {
			throw new IllegalStateException("created although it is lazy");
		}, (definition) -> definition.setLazyInit(true)).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("CancelsUnknown#cancel(long)")
				.contains("@CancelDelayed names the task \"unknown\", which no @Delayed method has")
				.contains("Another application at the same store may have the name");
		});
	}

	private <T> void assertFails(ApplicationContextRunner runner, Class<T> bean, String method, String problem,
			String remedy) {
		runner.withBean("culprit", bean).run((context) -> {
			assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.message()
				.contains(method)
				.containsIgnoringCase(problem)
				.contains(remedy);
			FailureAnalysis analysis = StartFailures.analyze(context.getStartupFailure());
			assertThat(analysis.getDescription()).containsIgnoringCase(problem);
			assertThat(analysis.getAction()).containsIgnoringCase(remedy);
		});
	}

	static class Good {

		@Delayed(delay = "1h", name = "good", aliases = { "better", "best" }, durable = true)
		public void run(long id) {
		}

		@Delayed(delay = "1h", durable = true)
		public DelayedTask<Void> unnamed() {
			return DelayedTask.completed(null);
		}

	}

	static class InMemory {

		@Delayed("1h")
		public void run() {
		}

	}

	static class ReturnsFuture {

		@Delayed(delay = "1h", durable = true)
		public CompletableFuture<Void> run() {
			return null;
		}

	}

	static class ReturnsTaskOfString {

		@Delayed(delay = "1h", durable = true)
		public DelayedTask<String> run() {
			return null;
		}

	}

	static class ReturnsTaskOfAnything {

		@Delayed(delay = "1h", durable = true)
		public DelayedTask<?> run() {
			return null;
		}

	}

	@SuppressWarnings("rawtypes")
	static class ReturnsRawTask {

		@Delayed(delay = "1h", durable = true)
		public DelayedTask run() {
			return null;
		}

	}

	static class Aliases {

		@Delayed(delay = "1h", aliases = "earlier")
		public void run() {
		}

	}

	static class AliasIsName {

		@Delayed(delay = "1h", name = "other", aliases = "good", durable = true)
		public void run() {
		}

	}

	static class AliasIsAlias {

		@Delayed(delay = "1h", name = "other", aliases = "best", durable = true)
		public void run() {
		}

	}

	static class NameIsAlias {

		@Delayed(delay = "1h", name = "best", durable = true)
		public void run() {
		}

	}

	static class MemoryNameIsAlias {

		@Delayed(delay = "1h", name = "best")
		public void run() {
		}

	}

	static class InTwoBeans {

		@Delayed(delay = "1h", name = "twice", durable = true)
		public void run() {
		}

	}

	static class Named {

		@Delayed(delay = "1h", name = "${the.name:name}", aliases = "${the.alias:alias}", durable = true)
		public void run() {
		}

	}

	static class Report {

		@Recurring(every = "1h", name = "${the.report}", durable = true)
		public void run() {
		}

	}

	@Entity
	static class Customer {

	}

	static class TakesEntity {

		@Delayed(delay = "1h", durable = true)
		public void run(long id, Optional<Customer> customer) {
		}

	}

	static class TakesCode {

		@Delayed(delay = "1h", durable = true)
		public void run(Runnable code) {
		}

	}

	abstract static class Generic<T> {

		@Delayed(delay = "1h", durable = true)
		public void run(T value, List<T> list, T[] array) {
		}

	}

	static class TakesStrings extends Generic<String> {

	}

	static class TakesObjects extends Generic<Object> {

	}

	interface Marker {

	}

	static class Hidden implements Marker {

		@Delayed(delay = "1h", name = "hidden", durable = true)
		public void run() {
		}

	}

	static class CancelsUnknown {

		@CancelDelayed(name = "unknown", key = "#id")
		public void cancel(long id) {
		}

	}

}
