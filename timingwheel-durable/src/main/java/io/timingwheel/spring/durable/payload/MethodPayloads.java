package io.timingwheel.spring.durable.payload;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.durable.PayloadMigration;
import io.timingwheel.spring.durable.payload.TypeGuard.UnsupportedTypeException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;

import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodParameter;
import org.springframework.core.Nullness;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.util.Assert;
import org.springframework.util.ObjectUtils;

/** Writes and reads the payloads of one method. Thread-safe. */
public final class MethodPayloads {

	/** What may stand in a log. */
	private static final Pattern PROPERTY_NAME = Pattern.compile("[\\p{L}\\p{N}_$.-]{1,64}");

	private static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

	private final PayloadCodec codec;

	private final List<String> names;

	private final Method method;

	private final List<Parameter> parameters = new ArrayList<>();

	MethodPayloads(PayloadCodec codec, List<String> names, Method method, List<JavaType> types) {
		this.codec = codec;
		this.names = names;
		this.method = method;
		for (JavaType type : types) {
			try {
				// Reads an argument inside an array.
				ObjectReader reader = codec.mapper()
					.readerFor(type)
					.without(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
				if (!type.isPrimitive()) {
					// Makes the deserializers of all types inside of this one.
					reader.readValue("null");
				}
				this.parameters.add(new Parameter(type, reader, codec.mapper().writerFor(type)));
			}
			catch (UnsupportedTypeException | InvalidDefinitionException ex) {
				UnsupportedTypeException reason = UnsupportedTypeException.of(ex);
				throw new InvalidAnnotatedMethodException(method,
						describe(this.parameters.size()) + " cannot be stored: " + reason.getMessage(), reason.remedy(),
						ex);
			}
		}
	}

	/**
	 * @throws IllegalArgumentException if the arguments cannot be stored, read back, or
	 * do not fit
	 */
	public String encode(@Nullable Object[] arguments) {
		String name = this.names.get(0);
		Assert.isTrue(arguments.length == this.parameters.size(),
				() -> "The durable task \"%s\" takes %d arguments, not %d".formatted(name, this.parameters.size(),
						arguments.length));
		String payload = this.codec.encode(name, arguments, this);
		@Nullable Object[] read;
		try {
			read = read(payload);
		}
		catch (UndecodablePayloadException ex) {
			throw new IllegalArgumentException(
					"The arguments of the durable task \"%s\" cannot be read back: %s".formatted(name, ex.getMessage()),
					ex);
		}
		for (int i = 0; i < arguments.length; i++) {
			if (!this.codec.isSame(arguments[i], read[i])) {
				throw new IllegalArgumentException(
						("%s of the durable task \"%s\" changes when it is written to JSON and read back as a %s;"
								+ " give each of its properties a getter, and a setter or a constructor parameter, and a"
								+ " type whose values JSON keeps")
							.formatted(describe(i), name, ObjectUtils.nullSafeClassName(read[i])));
			}
		}
		return payload;
	}

	/**
	 * A value of a subclass is written with all its properties, so that the caller
	 * notices if reading loses some.
	 */
	ObjectWriter writer(int position, @Nullable Object value) {
		Parameter parameter = this.parameters.get(position);
		JavaType declared = parameter.type;
		// Nothing is an instance of a primitive type. HotSpot would discard the compiled
		// code of all callers at such a question.
		boolean byDeclaredType = !declared.isPrimitive() && declared.getRawClass().isInstance(value)
				&& (declared.isContainerType() || declared.isReferenceType() || declared.hasRawClass(value.getClass()));
		return byDeclaredType ? parameter.writer : this.codec.mapper().writer();
	}

	/**
	 * Migrates arguments that do not fit, if there is a migration.
	 * @throws UndecodablePayloadException says why, and quotes nothing of the payload
	 */
	public @Nullable Object[] decode(String payload) throws UndecodablePayloadException {
		try {
			return read(payload);
		}
		catch (UndecodablePayloadException ex) {
			PayloadMigration migration = this.codec.migration(this.names);
			if (migration == null) {
				throw ex;
			}
			return migrate(payload, migration);
		}
	}

	private @Nullable Object[] migrate(String json, PayloadMigration migration) throws UndecodablePayloadException {
		int arity;
		try {
			arity = this.codec.mapper().readValue(json, JsonNode[].class).length;
		}
		catch (JacksonException ex) {
			throw new UndecodablePayloadException("The arguments of the payload are no JSON array", ex);
		}
		try {
			return read(
					Objects.requireNonNull(migration.migrate(arity, json), "it returned null instead of a JSON array"));
		}
		catch (Exception ex) {
			throw new UndecodablePayloadException("The PayloadMigration for \"%s\" has not made %d arguments fit: %s"
				.formatted(migration.taskName(), arity, ex), ex);
		}
	}

	private @Nullable Object[] read(String json) throws UndecodablePayloadException {
		int size = this.parameters.size();
		@Nullable Object[] arguments = new Object[size];
		int stored = 0;
		try (JsonParser parser = this.codec.mapper().createParser(json)) {
			if (parser.nextToken() != JsonToken.START_ARRAY) {
				throw new UndecodablePayloadException("The arguments of the payload are no JSON array", null);
			}
			for (; parser.nextToken() != JsonToken.END_ARRAY; stored++) {
				if (stored < size) {
					arguments[stored] = readArgument(parser, stored);
				}
				else {
					parser.skipChildren();
				}
			}
			if (parser.nextToken() != null) {
				throw new UndecodablePayloadException("The payload has content after its arguments", null);
			}
		}
		catch (JacksonException ex) {
			throw new UndecodablePayloadException("The arguments of the payload are not JSON, or nested too deeply",
					ex);
		}
		if (stored > size) {
			throw new UndecodablePayloadException(
					"The payload has %d arguments, and the method takes %d".formatted(stored, size), null);
		}
		for (int i = stored; i < size; i++) {
			arguments[i] = missing(i, stored);
		}
		return arguments;
	}

	private @Nullable Object readArgument(JsonParser parser, int position) throws UndecodablePayloadException {
		Parameter parameter = this.parameters.get(position);
		try {
			return parameter.reader.readValue(parser);
		}
		catch (UnsupportedTypeException | JacksonException ex) {
			throw new UndecodablePayloadException(
					"%s cannot be read: %s".formatted(describe(position), reason(parameter.type, ex)), ex);
		}
	}

	private @Nullable Object missing(int position, int stored) throws UndecodablePayloadException {
		Class<?> type = this.method.getParameterTypes()[position];
		boolean nullable = !type.isPrimitive()
				&& Nullness.forMethodParameter(new MethodParameter(this.method, position)) == Nullness.NULLABLE;
		if (!nullable && !type.getName().startsWith("java.util.Optional")) {
			throw new UndecodablePayloadException(
					("The payload has %d arguments, and the method takes %d; %s is neither @Nullable nor an Optional,"
							+ " so it has no default; a PayloadMigration can add the argument")
						.formatted(stored, this.parameters.size(), describe(position)),
					null);
		}
		return this.parameters.get(position).reader.readValue("null");
	}

	/** Jackson's own messages would quote the payload. */
	private static String reason(JavaType type, RuntimeException ex) {
		if (ex instanceof UnrecognizedPropertyException unknown) {
			String name = unknown.getPropertyName();
			return "the JSON has %s, which %s does not have; another release may know it".formatted(
					PROPERTY_NAME.matcher(name).matches() ? "the property \"" + name + "\"" : "a property",
					unknown.getReferringClass().getTypeName());
		}
		return (ex instanceof JacksonException jackson) ? "the JSON is no %s (%s%s)".formatted(type.toCanonical(),
				ex.getClass().getSimpleName(), place(jackson)) : String.valueOf(ex.getMessage());
	}

	/** The property that cannot be read. The keys of a map are content of the payload. */
	private static String place(JacksonException ex) {
		String place = ex.getPath()
			.stream()
			.takeWhile((step) -> !(step.from() instanceof Map)
					&& !(step.from() instanceof Class<?> type && Map.class.isAssignableFrom(type)))
			.map(JacksonException.Reference::getPropertyName)
			.filter(Objects::nonNull)
			.collect(Collectors.joining("."));
		return place.isEmpty() ? "" : " at " + place;
	}

	String describe(int position) {
		@Nullable String @Nullable [] parameters = PARAMETER_NAMES.getParameterNames(this.method);
		return (parameters != null) ? "Argument %d (%s)".formatted(position + 1, parameters[position])
				: "Argument " + (position + 1);
	}

	/**
	 * A stored payload cannot be read, or does not fit its method. The message quotes
	 * nothing of it.
	 */
	static final class UndecodablePayloadException extends Exception {

		UndecodablePayloadException(String reason, @Nullable Throwable cause) {
			super(reason, cause);
		}

		/** The reason alone, which becomes the error of the task. */
		@Override
		public String toString() {
			return String.valueOf(getMessage());
		}

	}

	private record Parameter(JavaType type, ObjectReader reader, ObjectWriter writer) {

	}

}
