package io.timingwheel.spring.durable.payload;

import java.lang.reflect.Type;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.PayloadMigration;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes and reads the payloads of any method.
 */
class HandlerCodec {

	private final PayloadCodec codec;

	HandlerCodec(JsonMapper mapper, long maxBytes, Supplier<? extends Collection<PayloadMigration>> migrations) {
		this.codec = new PayloadCodec(mapper, maxBytes, migrations);
	}

	private static List<String> names(Handler handler) {
		return Stream.concat(Stream.of(handler.name()), handler.aliases().stream()).toList();
	}

	MethodPayloads payloads(Handler handler) {
		return this.codec.payloads(names(handler), handler.method(),
				List.<Type>of(handler.method().getGenericParameterTypes()));
	}

	String encode(Handler handler, Object[] arguments) {
		return payloads(handler).encode(arguments);
	}

	String encode(String name, Object[] arguments) {
		return this.codec.encode(name, arguments);
	}

	Object[] decode(Handler handler, String payload) throws UndecodablePayloadException {
		return payloads(handler).decode(payload);
	}

	void checkMigrations(Collection<String> names) {
		this.codec.checkMigrations(names);
	}

}
