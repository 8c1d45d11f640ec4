package io.timingwheel.spring.durable.payload;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeSet;
import java.util.function.Supplier;

import io.timingwheel.spring.durable.PayloadMigration;
import io.timingwheel.spring.durable.payload.TypeGuard.UnsupportedTypeException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.util.function.SingletonSupplier;

/**
 * Makes the payloads of calls: <code>{"v":1,"handler":"close-order","args":[42]}</code>.
 * Arguments are read by position, as the declared types. No class is taken from the JSON.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class PayloadCodec {

	private static final Log logger = LogFactory.getLog(PayloadCodec.class);

	private static final int VERSION = 1;

	private final PayloadMapper mapper;

	private final long maxBytes;

	/** Asked for the beans late, since a migration may depend on other beans. */
	private final SingletonSupplier<Map<String, PayloadMigration>> migrations;

	/**
	 * @param migrations called once, not before the node starts
	 */
	public PayloadCodec(JsonMapper mapper, long maxBytes, Supplier<? extends Collection<PayloadMigration>> migrations) {
		this.mapper = new PayloadMapper(mapper);
		this.maxBytes = maxBytes;
		this.migrations = SingletonSupplier.of(() -> byName(migrations.get()));
	}

	/**
	 * @throws UnsupportedArgumentException if arguments of these types can never be
	 * stored
	 */
	public MethodPayloads payloads(List<String> names, Method method, List<Type> types) {
		return new MethodPayloads(this, names, method, types.stream().map(this.mapper.json()::constructType).toList());
	}

	/**
	 * Writes a call of a method that this application does not have, by the types of the
	 * arguments.
	 * @throws IllegalArgumentException if they cannot be stored
	 */
	public String encode(String name, @Nullable Object[] arguments) {
		return payload(name, null, arguments);
	}

	private static Map<String, PayloadMigration> byName(Collection<PayloadMigration> migrations) {
		Map<String, PayloadMigration> byName = new HashMap<>();
		for (PayloadMigration migration : migrations) {
			PayloadMigration other = byName.put(migration.taskName(), migration);
			if (other != null) {
				throw new IllegalStateException(("The durable task \"%s\" has two beans of the type PayloadMigration,"
						+ " %s and %s; make them one, which gets the number of stored arguments")
					.formatted(migration.taskName(), other.getClass().getName(), migration.getClass().getName()));
			}
		}
		return byName;
	}

	/**
	 * Warns of migrations that are never called.
	 * @throws IllegalStateException if two migrations have the same name
	 */
	public void checkMigrations(Collection<String> names) {
		Set<String> unknown = new TreeSet<>(this.migrations.obtain().keySet());
		unknown.removeAll(names);
		unknown.forEach((name) -> logger.warn(("The PayloadMigration for \"%s\" is never called: this application has"
				+ " no durable method with this name or alias")
			.formatted(name)));
	}

	@Nullable PayloadMigration migration(List<String> names) {
		Map<String, PayloadMigration> byName = this.migrations.obtain();
		return names.stream().map(byName::get).filter(Objects::nonNull).findFirst().orElse(null);
	}

	PayloadMapper mapper() {
		return this.mapper;
	}

	String start(String name) {
		return "{\"v\":%d,\"handler\":%s,\"args\":".formatted(VERSION, this.mapper.json().writeValueAsString(name));
	}

	String payload(String name, @Nullable MethodPayloads method, @Nullable Object[] arguments) {
		StringJoiner json = new StringJoiner(",", start(name) + "[", "]}");
		for (int i = 0; i < arguments.length; i++) {
			try {
				json.add(this.mapper.write((method != null) ? method.type(i) : null, arguments[i]));
			}
			catch (UnsupportedTypeException | JacksonException ex) {
				String described = (method != null) ? method.describe(i) : "Argument " + (i + 1);
				throw unsupported(described + " of the durable task \"" + name + "\"", ex);
			}
		}
		String payload = json.toString();
		int bytes = payload.getBytes(StandardCharsets.UTF_8).length;
		if (bytes > this.maxBytes) {
			throw new IllegalArgumentException(("The arguments of the durable task \"%s\" take %d bytes, and"
					+ " timingwheel.store.max-payload-size is %d bytes; pass less, such as an id, or raise the limit")
				.formatted(name, bytes, this.maxBytes));
		}
		return payload;
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
