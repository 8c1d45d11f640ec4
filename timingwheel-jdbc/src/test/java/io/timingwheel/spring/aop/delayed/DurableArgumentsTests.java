package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.durable.PayloadMigration;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.deser.std.StdDeserializer;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.std.StdSerializer;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * The arguments of a durable call reach the body as the caller gave them, also in another
 * release of the application, or the attempt fails.
 */
@ExtendWith(OutputCaptureExtension.class)
class DurableArgumentsTests {

	private static final BlockingQueue<Object> received = new LinkedBlockingQueue<>();

	private final MemoryStore store = new MemoryStore();

	private final Note note = new Note("ann", 3, Level.HIGH, new Money(150),
			Instant.parse("2026-01-01T00:00:00.123456789Z"));

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
				"spring.jackson.datatype.datetime.write-dates-as-timestamps=true",
				"spring.jackson.serialization.wrap-root-value=true", "spring.jackson.find-and-add-modules=false" };
		ApplicationContextRunner plain = runner(Notes.class);
		ApplicationContextRunner configured = plain.withPropertyValues(properties);
		for (List<ApplicationContextRunner> releases : List.of(List.of(plain, configured),
				List.of(configured, plain))) {
			releases.get(0).run((context) -> context.getBean(Notes.class).note(this.note));
			assertThat(this.store.payloads("note")).singleElement()
				.asString()
				.contains("\"150 ct\"", "\"2026-01-01T00:00:00.123456789Z\"");
			releases.get(1).run((context) -> moveToNow(context, "note"));
			assertThat(received).containsExactly(this.note);
			received.clear();
		}
	}

	@Test
	void aPayloadThatDoesNotFitFailsTheAttempt() {
		runner(Notes.class).run((context) -> context.getBean(Notes.class).note(this.note));
		runner(RenamedNotes.class).run((context) -> {
			reschedule(context, "note");
			await().untilAsserted(() -> assertThat(this.store.dead("note", 1)).singleElement()
				.extracting(StoredTask::error)
				.asString()
				.contains("the JSON has the property \"customerName\", which "));
		});
		assertThat(received).isEmpty();
	}

	@Test
	void aMigrationOrACallWithoutAMethodIsNamed(CapturedOutput output) {
		PayloadMigration unused = mock();
		given(unused.taskName()).willReturn("close-order");
		runner(Notes.class).withBean(PayloadMigration.class, () -> unused)
			.run((context) -> context.getBean(DelayedTaskTemplate.class).enqueue(TaskId.of("notes", 1), Duration.ZERO));
		assertThat(output).contains("The PayloadMigration for \"close-order\" is never called",
				"No durable method of this node is named \"notes\"");
	}

	private void moveToNow(ApplicationContext context, String name) {
		int before = received.size();
		reschedule(context, name);
		await().until(() -> received.size() > before);
		// Acknowledged, so that no later application runs the body again.
		await().until(() -> this.store.payloads(name).isEmpty());
	}

	private static void reschedule(ApplicationContext context, String name) {
		assertThat(context.getBean(DelayedTaskTemplate.class).reschedule(TaskId.of(name, 1), Duration.ZERO)).isTrue();
	}

	private ApplicationContextRunner runner(Class<?> release) {
		return DurableContexts.runner(this.store, release).withBean(MoneyModule.class);
	}

	static class Notes {

		@Delayed(delay = "1h", name = "note", key = "1", durable = true)
		public void note(Note note) {
			received.add(note);
		}

	}

	static class RenamedNotes {

		@Delayed(delay = "1h", name = "note", key = "1", durable = true)
		public void note(RenamedNote note) {
			received.add(note);
		}

	}

	enum Level {

		LOW, HIGH

	}

	record Note(String customerName, Integer retryCount, Level level, Money money, Instant time) {
	}

	record RenamedNote(String customer, Integer retryCount, Level level, Money money, Instant time) {
	}

	record Money(int cents) {
	}

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

}
