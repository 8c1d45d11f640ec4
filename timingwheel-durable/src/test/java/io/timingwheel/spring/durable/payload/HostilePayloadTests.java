package io.timingwheel.spring.durable.payload;

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

	private final HandlerCodec codec = new HandlerCodec(JsonMapper.builder()
		.activateDefaultTyping(BasicPolymorphicTypeValidator.builder().allowIfBaseType(Object.class).build(),
				DefaultTyping.NON_FINAL)
		.build(), 64 * 1024, List::of);

	@AfterEach
	void nothingWasInstantiated() {
		assertThat(INSTANTIATED).hasValue(0);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "null", "5", "[]", "{", "{}", "not JSON", "{\"v\":1}",
			"{\"v\":1,\"handler\":\"handler-of-number\"}", "{\"v\":1,\"handler\":\"handler-of-number\",\"args\":",
			"{\"v\":1,\"handler\":\"handler-of-number\",\"args\":}", "{\"v\":1,\"args\":[1]}",
			"{\"v\":2,\"handler\":\"handler-of-number\",\"args\":[1]}",
			"{\"v\":1,\"handler\":\"another\",\"args\":[1]}",
			"{\"handler\":\"handler-of-number\",\"args\":[1],\"v\":1}",
			"{\"v\":1,\"handler\":\"handler-of-number\",\"args\":[1]} {\"v\":1}",
			"{\"v\":1,\"handler\":\"handler-of-number\",\"args\":[1]}]",
			"{\"v\":1,\"handler\":\"handler-of-number\",\"args\":[1],\"args\":[2]}" })
	void payloadsThatThisLibraryHasNotWrittenAreUndecodable(String payload) {
		assertUndecodable("number", payload);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "1,2", "null", "true", "{}", "[\"java.lang.Integer\",1]", "99999999999999", "1]]",
			"1],[1", "1}" })
	void argumentsThatDoNotFitTheMethodAreUndecodable(String arguments) {
		assertUndecodable("number", handler("number").payload(arguments));
	}

	@Test
	void aPayloadOfAnEarlierNameIsDecodable() throws Exception {
		assertThat(this.codec.decode(handler("number"), "{\"v\":1,\"handler\":\"earlier-number\",\"args\":[ 1 ]}"))
			.containsExactly(1);
	}

	@Test
	void classNamesInstantiateNothing() throws Exception {
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
	void deepNestingIsUndecodable() {
		int depth = 30_000;
		assertArgument("tree", "[".repeat(depth) + "]".repeat(depth));
		assertArgument("plain", "{\"other\":" + "[".repeat(depth) + "]".repeat(depth) + "}");
		assertArgument("tree", "{\"children\":[".repeat(depth));
	}

	@Test
	void hugeNumbersAreUndecodable() {
		assertArgument("integer", "9".repeat(60_000));
		assertArgument("integer", "1E1000000000");
		assertArgument("number", "1E1000000000");
	}

	@Test
	void reasonsQuoteNothingOfThePayload() {
		assertThatExceptionOfType(UndecodablePayloadException.class)
			.isThrownBy(() -> this.codec.decode(handler("number"), handler("number").payload("\"secret\"")))
			.withMessage("Argument 1 (number) cannot be read: the JSON is no int (InvalidFormatException)");
		assertThatExceptionOfType(UndecodablePayloadException.class)
			.isThrownBy(() -> this.codec.decode(handler("number"), "secret"))
			.withMessage("The payload does not begin as a payload of this method does");
	}

	private void assertUndecodable(String method, String payload) {
		assertThatExceptionOfType(UndecodablePayloadException.class)
			.isThrownBy(() -> this.codec.decode(handler(method), payload))
			.satisfies((ex) -> assertThat(ex.getMessage()).isNotBlank());
	}

	private static Handler handler(String method) {
		return Handler.of(Signatures.class, method);
	}

	private void assertArgument(String method, String argument) {
		assertUndecodable(method, handler(method).payload(argument));
	}

	@SuppressWarnings("unused")
	static class Signatures {

		void number(int number) {
		}

		void integer(java.math.BigInteger integer) {
		}

		void text(String text) {
		}

		void names(List<String> names) {
		}

		void texts(Map<String, String> texts) {
		}

		void named(Named named) {
		}

		void plain(Plain plain) {
		}

		void tree(PayloadTypeTests.Tree tree) {
		}

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
