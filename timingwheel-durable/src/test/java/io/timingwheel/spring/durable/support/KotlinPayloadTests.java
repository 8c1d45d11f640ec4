package io.timingwheel.spring.durable.support;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.module.kotlin.KotlinModule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Arguments of methods that are written in Kotlin.
 */
class KotlinPayloadTests {

	private final PayloadCodec codec = new PayloadCodec(
			JsonMapper.builder().addModule(new KotlinModule.Builder().build()).build(), 1024, List::of);

	@Test
	void dataClassesComeBackUnchanged() throws Exception {
		DurableHandler handler = handler("order");
		this.codec.checkTypes(handler);
		KotlinOrder order = new KotlinOrder(1, null, List.of("a"));
		assertThat(this.codec.decode(handler, this.codec.encode(handler, new Object[] { order })))
			.containsExactly(order);
	}

	@Test
	void nullableParametersAreNullInOlderPayloads() throws Exception {
		assertThat(this.codec.decode(handler("nullable"), "{\"v\":1,\"args\":[1]}")).containsExactly(1L, null, null);
		assertThatExceptionOfType(UndecodablePayloadException.class)
			.isThrownBy(() -> this.codec.decode(handler("withDefault"), "{\"v\":1,\"args\":[1]}"))
			.withMessageContaining("Argument 2 (reason) is neither @Nullable");
	}

	private static DurableHandler handler(String name) {
		Method method = Arrays.stream(KotlinSignatures.class.getDeclaredMethods())
			.filter((candidate) -> candidate.getName().equals(name))
			.findFirst()
			.orElseThrow();
		DurableHandler handler = mock(DurableHandler.class);
		given(handler.name()).willReturn(name);
		given(handler.method()).willReturn(method);
		given(handler.argumentTypes()).willReturn(List.of(method.getGenericParameterTypes()));
		return handler;
	}

}
