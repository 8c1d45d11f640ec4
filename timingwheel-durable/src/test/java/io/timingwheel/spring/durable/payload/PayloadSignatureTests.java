package io.timingwheel.spring.durable.payload;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.timingwheel.spring.durable.PayloadMigration;
import io.timingwheel.spring.durable.payload.MethodPayloads.UndecodablePayloadException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.DefaultTyping;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;
import tools.jackson.module.kotlin.KotlinModule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Payloads of an earlier signature of a method get defaults or are migrated, or they are
 * undecodable, as are those that an attacker has written into the store.
 */
class PayloadSignatureTests {

	private static final AtomicInteger INSTANTIATED = new AtomicInteger();

	private static final String GADGET = Gadget.class.getName();

	/** Of an application whose own mapper trusts all JSON. */
	private final PayloadCodec trusting = new PayloadCodec(JsonMapper.builder()
		.activateDefaultTyping(BasicPolymorphicTypeValidator.builder().allowIfBaseType(Object.class).build(),
				DefaultTyping.NON_FINAL)
		.build(), 64 * 1024, List::of);

	private final List<String> migrated = new ArrayList<>();

	@Test
	void parametersAtTheEndThatMayBeNullAreNullInOlderPayloads() throws Exception {
		assertThat(decode("jspecify", "1")).containsExactly(1L, null, null);
		assertThat(decode("jspecify", "1,\"a\"")).containsExactly(1L, "a", null);
		assertThat(decode("otherAnnotation", "1")).containsExactly(1L, null);
		assertThat(decode("optional", "1")).containsExactly(1L, Optional.empty(), OptionalInt.empty());
		assertThat(decode("optional", "1,\"a\"")).containsExactly(1L, Optional.of("a"), OptionalInt.empty());
	}

	@ParameterizedTest
	@ValueSource(strings = { "primitive", "required", "nullablePrimitive", "requiredAfterOptional" })
	void otherParametersHaveNoDefault(String method) {
		assertUndecodable(method, "1", "The payload has 1 arguments, and the method takes");
		assertUndecodable(method, "1", "is neither @Nullable nor an Optional, so it has no default");
	}

	@Test
	void argumentsInKotlinComeBackAndNullableParametersAreNullInOlderPayloads() throws Exception {
		KotlinOrder order = new KotlinOrder(1, null, List.of("a"));
		assertThat(kotlin("order").decode(kotlin("order").encode(new Object[] { order }))).containsExactly(order);
		assertThat(kotlin("nullable").decode(Payloads.payload("1"))).containsExactly(1L, null, null);
		assertThatExceptionOfType(UndecodablePayloadException.class)
			.isThrownBy(() -> kotlin("withDefault").decode(Payloads.payload("1")))
			.withMessageContaining("Argument 2 (reason) is neither @Nullable");
	}

	private static MethodPayloads kotlin(String method) {
		PayloadCodec codec = new PayloadCodec(
				JsonMapper.builder().addModule(new KotlinModule.Builder().build()).build(), 1024, List::of);
		return Payloads.ofMethod(codec, KotlinSignatures.class, method);
	}

	@Test
	void argumentsThatTheMethodDoesNotTakeAreNotDropped() {
		assertUndecodable("jspecify", "1,\"a\",2,3", "The payload has 4 arguments, and the method takes 3");
	}

	@Test
	void anObjectOfAnotherReleaseFitsIfItsClassSaysSoOrIsMigrated() throws Exception {
		String note = "{\"customer\":\"ann\",\"retries\":3}";
		assertUndecodable("note", note, "the JSON has the property \"retries\", which ");
		assertThat(decode("note", note, migration("task", "[{\"customer\":\"bob\"}]")))
			.containsExactly(new Note("bob", Optional.empty()));
		assertThat(decode("lenientNote", note)).containsExactly(new LenientNote("ann", null));
		assertUndecodable("urgentNote", note, " at priority)");
	}

	@Test
	void aMigrationGetsTheArgumentsAsTheyAreStored() throws Exception {
		PayloadMigration migration = migration("task", "[7,\"b\"]");
		String longText = "\"" + "x".repeat(100_000) + "\"";
		for (String arguments : List.of("1.10, {\"a\" : [1,2]},\"\u20ac\"", "", longText)) {
			assertThat(decode("required", arguments, migration)).containsExactly(7L, "b");
		}
		assertThat(this.migrated).containsExactly("3 [1.10, {\"a\" : [1,2]},\"\u20ac\"]", "0 []",
				"1 [" + longText + "]");
	}

	@Test
	void aMigrationIsNotAskedForPayloadsThatFit() throws Exception {
		PayloadMigration migration = migration("task", "[7]");
		assertThat(decode("jspecify", "1", migration)).containsExactly(1L, null, null);
		assertThat(decode("jspecify", "1,\"a\",2", migration)).containsExactly(1L, "a", 2);
		assertThat(this.migrated).isEmpty();
		assertThat(decode("jspecify", "\"text\"", migration)).containsExactly(7L, null, null);
		assertThat(this.migrated).containsExactly("1 [\"text\"]");
	}

	@Test
	void aMigrationMayHaveTheNameOfAnAlias() throws Exception {
		assertThat(decode("required", "1", migration("earlier", "[7,\"b\"]"))).containsExactly(7L, "b");
		assertUndecodable("required", "1", "The payload has 1 arguments", migration("another", "[7,\"b\"]"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "not JSON", "[1", "1", "{\"args\":[1]}" })
	void aDamagedPayloadIsNotMigrated(String payload) {
		assertThatExceptionOfType(UndecodablePayloadException.class)
			.isThrownBy(() -> payloads("required", migration("task", "[7,\"b\"]")).decode(payload));
		assertThat(this.migrated).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "not JSON", "7", "{}", "[7", "[7,\"b\"] 1", "[7]", "[7,\"b\",8]", "[\"x\",\"b\"]" })
	void aResultThatDoesNotFitIsUndecodable(String result) {
		assertUndecodable("required", "1", "The PayloadMigration for \"task\" has not made 1 arguments fit: ",
				migration("task", result));
	}

	@Test
	void aMigrationThatFailsIsNamedWithItsReason() {
		PayloadMigration failing = new PayloadMigration() {
			@Override
			public String taskName() {
				return "task";
			}

			@Override
			public String migrate(int arity, String arguments) throws IOException {
				throw new IOException("no such order");
			}
		};
		assertUndecodable("required", "1",
				"The PayloadMigration for \"task\" has not made 1 arguments fit: java.io.IOException: no such order",
				failing);
		assertUndecodable("required", "", "it returned null instead of a JSON array", migration("task", null));
	}

	@Test
	void newCallsAreNotMigrated() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> payloads("required", migration("task", "[7,\"b\"]")).encode(new Object[] { "text", "b" }))
			.withMessageContaining("cannot be read back: Argument 1 (id)");
		assertThat(this.migrated).isEmpty();
	}

	@Test
	void twoMigrationsOfOneNameAreRefused() {
		PayloadCodec codec = Payloads.codec(migration("same", "[]"), migration("same", "[]"));
		assertThatIllegalStateException().isThrownBy(() -> codec.checkMigrations(List.of()))
			.withMessageContaining("\"same\" has two beans of the type PayloadMigration")
			.withMessageContaining("make them one");
	}

	@AfterEach
	void nothingWasInstantiated() {
		assertThat(INSTANTIATED).hasValue(0);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "null", "5", "{", "{}", "not JSON", "{\"args\":[1]}", "[1", "[1] {}", "[1]]",
			"[1],[1]", "[]", "[1,2]", "[null]", "[true]", "[{}]", "[[\"java.lang.Integer\",1]]", "[99999999999999]",
			"[1}", "[1E1000000000]" })
	void payloadsThatDoNotFitTheMethodAreUndecodable(String payload) {
		assertHostile("number", payload, "");
	}

	@Test
	void classNamesInstantiateNothing() {
		for (String gadget : List.of("[\"%s\",{}]", "{\"@class\":\"%s\"}", "{\"@c\":\"%s\"}", "{\"@type\":\"%s\"}")) {
			String json = gadget.formatted(GADGET);
			assertArgument("text", json);
			assertArgument("names", "[" + json + "]");
			assertArgument("texts", "{\"a\":" + json + "}");
			assertArgument("named", json);
		}
		assertArgument("plain", "{\"@class\":\"" + GADGET + "\",\"value\":3}");
	}

	@Test
	void whatIsWrittenHasNoClassNames() {
		assertThat(Payloads.of(this.trusting, Types.class, "names").encode(new Object[] { List.of("a") }))
			.isEqualTo("[[\"a\"]]");
		assertThat(Payloads.of(this.trusting, Types.class, "bean").encode(new Object[] { new Bean() }))
			.isEqualTo("[{\"value\":3}]");
	}

	@Test
	void deepNestingAndHugeNumbersAreUndecodable() {
		int depth = 30_000;
		assertArgument("tree", "[".repeat(depth) + "]".repeat(depth));
		assertArgument("plain", "{\"other\":" + "[".repeat(depth) + "]".repeat(depth) + "}");
		assertArgument("tree", "{\"children\":[".repeat(depth));
		assertArgument("integer", "9".repeat(60_000));
		assertArgument("integer", "1E1000000000");
	}

	@Test
	void reasonsQuoteNothingOfThePayload() {
		assertHostile("number", Payloads.payload("\"secret\""),
				"Argument 1 (value) cannot be read: the JSON is no int (InvalidFormatException)");
		assertHostile("number", "secret", "The arguments of the payload are not JSON, or nested too deeply");
	}

	private void assertArgument(String type, String argument) {
		assertHostile(type, Payloads.payload(argument), "");
	}

	private void assertHostile(String type, String payload, String message) {
		assertThatExceptionOfType(UndecodablePayloadException.class)
			.isThrownBy(() -> Payloads.of(this.trusting, Types.class, type).decode(payload))
			.satisfies((ex) -> assertThat(ex.getMessage()).isNotBlank().contains(message));
	}

	private PayloadMigration migration(String name, String result) {
		return new PayloadMigration() {
			@Override
			public String taskName() {
				return name;
			}

			@Override
			public String migrate(int arity, String arguments) {
				PayloadSignatureTests.this.migrated.add(arity + " " + arguments);
				return result;
			}
		};
	}

	private static MethodPayloads payloads(String method, PayloadMigration... migrations) {
		return Payloads.ofMethod(Payloads.codec(migrations), Signatures.class, method);
	}

	private static Object[] decode(String method, String arguments, PayloadMigration... migrations)
			throws UndecodablePayloadException {
		return payloads(method, migrations).decode(Payloads.payload(arguments));
	}

	private static void assertUndecodable(String method, String arguments, String message,
			PayloadMigration... migrations) {
		assertThatExceptionOfType(UndecodablePayloadException.class)
			.isThrownBy(() -> decode(method, arguments, migrations))
			.withMessageContaining(message);
	}

	@SuppressWarnings("unused")
	interface Signatures {

		void jspecify(long id, @org.jspecify.annotations.Nullable String reason,
				@org.jspecify.annotations.Nullable Integer count);

		void otherAnnotation(long id, @Nullable String reason);

		void optional(long id, Optional<String> reason, OptionalInt count);

		void primitive(long id, int count);

		void required(long id, String reason);

		void nullablePrimitive(long id, @Nullable int count);

		void requiredAfterOptional(long id, Optional<String> reason, String required);

		void note(Note note);

		void lenientNote(LenientNote note);

		void urgentNote(UrgentNote note);

	}

	record Note(String customer, Optional<String> remark) {
	}

	@JsonIgnoreProperties(ignoreUnknown = true)
	record LenientNote(String customer, String remark) {
	}

	@JsonIgnoreProperties(ignoreUnknown = true)
	record UrgentNote(String customer, int priority) {
	}

	/** Another annotation of the same simple name. */
	@Target(ElementType.PARAMETER)
	@Retention(RetentionPolicy.RUNTIME)
	@interface Nullable {

	}

	record Types(int number, BigInteger integer, String text, List<String> names, Map<String, String> texts,
			Named named, Plain plain, PayloadTypeTests.Tree tree, Bean bean) {
	}

	record Plain(int value) {
	}

	static class Bean {

		public int value = 3;

	}

	@JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
	@JsonSubTypes(@JsonSubTypes.Type(Harmless.class))
	interface Named {

	}

	record Harmless(int value) implements Named {
	}

	static class Gadget implements Named {

		Gadget() {
			INSTANTIATED.incrementAndGet();
		}

	}

}
