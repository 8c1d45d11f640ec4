package io.timingwheel.spring.aop.delayed;

import java.math.BigDecimal;
import java.sql.Timestamp;
import java.time.Duration;
import java.util.Calendar;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.durable.DurableTaskAdmin;
import io.timingwheel.spring.durable.PayloadMigration;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.deser.std.StdDeserializer;
import tools.jackson.databind.ser.std.StdSerializer;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * The arguments of a durable call reach the body as the caller gave them, also in another
 * release of the application, or the attempt fails.
 */
class DurableArgumentsTests {

	private static final TaskId NOTE = TaskId.of("note", 1);

	private static final BlockingQueue<Object> received = new LinkedBlockingQueue<>();

	private final MemoryStore store = new MemoryStore();

	@BeforeEach
	void reset() {
		received.clear();
	}

	@Test
	void payloadsDoNotDependOnTheJsonSettingsOfTheApplication() {
		String[] properties = { "spring.jackson.property-naming-strategy=SNAKE_CASE",
				"spring.jackson.default-property-inclusion=non_default", "spring.jackson.visibility.creator=none",
				"spring.jackson.visibility.getter=none", "spring.jackson.json.write.write-numbers-as-strings=true",
				"spring.jackson.datatype.enum.write-enums-using-index=true",
				"spring.jackson.find-and-add-modules=false" };
		Note note = new Note("ann", 3, Level.HIGH, new Money(150));
		run(Release.class, (context) -> context.getBean(Release.class).note(note));
		run(Release.class, DurableArgumentsTests::moveToNow, properties);
		assertThat(received).containsExactly(note);
		received.clear();
		run(Release.class, (context) -> context.getBean(Release.class).note(note), properties);
		run(Release.class, DurableArgumentsTests::moveToNow);
		assertThat(received).containsExactly(note);
	}

	@Test
	void aComponentThatTheClassDoesNotHaveFailsTheAttempt() {
		storeNote();
		run(Renamed.class, (context) -> {
			reschedule(context);
			DurableTaskAdmin admin = context.getBean(DurableTaskAdmin.class);
			await().until(() -> !admin.findDead("note", 1).isEmpty());
			assertThat(admin.findDead("note", 1)).extracting(StoredTask::error)
				.allSatisfy((error) -> assertThat(error).contains("the JSON has the property \"customerName\", which ")
					.contains("RenamedNote does not have"));
		});
		assertThat(received).isEmpty();
	}

	@Test
	void aComponentThatTheClassDoesNotHaveIsMigrated() {
		storeNote();
		run(runner(Renamed.class).withBean(RenamedMigration.class), DurableArgumentsTests::moveToNow);
		assertThat(received).containsExactly(new RenamedNote("ann", 3));
	}

	@Test
	void aClassMayIgnoreWhatItDoesNotHaveAndWhatIsMissingMayBeNull() {
		storeNote();
		run(Lenient.class, DurableArgumentsTests::moveToNow);
		assertThat(received).containsExactly(new LenientNote("ann", null, Optional.empty()));
	}

	@Test
	void aMissingPrimitiveComponentFailsTheAttempt() {
		storeNote();
		run(Primitive.class, (context) -> {
			reschedule(context);
			DurableTaskAdmin admin = context.getBean(DurableTaskAdmin.class);
			await().until(() -> !admin.findDead("note", 1).isEmpty());
			assertThat(admin.findDead("note", 1)).extracting(StoredTask::error)
				.allSatisfy((error) -> assertThat(error).contains("PrimitiveNote", " at priority)"));
		});
		assertThat(received).isEmpty();
	}

	@Test
	void aValueThatJsonLosesIsRefusedAtTheCall() {
		run(Values.class, (context) -> {
			Values values = context.getBean(Values.class);
			Timestamp nanos = Timestamp.valueOf("2026-01-01 10:00:00.123456789");
			assertThatIllegalArgumentException().isThrownBy(() -> values.date(nanos))
				.withMessage("Argument 1 (date) of the durable task \"date\" cannot be stored: java.sql.Timestamp loses"
						+ " its nanoseconds in JSON; declare Instant or LocalDateTime");
			assertThatIllegalArgumentException().isThrownBy(() -> values.pair(new Pair("a", new SubMoney(5))))
				.withMessageContaining("Argument 1 (pair) of the durable task \"pair\" changes when it is written")
				.withMessageContaining("the first difference is at Pair.money");
			Calendar calendar = Calendar.getInstance();
			assertThatIllegalArgumentException()
				.isThrownBy(() -> context.getBean(DelayedTaskTemplate.class)
					.enqueue(TaskId.of("far", 1), Duration.ofHours(1), calendar))
				.withMessageContaining("loses its zone in JSON; declare ZonedDateTime");
			assertThat(this.store.payloads("date")).isEmpty();
			values.number(5L);
			values.number(new BigDecimal("1.50"));
			for (Object expected : List.of(5, new BigDecimal("1.50"))) {
				await().untilAsserted(() -> assertThat(received).contains(expected));
			}
		});
		received.clear();
	}

	private void storeNote() {
		run(Release.class,
				(context) -> context.getBean(Release.class).note(new Note("ann", 3, Level.LOW, new Money(1))));
	}

	private static void moveToNow(ApplicationContext context) {
		reschedule(context);
		await().until(() -> !received.isEmpty());
		// Acknowledged, so that no later application runs the body again.
		await().until(() -> context.getBean(MemoryStore.class).payloads("note").isEmpty());
	}

	private static void reschedule(ApplicationContext context) {
		assertThat(context.getBean(DelayedTaskTemplate.class).reschedule(NOTE, Duration.ZERO)).isTrue();
	}

	private void run(Class<?> release, Consumer<ApplicationContext> action, String... properties) {
		run(runner(release).withPropertyValues(properties), action);
	}

	private static void run(ApplicationContextRunner runner, Consumer<ApplicationContext> action) {
		runner.run((context) -> {
			assertThat(context).hasNotFailed();
			action.accept(context);
		});
	}

	private ApplicationContextRunner runner(Class<?> release) {
		return DurableContexts.runner(this.store, release).withBean(MoneyModule.class);
	}

	static class Release {

		@Delayed(delay = "1h", name = "note", key = "1", durable = true)
		public void note(Note note) {
			received.add(note);
		}

	}

	static class Renamed {

		@Delayed(delay = "1h", name = "note", key = "1", durable = true)
		public void note(RenamedNote note) {
			received.add(note);
		}

	}

	static class Lenient {

		@Delayed(delay = "1h", name = "note", key = "1", durable = true)
		public void note(LenientNote note) {
			received.add(note);
		}

	}

	static class Primitive {

		@Delayed(delay = "1h", name = "note", key = "1", durable = true)
		public void note(PrimitiveNote note) {
			received.add(note);
		}

	}

	static class Values {

		@Delayed(delay = "1ms", name = "date", durable = true)
		public void date(Date date) {
			received.add(date);
		}

		@Delayed(delay = "1ms", name = "number", durable = true)
		public void number(Number number) {
			received.add(number);
		}

		@Delayed(delay = "1ms", name = "pair", durable = true)
		public void pair(Pair pair) {
			received.add(pair);
		}

	}

	enum Level {

		LOW, HIGH

	}

	record Note(String customerName, Integer retryCount, Level level, Money money) {
	}

	@JsonIgnoreProperties({ "level", "money" })
	record RenamedNote(String customer, Integer retryCount) {
	}

	@JsonIgnoreProperties(ignoreUnknown = true)
	record LenientNote(String customerName, @Nullable String remark, Optional<String> more) {
	}

	@JsonIgnoreProperties(ignoreUnknown = true)
	record PrimitiveNote(String customerName, int priority) {
	}

	record Pair(String name, Money money) {
	}

	static class Money {

		private final int cents;

		Money(int cents) {
			this.cents = cents;
		}

		@Override
		public boolean equals(Object other) {
			return other instanceof Money money && money.cents == this.cents;
		}

		@Override
		public int hashCode() {
			return this.cents;
		}

	}

	static class SubMoney extends Money {

		SubMoney(int cents) {
			super(cents);
		}

	}

	/**
	 * Without this module no money can be stored.
	 */
	static class MoneyModule extends SimpleModule {

		MoneyModule() {
			super("money");
			addSerializer(Money.class, new StdSerializer<Money>(Money.class) {
				@Override
				public void serialize(Money value, JsonGenerator generator, SerializationContext context) {
					generator.writeString(value.cents + " ct");
				}
			});
			addDeserializer(Money.class, new StdDeserializer<Money>(Money.class) {
				@Override
				public Money deserialize(JsonParser parser, DeserializationContext context) {
					return new Money(Integer.parseInt(parser.getString().replace(" ct", "")));
				}
			});
		}

	}

	static class RenamedMigration implements PayloadMigration {

		@Override
		public String taskName() {
			return "note";
		}

		@Override
		public String migrate(int arity, String arguments) {
			return arguments.replace("customerName", "customer");
		}

	}

}
