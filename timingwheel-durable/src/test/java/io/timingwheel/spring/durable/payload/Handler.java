package io.timingwheel.spring.durable.payload;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;

/**
 * A method whose calls are stored.
 */
record Handler(String name, List<String> aliases, Method method) {

	/**
	 * Finds the only method with a name.
	 */
	static Handler of(Class<?> type, String method) {
		return new Handler("handler-of-" + method, List.of("earlier-" + method),
				Arrays.stream(type.getDeclaredMethods())
					.filter((candidate) -> candidate.getName().equals(method))
					.findFirst()
					.orElseThrow());
	}

	/**
	 * A payload with arguments as they are stored.
	 */
	String payload(String arguments) {
		return "{\"v\":1,\"handler\":\"" + this.name + "\",\"args\":[" + arguments + "]}";
	}

}
