package io.timingwheel.spring.durable.payload;

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

	@Test
	void dataClassesComeBackUnchanged() throws Exception {
		KotlinOrder order = new KotlinOrder(1, null, List.of("a"));
		assertThat(payloads("order").decode(payloads("order").encode(new Object[] { order }))).containsExactly(order);
	}

	@Test
	void nullableParametersAreNullInOlderPayloads() throws Exception {
		assertThat(payloads("nullable").decode(Payloads.payload("1"))).containsExactly(1L, null, null);
		assertThatExceptionOfType(UndecodablePayloadException.class)
			.isThrownBy(() -> payloads("withDefault").decode(Payloads.payload("1")))
			.withMessageContaining("Argument 2 (reason) is neither @Nullable");
	}

	private static MethodPayloads payloads(String method) {
		PayloadCodec codec = new PayloadCodec(
				JsonMapper.builder().addModule(new KotlinModule.Builder().build()).build(), 1024, List::of);
		return Payloads.ofMethod(codec, KotlinSignatures.class, method);
	}

}
