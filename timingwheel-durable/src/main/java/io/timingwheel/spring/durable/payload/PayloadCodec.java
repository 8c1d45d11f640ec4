package io.timingwheel.spring.durable.payload;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

import io.timingwheel.spring.durable.PayloadMigration;
import io.timingwheel.spring.durable.payload.TypeGuard.UnsupportedTypeException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Makes the payloads of calls: <code>{"v":1,"handler":"close-order","args":[42]}</code>.
 * Arguments are read by position, as the declared types. No class is taken from the JSON.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class PayloadCodec {

	private static final int VERSION = 1;

	private final PayloadMapper mapper;

	private final long maxBytes;

	private final PayloadMigrations migrations;

	/**
	 * @param migrations called once, not before the node starts
	 */
	public PayloadCodec(JsonMapper mapper, long maxBytes, Supplier<? extends Collection<PayloadMigration>> migrations) {
		this.mapper = new PayloadMapper(mapper);
		this.maxBytes = maxBytes;
		this.migrations = new PayloadMigrations(migrations);
	}

	/**
	 * @throws UnsupportedArgumentException if arguments of these types can never be
	 * stored
	 */
	public MethodPayloads payloads(List<String> names, Method method, List<Type> types) {
		MethodPayloads payloads = new MethodPayloads(this, names, method,
				types.stream().map(this.mapper.json()::constructType).toList());
		payloads.checkTypes();
		return payloads;
	}

	/**
	 * Writes a call of a method that this application does not have, by the types of the
	 * arguments.
	 * @throws IllegalArgumentException if they cannot be stored
	 */
	public String encode(String name, @Nullable Object[] arguments) {
		return payload(name, start(name), write(name, null, arguments));
	}

	/**
	 * @throws IllegalStateException if two migrations have the same name
	 */
	public void checkMigrations(Collection<String> names) {
		this.migrations.check(names);
	}

	PayloadMapper mapper() {
		return this.mapper;
	}

	PayloadMigrations migrations() {
		return this.migrations;
	}

	String start(String name) {
		return "{\"v\":%d,\"handler\":%s,\"args\":".formatted(VERSION, this.mapper.json().writeValueAsString(name));
	}

	String payload(String name, String start, List<String> arguments) {
		String payload = start + "[" + String.join(",", arguments) + "]}";
		// A character takes three bytes at most.
		int bytes = (payload.length() > this.maxBytes / 3) ? payload.getBytes(StandardCharsets.UTF_8).length : 0;
		if (bytes > this.maxBytes) {
			throw new IllegalArgumentException(("The arguments of the durable task \"%s\" take %d bytes, and"
					+ " timingwheel.store.max-payload-size is %d bytes; pass less, such as an id, or raise the limit")
				.formatted(name, bytes, this.maxBytes));
		}
		return payload;
	}

	/**
	 * @param method {@code null} if this application does not have it
	 */
	List<String> write(String name, @Nullable MethodPayloads method, @Nullable Object[] arguments) {
		List<String> written = new ArrayList<>(arguments.length);
		for (int i = 0; i < arguments.length; i++) {
			try {
				written.add(this.mapper.write((method != null) ? method.type(i) : null, arguments[i]));
			}
			catch (UnsupportedTypeException | JacksonException ex) {
				String described = (method != null) ? method.describe(i) : "Argument " + (i + 1);
				throw unsupported(described + " of the durable task \"" + name + "\"", ex);
			}
		}
		return written;
	}

	static UnsupportedArgumentException unsupported(String argument, RuntimeException ex) {
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause instanceof UnsupportedTypeException unsupported) {
				return new UnsupportedArgumentException(
						"%s cannot be stored: %s".formatted(argument, unsupported.getMessage()), unsupported.remedy(),
						ex);
			}
		}
		String reason = (ex instanceof JacksonException jackson) ? jackson.getOriginalMessage() : ex.getMessage();
		return new UnsupportedArgumentException("%s cannot be stored: %s".formatted(argument, reason),
				"pass data that Jackson can write and read, such as an id or a record", ex);
	}

}
