package io.timingwheel.spring.durable.support;

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
	@ValueSource(strings = { "", " ", "null", "5", "[]", "{", "{}", "not JSON", "{\"v\":1}", "{\"v\":1,\"args\":null}",
			"{\"v\":1,\"args\":{}}", "{\"v\":1,\"args\":[1", "{\"v\":1,\"args\":[]}", "{\"v\":1,\"args\":[1,2]}",
			"{\"v\":1,\"args\":[1]} {\"v\":1}", "{\"v\":1,\"args\":[1]}]", "{\"v\":1,\"args\":[1],\"args\":[2]}",
			"{\"v\":2,\"args\":[1]}", "{\"v\":\"1\",\"args\":[1]}", "{\"v\":1.0,\"args\":[1]}",
			"{\"args\":[1],\"v\":1}", "{\"v\":99999999999999999999,\"args\":[1]}",
			"{\"v\":1,\"args\":[1],\"more\":true}", "{\"v\":1,\"handler\":\"another\",\"args\":[1]}",
			"{\"v\":1,\"handler\":null,\"args\":[1]}", "{\"v\":1,\"args\":[null]}", "{\"v\":1,\"args\":[true]}",
			"{\"v\":1,\"args\":[{}]}", "{\"v\":1,\"args\":[[\"java.lang.Integer\",1]]}",
			"{\"v\":1,\"args\":[99999999999999]}" })
	void payloadsThatDoNotFitTheHandlerAreUndecodable(String payload) {
		assertUndecodable("number", payload);
	}

	@Test
	void aPayloadOfTheHandlerIsDecodable() throws Exception {
		assertThat(this.codec.decode(handler("number"), "{\"v\":1,\"args\":[1]}")).containsExactly(1);
		assertThat(this.codec.decode(handler("number"),
				" {\"v\" : 1,\n\"args\" : [ 1 ], \"handler\" : \"earlier-number\" } "))
			.containsExactly(1);
	}

	@Test
	void classNamesInstantiateNothing() throws Exception {
		for (String gadget : List.of("[\"%s\",{}]", "{\"@class\":\"%s\"}", "{\"@c\":\"%s\"}", "{\"@type\":\"%s\"}")) {
			String json = gadget.formatted(GADGET);
			assertUndecodable("text", payload(json));
			assertUndecodable("names", payload("[" + json + "]"));
			assertUndecodable("texts", payload("{\"a\":" + json + "}"));
			assertUndecodable("named", payload(json));
			assertUndecodable("anything", payload(json));
		}
		assertUndecodable("type", payload("\"" + GADGET + "\""));
		assertUndecodable("plain", payload("{\"@class\":\"" + GADGET + "\",\"value\":3}"));
	}

	@Test
	void deepNestingIsUndecodable() {
		int depth = 30_000;
		assertUndecodable("tree", payload("[".repeat(depth) + "]".repeat(depth)));
		assertUndecodable("plain", payload("{\"other\":" + "[".repeat(depth) + "]".repeat(depth) + "}"));
		assertUndecodable("tree", payload("{\"children\":[".repeat(depth)));
	}

	@Test
	void hugeNumbersAreUndecodable() {
		assertUndecodable("integer", payload("9".repeat(60_000)));
		assertUndecodable("integer", payload("1E1000000000"));
		assertUndecodable("number", payload("1E1000000000"));
	}

	@Test
	void reasonsQuoteNothingOfThePayload() {
		assertThatExceptionOfType(UndecodablePayloadException.class)
			.isThrownBy(() -> this.codec.decode(handler("number"), payload("\"secret\"")))
			.withMessage("Argument 1 (number) cannot be read: the JSON is no int (InvalidFormatException)");
		assertThatExceptionOfType(UndecodablePayloadException.class)
			.isThrownBy(() -> this.codec.decode(handler("number"), "secret"))
			.withMessage("The payload is not JSON, or nested too deeply");
	}

	private void assertUndecodable(String method, String payload) {
		assertThatExceptionOfType(UndecodablePayloadException.class)
			.isThrownBy(() -> this.codec.decode(handler(method), payload))
			.satisfies((ex) -> assertThat(ex.getMessage()).isNotBlank());
	}

	private static DurableHandler handler(String method) {
		return MethodHandler.of(Signatures.class, method);
	}

	private static String payload(String argument) {
		return "{\"v\":1,\"args\":[" + argument + "]}";
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

		void anything(Object anything) {
		}

		void type(Class<?> type) {
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
