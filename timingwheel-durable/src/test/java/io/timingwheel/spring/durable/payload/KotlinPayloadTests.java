package io.timingwheel.spring.durable.payload;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.module.kotlin.KotlinModule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Arguments of methods that are written in Kotlin.
 */
class KotlinPayloadTests {

	private final HandlerCodec codec = new HandlerCodec(
			JsonMapper.builder().addModule(new KotlinModule.Builder().build()).build(), 1024, List::of);

	@Test
	void dataClassesComeBackUnchanged() throws Exception {
		Handler handler = handler("order");
		this.codec.payloads(handler);
		KotlinOrder order = new KotlinOrder(1, null, List.of("a"));
		assertThat(this.codec.decode(handler, this.codec.encode(handler, new Object[] { order })))
			.containsExactly(order);
	}

	@Test
	void nullableParametersAreNullInOlderPayloads() throws Exception {
		assertThat(this.codec.decode(handler("nullable"), handler("nullable").payload("1"))).containsExactly(1L, null,
				null);
		assertThatExceptionOfType(UndecodablePayloadException.class)
			.isThrownBy(() -> this.codec.decode(handler("withDefault"), handler("withDefault").payload("1")))
			.withMessageContaining("Argument 2 (reason) is neither @Nullable");
	}

	private static Handler handler(String name) {
		Method method = Arrays.stream(KotlinSignatures.class.getDeclaredMethods())
			.filter((candidate) -> candidate.getName().equals(name))
			.findFirst()
			.orElseThrow();
		return new Handler(name, List.of(), method);
	}

}
