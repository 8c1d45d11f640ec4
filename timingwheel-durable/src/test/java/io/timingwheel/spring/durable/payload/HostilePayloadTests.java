package io.timingwheel.spring.durable.payload;

import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.DefaultTyping;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Checks payloads that an attacker has written into the store, for an application whose
 * own mapper trusts all JSON.
 */
class HostilePayloadTests {

	private static final AtomicInteger INSTANTIATED = new AtomicInteger();

	private static final String GADGET = Gadget.class.getName();

	private final PayloadCodec codec = new PayloadCodec(JsonMapper.builder()
		.activateDefaultTyping(BasicPolymorphicTypeValidator.builder().allowIfBaseType(Object.class).build(),
				DefaultTyping.NON_FINAL)
		.build(), 64 * 1024, List::of);

	@AfterEach
	void nothingWasInstantiated() {
		assertThat(INSTANTIATED).hasValue(0);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "null", "5", "{", "{}", "not JSON", "{\"args\":[1]}", "[1", "[1] {}", "[1]]",
			"[1],[1]", "[]", "[1,2]", "[null]", "[true]", "[{}]", "[[\"java.lang.Integer\",1]]", "[99999999999999]",
			"[1}", "[1E1000000000]" })
	void payloadsThatDoNotFitTheMethodAreUndecodable(String payload) {
		assertUndecodable("number", payload, "");
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
		assertUndecodable("number", Payloads.payload("\"secret\""),
				"Argument 1 (value) cannot be read: the JSON is no int (InvalidFormatException)");
		assertUndecodable("number", "secret", "The arguments of the payload are not JSON, or nested too deeply");
	}

	private void assertArgument(String type, String argument) {
		assertUndecodable(type, Payloads.payload(argument), "");
	}

	private void assertUndecodable(String type, String payload, String message) {
		assertThatExceptionOfType(UndecodablePayloadException.class)
			.isThrownBy(() -> Payloads.of(this.codec, Types.class, type).decode(payload))
			.satisfies((ex) -> assertThat(ex.getMessage()).isNotBlank().contains(message));
	}

	record Types(int number, BigInteger integer, String text, List<String> names, Map<String, String> texts,
			Named named, Plain plain, PayloadTypeTests.Tree tree) {
	}

	record Plain(int value) {
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
