package io.timingwheel.spring.durable.payload;

import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;

import io.timingwheel.spring.durable.PayloadMigration;
import tools.jackson.databind.json.JsonMapper;

/** Payloads of the name "task", and of the earlier name "earlier". */
final class Payloads {

	static final int MAX_BYTES = 1024;

	private Payloads() {
	}

	static PayloadCodec codec(PayloadMigration... migrations) {
		return new PayloadCodec(JsonMapper.builder().build(), MAX_BYTES, () -> List.of(migrations));
	}

	/** The payloads of a method with one argument, whose type is that of a component. */
	static MethodPayloads of(PayloadCodec codec, Class<?> types, String component) {
		RecordComponent found = Arrays.stream(types.getRecordComponents())
			.filter((candidate) -> candidate.getName().equals(component))
			.findFirst()
			.orElseThrow();
		return codec.payloads(List.of("task", "earlier"), method(Payloads.class, "one"),
				List.of(found.getGenericType()));
	}

	static MethodPayloads ofMethod(PayloadCodec codec, Class<?> type, String name) {
		Method method = method(type, name);
		return codec.payloads(List.of("task", "earlier"), method, List.of(method.getGenericParameterTypes()));
	}

	private static Method method(Class<?> type, String name) {
		return Arrays.stream(type.getDeclaredMethods())
			.filter((candidate) -> candidate.getName().equals(name))
			.findFirst()
			.orElseThrow();
	}

	/** A payload with arguments as they are stored. */
	static String payload(String arguments) {
		return "[" + arguments + "]";
	}

	@SuppressWarnings("unused")
	private static void one(Object value) {
	}

}
