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

	/**
	 * Skips the check of the types, which a call of the method may do without.
	 */
	private MethodPayloads unchecked(Handler handler) {
		return new MethodPayloads(this.codec, names(handler), handler.method(),
				Stream.of(handler.method().getGenericParameterTypes())
					.map(this.codec.mapper().json()::constructType)
					.toList());
	}

	void checkTypes(Handler handler) {
		this.codec.payloads(names(handler), handler.method(),
				List.<Type>of(handler.method().getGenericParameterTypes()));
	}

	String encode(Handler handler, Object[] arguments) {
		return unchecked(handler).encode(arguments);
	}

	String encode(String name, Object[] arguments) {
		return this.codec.encode(name, arguments);
	}

	Object[] decode(Handler handler, String payload) throws UndecodablePayloadException {
		return unchecked(handler).decode(payload);
	}

	void checkMigrations(Collection<String> names) {
		this.codec.checkMigrations(names);
	}

}
