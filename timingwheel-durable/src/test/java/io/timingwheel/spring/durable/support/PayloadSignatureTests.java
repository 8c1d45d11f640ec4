package io.timingwheel.spring.durable.support;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

import io.timingwheel.spring.durable.PayloadMigration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Payloads of one signature of a method are read by another signature.
 */
class PayloadSignatureTests {

	private final List<String> migrated = new ArrayList<>();

	@Test
	void parametersAtTheEndThatMayBeNullAreNullInOlderPayloads() throws Exception {
		assertThat(codec().decode(handler("jspecify"), payload("1"))).containsExactly(1L, null, null);
		assertThat(codec().decode(handler("jspecify"), payload("1,\"a\""))).containsExactly(1L, "a", null);
		assertThat(codec().decode(handler("otherAnnotation"), payload("1"))).containsExactly(1L, null);
	}

	@Test
	void optionalParametersAtTheEndAreEmptyInOlderPayloads() throws Exception {
		assertThat(codec().decode(handler("optional"), payload("1"))).containsExactly(1L, Optional.empty(),
				OptionalInt.empty());
		assertThat(codec().decode(handler("optional"), payload("1,\"a\""))).containsExactly(1L, Optional.of("a"),
				OptionalInt.empty());
	}

	@ParameterizedTest
	@ValueSource(strings = { "primitive", "required", "nullablePrimitive", "requiredAfterOptional" })
	void otherParametersHaveNoDefault(String method) {
		assertUndecodable(handler(method), payload("1"), "The payload has 1 arguments, and the method takes");
		assertUndecodable(handler(method), payload("1"), "is neither @Nullable nor an Optional, so it has no default");
	}

	@Test
	void argumentsThatTheMethodDoesNotTakeAreNotDropped() {
		assertUndecodable(handler("jspecify"), payload("1,\"a\",2,3"),
				"The payload has 4 arguments, and the method takes 3");
	}

	@Test
	void aMigrationGetsTheArgumentsAsTheyAreStored() throws Exception {
		PayloadCodec codec = codec(migration("handler-of-required", "[7,\"b\"]"));
		assertThat(codec.decode(handler("required"), payload("1.10, {\"a\" : [1,2]},\"\u20ac\""))).containsExactly(7L,
				"b");
		assertThat(this.migrated).containsExactly("3 [1.10, {\"a\" : [1,2]},\"\u20ac\"]");
		assertThat(codec.decode(handler("required"), payload(""))).containsExactly(7L, "b");
		String longText = "\"" + "x".repeat(100_000) + "\"";
		assertThat(codec.decode(handler("required"), payload(longText))).containsExactly(7L, "b");
		assertThat(this.migrated).endsWith("0 []", "1 [" + longText + "]");
	}

	@Test
	void aMigrationIsNotAskedForPayloadsThatFit() throws Exception {
		PayloadCodec codec = codec(migration("handler-of-jspecify", "[7]"));
		assertThat(codec.decode(handler("jspecify"), payload("1"))).containsExactly(1L, null, null);
		assertThat(codec.decode(handler("jspecify"), payload("1,\"a\",2"))).containsExactly(1L, "a", 2);
		assertThat(this.migrated).isEmpty();
	}

	@Test
	void aMigrationAlsoGetsTypesThatDoNotFitAndItsResultMayUseDefaults() throws Exception {
		PayloadCodec codec = codec(migration("handler-of-jspecify", "[7]"));
		assertThat(codec.decode(handler("jspecify"), payload("\"text\""))).containsExactly(7L, null, null);
		assertThat(this.migrated).containsExactly("1 [\"text\"]");
	}

	@Test
	void aMigrationMayHaveTheNameOfAnAlias() throws Exception {
		assertThat(codec(migration("earlier-required", "[7,\"b\"]")).decode(handler("required"), payload("1")))
			.containsExactly(7L, "b");
		assertUndecodable(codec(migration("handler-of-optional", "[7,\"b\"]")), handler("required"), payload("1"),
				"The payload has 1 arguments");
	}

	@ParameterizedTest
	@ValueSource(strings = { "not JSON", "{\"v\":1,\"args\":[1", "{\"v\":2,\"args\":[1]}",
			"{\"v\":1,\"handler\":\"another\",\"args\":[1]}", "{\"v\":1,\"args\":[1]}]", "{\"v\":1,\"args\":1}" })
	void aDamagedPayloadIsNotMigrated(String payload) {
		PayloadCodec codec = codec(migration("handler-of-required", "[7,\"b\"]"));
		assertUndecodable(codec, handler("required"), payload, "payload");
		assertThat(this.migrated).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "not JSON", "7", "{}", "[7", "[7,\"b\"] 1", "[7]", "[7,\"b\",8]", "[\"x\",\"b\"]" })
	void aResultThatDoesNotFitIsUndecodable(String result) {
		assertUndecodable(codec(migration("handler-of-required", result)), handler("required"), payload("1"),
				"After the PayloadMigration for \"handler-of-required\" from 1 arguments: ");
	}

	@Test
	void aMigrationThatFailsIsNamedWithItsReason() {
		PayloadCodec codec = codec(new PayloadMigration() {
			@Override
			public String taskName() {
				return "handler-of-required";
			}

			@Override
			public String migrate(int arity, String arguments) throws IOException {
				if (arity == 1) {
					throw new IOException("no such order");
				}
				return null;
			}
		});
		assertUndecodable(codec, handler("required"), payload("1"),
				"The PayloadMigration for \"handler-of-required\" failed with 1 arguments:"
						+ " java.io.IOException: no such order");
		assertUndecodable(codec, handler("required"), payload(""), "it returned null instead of a JSON array");
	}

	@Test
	void newCallsAreNotMigrated() {
		PayloadCodec codec = codec(migration("handler-of-required", "[7,\"b\"]"));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> codec.encode(handler("required"), new Object[] { "text", "b" }))
			.withMessageContaining("cannot be read back: Argument 1 (id)");
		assertThatIllegalArgumentException().isThrownBy(() -> codec.encode(handler("optional"), new Object[] { 1L }))
			.withMessage("The durable task \"handler-of-optional\" takes 3 arguments, not 1");
		assertThat(this.migrated).isEmpty();
	}

	@Test
	void twoMigrationsOfOneNameAreRefused() {
		PayloadCodec codec = codec(migration("same", "[]"), migration("same", "[]"));
		assertThatIllegalStateException().isThrownBy(() -> codec.checkMigrations(new DurableHandlerRegistry()))
			.withMessageContaining("\"same\" has two beans of the type PayloadMigration")
			.withMessageContaining("make them one");
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

	private static PayloadCodec codec(PayloadMigration... migrations) {
		return new PayloadCodec(JsonMapper.builder().build(), 1024, () -> List.of(migrations));
	}

	private static void assertUndecodable(DurableHandler handler, String payload, String message) {
		assertUndecodable(codec(), handler, payload, message);
	}

	private static void assertUndecodable(PayloadCodec codec, DurableHandler handler, String payload, String message) {
		assertThatExceptionOfType(UndecodablePayloadException.class).isThrownBy(() -> codec.decode(handler, payload))
			.withMessageContaining(message);
	}

	private static DurableHandler handler(String method) {
		return MethodHandler.of(Signatures.class, method);
	}

	private static String payload(String arguments) {
		return "{\"v\":1,\"args\":[" + arguments + "]}";
	}

	@SuppressWarnings("unused")
	static class Signatures {

		void jspecify(long id, @org.jspecify.annotations.Nullable String reason,
				@org.jspecify.annotations.Nullable Integer count) {
		}

		void otherAnnotation(long id, @Nullable String reason) {
		}

		void optional(long id, Optional<String> reason, OptionalInt count) {
		}

		void primitive(long id, int count) {
		}

		void required(long id, String reason) {
		}

		void nullablePrimitive(long id, @Nullable int count) {
		}

		void requiredAfterOptional(long id, Optional<String> reason, String required) {
		}

	}

	/**
	 * Another annotation of the same simple name.
	 */
	@Target(ElementType.PARAMETER)
	@Retention(RetentionPolicy.RUNTIME)
	@interface Nullable {

	}

}
