package io.timingwheel.spring.durable.payload;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.PayloadMigration;
import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.payload.TypeGuard.UnsupportedTypeException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;

import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodParameter;
import org.springframework.core.Nullness;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Writes and reads the payloads of one method. Thread-safe.
 *
 * @since 0.1
 */
public final class MethodPayloads implements DurableHandler.Arguments {

	/** The defaults of parameters that are not {@code null}. */
	private static final Map<Class<?>, Object> EMPTY = Map.of(Optional.class, Optional.empty(), OptionalInt.class,
			OptionalInt.empty(), OptionalLong.class, OptionalLong.empty(), OptionalDouble.class,
			OptionalDouble.empty());

	/** What may stand in a log. */
	private static final Pattern PROPERTY_NAME = Pattern.compile("[\\p{L}\\p{N}_$.-]{1,64}");

	private static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

	private final PayloadCodec codec;

	private final List<String> names;

	/** The text of a payload before its arguments, for each name. */
	private final List<String> starts;

	private final Method method;

	private final List<JavaType> types;

	/** A reader is made at its first use, and fails for a type that cannot be read. */
	private final List<SingletonSupplier<ObjectReader>> readers;

	MethodPayloads(PayloadCodec codec, List<String> names, Method method, List<JavaType> types) {
		this.codec = codec;
		this.names = names;
		this.starts = names.stream().map(codec::start).toList();
		this.method = method;
		this.types = types;
		this.readers = types.stream().map((type) -> SingletonSupplier.of(() -> codec.mapper().reader(type))).toList();
	}

	void checkTypes() {
		for (int i = 0; i < this.types.size(); i++) {
			try {
				this.codec.mapper().check(this.types.get(i));
			}
			catch (UnsupportedTypeException | InvalidDefinitionException ex) {
				throw PayloadCodec.unsupported(describe(i), ex);
			}
		}
	}

	private String name() {
		return this.names.get(0);
	}

	JavaType type(int position) {
		return this.types.get(position);
	}

	/**
	 * @throws IllegalArgumentException if the arguments cannot be stored, read back, or
	 * do not fit
	 */
	@Override
	public String encode(@Nullable Object[] arguments) {
		if (arguments.length != this.types.size()) {
			throw new IllegalArgumentException("The durable task \"%s\" takes %d arguments, not %d".formatted(name(),
					this.types.size(), arguments.length));
		}
		List<String> written = this.codec.write(name(), this, arguments);
		String payload = this.codec.payload(name(), this.starts.get(0), written);
		@Nullable Object[] read;
		try {
			read = readArguments(arguments(payload));
		}
		catch (UndecodablePayloadException ex) {
			throw new IllegalArgumentException("The arguments of the durable task \"%s\" cannot be read back: %s"
				.formatted(name(), ex.getMessage()), ex);
		}
		for (int i = 0; i < arguments.length; i++) {
			checkSame(i, arguments[i], written.get(i), read[i]);
		}
		return payload;
	}

	/** Compares the values and, since not all can be seen, the JSON of both. */
	private void checkSame(int position, @Nullable Object argument, String written, @Nullable Object read) {
		if (Objects.equals(argument, read) && (argument == null || PayloadReadBack.isPlainValue(argument))) {
			return;
		}
		PayloadMapper mapper = this.codec.mapper();
		// An argument of another type is converted to the declared type.
		boolean converted = argument != null && !ClassUtils.isAssignableValue(type(position).getRawClass(), argument);
		String difference = converted ? null
				: new PayloadReadBack(mapper::ignoredProperties).difference(argument, read);
		if (difference != null || !mapper.isSameJson(written, mapper.write(type(position), read))) {
			throw new IllegalArgumentException(
					("%s of the durable task \"%s\" changes when it is written to JSON and read back; give each of its"
							+ " properties a getter, and a setter or a constructor parameter, and a type whose values JSON"
							+ " keeps%s")
						.formatted(describe(position), name(),
								(difference != null) ? ": the first difference is at argument" + difference : ""));
		}
	}

	/**
	 * Migrates arguments that do not fit, if there is a migration.
	 * @throws UndecodablePayloadException says why, and quotes nothing of the payload
	 */
	@Override
	public @Nullable Object[] decode(String payload) throws UndecodablePayloadException {
		String json = arguments(payload);
		try {
			return readArguments(json);
		}
		catch (UndecodablePayloadException ex) {
			PayloadMigration migration = this.codec.migration(this.names);
			if (migration == null) {
				throw ex;
			}
			return migrate(json, migration);
		}
	}

	/** Only this class makes payloads, so they begin with the same text. */
	private String arguments(String payload) throws UndecodablePayloadException {
		for (String start : this.starts) {
			if (payload.startsWith(start) && payload.endsWith("}")) {
				return payload.substring(start.length(), payload.length() - 1);
			}
		}
		throw new UndecodablePayloadException("The payload does not begin as a payload of this method does");
	}

	private @Nullable Object[] migrate(String json, PayloadMigration migration) throws UndecodablePayloadException {
		int arity = elements(json, 0).size();
		String migrated;
		try {
			migrated = Objects.requireNonNull(migration.migrate(arity, json),
					"it returned null instead of a JSON array");
		}
		catch (Exception ex) {
			throw new UndecodablePayloadException("The PayloadMigration for \"%s\" failed with %d arguments: %s"
				.formatted(migration.taskName(), arity, ex), ex);
		}
		try {
			return readArguments(migrated);
		}
		catch (UndecodablePayloadException ex) {
			throw new UndecodablePayloadException("After the PayloadMigration for \"%s\" from %d arguments: %s"
				.formatted(migration.taskName(), arity, ex.getMessage()), ex);
		}
	}

	private @Nullable Object[] readArguments(String json) throws UndecodablePayloadException {
		List<@Nullable Object> arguments = elements(json, this.types.size());
		addMissing(arguments);
		return arguments.toArray();
	}

	/**
	 * @param read how many elements to read; the others are {@code null}
	 */
	private List<@Nullable Object> elements(String json, int read) throws UndecodablePayloadException {
		List<@Nullable Object> elements = new ArrayList<>();
		try (JsonParser parser = this.codec.mapper().json().createParser(json)) {
			if (parser.nextToken() != JsonToken.START_ARRAY) {
				throw new UndecodablePayloadException("The arguments of the payload are no JSON array");
			}
			while (parser.nextToken() != JsonToken.END_ARRAY) {
				boolean skipped = elements.size() >= read;
				elements.add(skipped ? null : readArgument(parser, elements.size()));
				if (skipped) {
					parser.skipChildren();
				}
			}
			if (parser.nextToken() != null) {
				throw new UndecodablePayloadException("The payload has content after its arguments");
			}
		}
		catch (JacksonException ex) {
			throw new UndecodablePayloadException("The arguments of the payload are not JSON, or nested too deeply",
					ex);
		}
		return elements;
	}

	private @Nullable Object readArgument(JsonParser parser, int position) throws UndecodablePayloadException {
		try {
			return this.readers.get(position).obtain().readValue(parser);
		}
		catch (UnsupportedTypeException | JacksonException ex) {
			throw new UndecodablePayloadException(
					"%s cannot be read: %s".formatted(describe(position), reason(type(position), ex)), ex);
		}
	}

	private void addMissing(List<@Nullable Object> arguments) throws UndecodablePayloadException {
		int stored = arguments.size();
		int size = this.types.size();
		if (stored > size) {
			throw new UndecodablePayloadException(
					"The payload has %d arguments, and the method takes %d".formatted(stored, size));
		}
		for (int i = stored; i < size; i++) {
			Class<?> type = this.method.getParameterTypes()[i];
			Object empty = EMPTY.get(type);
			if (empty == null && (type.isPrimitive()
					|| Nullness.forMethodParameter(new MethodParameter(this.method, i)) != Nullness.NULLABLE)) {
				throw new UndecodablePayloadException(
						("The payload has %d arguments, and the method takes %d; %s is neither @Nullable nor an Optional,"
								+ " so it has no default")
							.formatted(stored, size, describe(i)));
			}
			arguments.add(empty);
		}
	}

	/** Jackson's own messages would quote the payload. */
	private static String reason(JavaType type, RuntimeException ex) {
		if (ex instanceof UnrecognizedPropertyException unknown) {
			String name = unknown.getPropertyName();
			return "the JSON has %s, which %s does not have; another release may know it".formatted(
					PROPERTY_NAME.matcher(name).matches() ? "the property \"" + name + "\"" : "a property",
					unknown.getReferringClass().getTypeName());
		}
		return (ex instanceof UnsupportedTypeException) ? String.valueOf(ex.getMessage())
				: "the JSON is no %s (%s%s)".formatted(type.toCanonical(), ex.getClass().getSimpleName(), place(ex));
	}

	/** The property that cannot be read. The keys of a map are content of the payload. */
	private static String place(RuntimeException ex) {
		String place = (ex instanceof JacksonException jackson) ? jackson.getPath()
			.stream()
			.takeWhile((step) -> !isMap(step.from()))
			.map(JacksonException.Reference::getPropertyName)
			.filter(Objects::nonNull)
			.collect(Collectors.joining(".")) : "";
		return place.isEmpty() ? "" : " at " + place;
	}

	private static boolean isMap(@Nullable Object from) {
		return (from instanceof Class<?> type) ? Map.class.isAssignableFrom(type) : from instanceof Map;
	}

	String describe(int position) {
		@Nullable String @Nullable [] parameters = PARAMETER_NAMES.getParameterNames(this.method);
		return (parameters != null) ? "Argument %d (%s)".formatted(position + 1, parameters[position])
				: "Argument " + (position + 1);
	}

}
