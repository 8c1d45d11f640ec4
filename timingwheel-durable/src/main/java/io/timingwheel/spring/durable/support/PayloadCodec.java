package io.timingwheel.spring.durable.support;

import java.io.ByteArrayOutputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.PayloadMigration;
import io.timingwheel.spring.durable.support.PayloadMapper.UnsupportedTypeException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodParameter;
import org.springframework.core.Nullness;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Turns the arguments of a call into a payload and back:
 * <code>{"v":1,"handler":"close-order","args":[42]}</code>. The codec reads each argument
 * by its position, as the type that the method declares. It takes no class from the JSON.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class PayloadCodec {

	private static final int VERSION = 1;

	/** How each payload ends. */
	private static final String END = "]}";

	/** The defaults of parameters that are not {@code null}. */
	private static final Map<Class<?>, Object> EMPTY = Map.of(Optional.class, Optional.empty(), OptionalInt.class,
			OptionalInt.empty(), OptionalLong.class, OptionalLong.empty(), OptionalDouble.class,
			OptionalDouble.empty());

	/** What may stand in a log. */
	private static final Pattern PROPERTY_NAME = Pattern.compile("[\\p{L}\\p{N}_$.-]{1,64}");

	private static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

	private final PayloadMapper mapper;

	private final long maxBytes;

	private final PayloadMigrations migrations;

	private final Map<DurableHandler, Signature> signatures = new ConcurrentHashMap<>();

	/**
	 * Creates a codec.
	 * @param mapper the mapper of the application; the codec uses its modules and
	 * mix-ins, and none of its settings
	 * @param maxBytes how many bytes of UTF-8 a payload may have
	 * @param migrations gives the migrations of the application, at most one for a name;
	 * called once, not before the node starts
	 */
	public PayloadCodec(JsonMapper mapper, long maxBytes, Supplier<? extends Collection<PayloadMigration>> migrations) {
		this.mapper = new PayloadMapper(mapper);
		this.maxBytes = maxBytes;
		this.migrations = new PayloadMigrations(migrations);
	}

	/**
	 * Encodes the arguments of a call, and checks that they can be read back.
	 * @param handler the handler
	 * @param arguments the arguments
	 * @return the payload
	 * @throws IllegalArgumentException if they cannot be stored, or do not fit the
	 * handler
	 */
	String encode(DurableHandler handler, @Nullable Object[] arguments) {
		Signature signature = signature(handler);
		if (arguments.length != signature.types().size()) {
			throw new IllegalArgumentException("The durable task \"%s\" takes %d arguments, not %d"
				.formatted(handler.name(), signature.types().size(), arguments.length));
		}
		String json = writeArguments(handler.name(), signature, arguments);
		@Nullable Object[] read;
		try {
			read = readArguments(signature, json);
		}
		catch (UndecodablePayloadException ex) {
			throw new IllegalArgumentException("The arguments of the durable task \"%s\" cannot be read back: %s"
				.formatted(handler.name(), ex.getMessage()), ex);
		}
		checkSame(handler, signature, arguments, read, json);
		return payload(handler.name(), signature.start(), json);
	}

	/**
	 * Encodes arguments for a handler that this node does not have, by their own types.
	 * @param name the name of the handler
	 * @param arguments the arguments
	 * @return the payload
	 * @throws IllegalArgumentException if they cannot be stored
	 */
	public String encode(String name, @Nullable Object[] arguments) {
		return payload(name, start(name), writeArguments(name, null, arguments));
	}

	/**
	 * Decodes the arguments of a call. Migrates them if they do not fit the handler and
	 * there is a migration.
	 * @param handler the handler
	 * @param payload the payload
	 * @return the arguments
	 * @throws UndecodablePayloadException if the payload does not fit the handler; the
	 * message says why, and quotes nothing of the payload
	 */
	@Nullable Object[] decode(DurableHandler handler, String payload) throws UndecodablePayloadException {
		try {
			return read(handler, payload);
		}
		catch (UndecodablePayloadException ex) {
			PayloadMigration migration = this.migrations.find(handler);
			if (migration == null) {
				throw ex;
			}
			return migrate(handler, payload, migration);
		}
	}

	private @Nullable Object[] migrate(DurableHandler handler, String payload, PayloadMigration migration)
			throws UndecodablePayloadException {
		StoredArguments stored = read(payload,
				(parser) -> readEnvelope(handler, parser, (arguments) -> storedArguments(arguments, payload)));
		String migrated;
		try {
			migrated = Objects.requireNonNull(migration.migrate(stored.arity(), stored.json()),
					"it returned null instead of a JSON array");
		}
		catch (Exception ex) {
			throw new UndecodablePayloadException("The PayloadMigration for \"%s\" failed with %d arguments: %s"
				.formatted(migration.taskName(), stored.arity(), ex), ex);
		}
		try {
			return readArguments(signature(handler), migrated);
		}
		catch (UndecodablePayloadException ex) {
			throw new UndecodablePayloadException("After the PayloadMigration for \"%s\" from %d arguments: %s"
				.formatted(migration.taskName(), stored.arity(), ex.getMessage()), ex);
		}
	}

	private static StoredArguments storedArguments(JsonParser parser, String payload)
			throws UndecodablePayloadException {
		checkArray(parser);
		// The text as it is stored, so that no number loses digits.
		int start = Math.toIntExact(parser.currentTokenLocation().getCharOffset());
		int arity = 0;
		while (parser.nextToken() != JsonToken.END_ARRAY) {
			parser.skipChildren();
			arity++;
		}
		int end = Math.toIntExact(parser.currentLocation().getCharOffset());
		return new StoredArguments(arity, payload.substring(start, end));
	}

	/**
	 * Reads the arguments of a payload. Most payloads begin with the text that this codec
	 * writes. A comparison with this text takes less time than a parser, also before the
	 * JVM has compiled either.
	 */
	private @Nullable Object[] read(DurableHandler handler, String payload) throws UndecodablePayloadException {
		Signature signature = signature(handler);
		if (payload.startsWith(signature.start()) && payload.endsWith(END)) {
			return readArguments(signature, payload.substring(signature.start().length(), payload.length() - 1));
		}
		return read(payload,
				(parser) -> readEnvelope(handler, parser, (arguments) -> readArguments(signature, arguments)));
	}

	private @Nullable Object[] readArguments(Signature signature, String json) throws UndecodablePayloadException {
		return read(json, (parser) -> {
			parser.nextToken();
			return readArguments(signature, parser);
		});
	}

	/**
	 * Reads a JSON text to its end.
	 */
	private <T> T read(String json, PayloadReader<T> reader) throws UndecodablePayloadException {
		try (JsonParser parser = this.mapper.json().createParser(json)) {
			T content = reader.read(parser);
			if (parser.nextToken() != null) {
				throw new UndecodablePayloadException("The payload has content after its JSON");
			}
			return content;
		}
		catch (JacksonException ex) {
			throw new UndecodablePayloadException("The payload is not JSON, or nested too deeply", ex);
		}
	}

	/**
	 * Checks the migrations of the application, once its handlers are known.
	 * @param handlers the handlers
	 * @throws IllegalStateException if two migrations have the same name
	 */
	void checkMigrations(DurableHandlerRegistry handlers) {
		this.migrations.check(handlers.names());
	}

	/**
	 * Checks, before the first call, the types of the arguments of a handler.
	 * @param handler the handler
	 * @throws UnsupportedArgumentException if one of them can never be stored
	 */
	void checkTypes(DurableHandler handler) {
		List<JavaType> types = types(handler);
		for (int i = 0; i < types.size(); i++) {
			try {
				this.mapper.check(types.get(i));
			}
			catch (UnsupportedTypeException | InvalidDefinitionException ex) {
				throw unsupported(describe(handler.method(), i), ex);
			}
		}
	}

	private Signature signature(DurableHandler handler) {
		Signature signature = this.signatures.get(handler);
		return (signature != null) ? signature : this.signatures.computeIfAbsent(handler, this::newSignature);
	}

	private Signature newSignature(DurableHandler handler) {
		List<JavaType> types = types(handler);
		List<SingletonSupplier<ObjectReader>> readers = types.stream()
			.map((type) -> SingletonSupplier.of(() -> this.mapper.reader(type)))
			.toList();
		return new Signature(handler.method(), types, readers, start(handler.name()));
	}

	private List<JavaType> types(DurableHandler handler) {
		return handler.argumentTypes().stream().map(this.mapper.json()::constructType).toList();
	}

	/**
	 * The text of a payload before its arguments.
	 */
	private String start(String name) {
		return "{\"v\":%d,\"handler\":%s,\"args\":".formatted(VERSION, this.mapper.json().writeValueAsString(name));
	}

	private String payload(String name, String start, String arguments) {
		String payload = start + arguments + "}";
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
	 * Writes arguments as a JSON array.
	 */
	private String writeArguments(String name, @Nullable Signature signature, @Nullable Object[] arguments) {
		// Jackson refuses half a character only when it writes bytes.
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		try (JsonGenerator generator = this.mapper.json().createGenerator(out)) {
			generator.writeStartArray();
			for (int i = 0; i < arguments.length; i++) {
				Object argument = arguments[i];
				if (argument == null) {
					generator.writeNull();
					continue;
				}
				try {
					this.mapper.writer((signature != null) ? signature.types().get(i) : null, argument)
						.writeValue(generator, argument);
				}
				catch (UnsupportedTypeException | JacksonException ex) {
					Method method = (signature != null) ? signature.method() : null;
					throw unsupported(describe(method, i) + " of the durable task \"" + name + "\"", ex);
				}
			}
			generator.writeEndArray();
		}
		return out.toString(StandardCharsets.UTF_8);
	}

	private static <T> T readEnvelope(DurableHandler handler, JsonParser parser, PayloadReader<T> reader)
			throws UndecodablePayloadException {
		@Nullable T arguments = null;
		boolean versionKnown = false;
		if (parser.nextToken() != JsonToken.START_OBJECT) {
			throw new UndecodablePayloadException("The payload is no JSON object");
		}
		while (parser.nextToken() != JsonToken.END_OBJECT) {
			String property = parser.currentName();
			JsonToken value = parser.nextToken();
			if (!versionKnown) {
				if (!"v".equals(property) || value != JsonToken.VALUE_NUMBER_INT || parser.getLongValue() != VERSION) {
					throw new UndecodablePayloadException("The payload does not begin with \"v\":" + VERSION);
				}
				versionKnown = true;
			}
			else if ("handler".equals(property)) {
				checkHandler(handler, parser.getValueAsString());
			}
			else if ("args".equals(property) && arguments == null) {
				arguments = reader.read(parser);
			}
			else {
				throw new UndecodablePayloadException("The payload has an unknown or a repeated property");
			}
		}
		if (arguments == null) {
			throw new UndecodablePayloadException("The payload has no \"args\"");
		}
		return arguments;
	}

	private static void checkHandler(DurableHandler handler, @Nullable String name) throws UndecodablePayloadException {
		if (name == null || (!name.equals(handler.name()) && !handler.aliases().contains(name))) {
			throw new UndecodablePayloadException("The payload belongs to another handler");
		}
	}

	private static @Nullable Object[] readArguments(Signature signature, JsonParser parser)
			throws UndecodablePayloadException {
		checkArray(parser);
		List<JavaType> types = signature.types();
		List<@Nullable Object> arguments = new ArrayList<>();
		while (parser.nextToken() != JsonToken.END_ARRAY) {
			int position = arguments.size();
			if (position < types.size()) {
				try {
					arguments.add(signature.reader(position).readValue(parser));
				}
				catch (UnsupportedTypeException | JacksonException ex) {
					throw new UndecodablePayloadException("%s cannot be read: %s"
						.formatted(describe(signature.method(), position), reason(types.get(position), ex)), ex);
				}
			}
			else {
				parser.skipChildren();
				arguments.add(null);
			}
		}
		addMissing(signature.method(), types.size(), arguments);
		return arguments.toArray();
	}

	private static void checkArray(JsonParser parser) throws UndecodablePayloadException {
		if (parser.currentToken() != JsonToken.START_ARRAY) {
			throw new UndecodablePayloadException("The arguments of the payload are no JSON array");
		}
	}

	/**
	 * Adds the defaults of the parameters that the method has in addition.
	 */
	private static void addMissing(Method method, int size, List<@Nullable Object> arguments)
			throws UndecodablePayloadException {
		int stored = arguments.size();
		if (stored > size) {
			throw new UndecodablePayloadException(
					"The payload has %d arguments, and the method takes %d".formatted(stored, size));
		}
		for (int i = stored; i < size; i++) {
			Class<?> type = method.getParameterTypes()[i];
			Object empty = EMPTY.get(type);
			if (empty == null && (type.isPrimitive()
					|| Nullness.forMethodParameter(new MethodParameter(method, i)) != Nullness.NULLABLE)) {
				throw new UndecodablePayloadException(
						("The payload has %d arguments, and the method takes %d; %s is neither @Nullable nor an Optional,"
								+ " so it has no default")
							.formatted(stored, size, describe(method, i)));
			}
			arguments.add(empty);
		}
	}

	/**
	 * Says why an argument cannot be read. Jackson's own messages would quote the
	 * payload.
	 */
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

	/**
	 * The property that cannot be read. The keys of a map are content of the payload.
	 */
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

	/**
	 * Checks that arguments are the same as those that were read back.
	 */
	private void checkSame(DurableHandler handler, Signature signature, @Nullable Object[] arguments,
			@Nullable Object[] read, String json) {
		boolean certain = true;
		for (int i = 0; i < arguments.length; i++) {
			Object argument = arguments[i];
			if (argument != null && isValue(argument) && argument.equals(read[i])) {
				continue;
			}
			if (argument != null && !ClassUtils.isAssignableValue(signature.types().get(i).getRawClass(), argument)) {
				// What was given is converted to the declared type.
				certain = false;
				continue;
			}
			PayloadReadBack check = new PayloadReadBack(this.mapper::ignoredProperties);
			if (!check.isSame(argument, read[i])) {
				throw changed(handler, i, String.valueOf(check.difference()));
			}
			certain &= check.isCertain();
		}
		if (!certain) {
			checkSameJson(handler, json, writeArguments(handler.name(), signature, read));
		}
	}

	private static boolean isValue(Object argument) {
		return ClassUtils.isSimpleValueType(argument.getClass()) && !(argument instanceof java.util.Date)
				&& !(argument instanceof java.net.URL);
	}

	/**
	 * Checks that two arrays of arguments have the same JSON. The order of sets and maps
	 * may differ.
	 */
	private void checkSameJson(DurableHandler handler, String json, String again) {
		if (json.equals(again)) {
			return;
		}
		JsonNode before = this.mapper.json().readTree(json);
		JsonNode after = this.mapper.json().readTree(again);
		for (int i = 0; i < before.size(); i++) {
			if (!content(before.get(i)).equals(content(after.get(i)))) {
				throw changed(handler, i, "");
			}
		}
	}

	private static IllegalArgumentException changed(DurableHandler handler, int position, String difference) {
		return new IllegalArgumentException(("%s of the durable task \"%s\" changes when it is written to JSON"
				+ " and read back; give each of its properties a getter, and a setter or a constructor parameter, and a"
				+ " type whose values JSON keeps%s")
			.formatted(describe(handler.method(), position), handler.name(),
					difference.isEmpty() ? "" : ": the first difference is at argument" + difference));
	}

	/**
	 * The content of a tree, without the order of properties and elements. The elements
	 * of a set may come back in another order. The elements of a list always keep their
	 * order, so ignoring the order hides no difference.
	 */
	private static Object content(JsonNode node) {
		if (node.isObject()) {
			Map<String, Object> properties = new HashMap<>();
			node.forEachEntry((name, value) -> properties.put(name, content(value)));
			return List.of(node.getNodeType(), properties);
		}
		if (node.isArray()) {
			return List.of(node.getNodeType(),
					node.valueStream()
						.map(PayloadCodec::content)
						.collect(Collectors.groupingBy(Function.identity(), Collectors.counting())));
		}
		return node;
	}

	private static UnsupportedArgumentException unsupported(String argument, RuntimeException ex) {
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

	private static String describe(@Nullable Method method, int position) {
		@Nullable String @Nullable [] names = (method != null) ? PARAMETER_NAMES.getParameterNames(method) : null;
		return (names != null) ? "Argument %d (%s)".formatted(position + 1, names[position])
				: "Argument " + (position + 1);
	}

	/**
	 * Arguments as they are stored.
	 *
	 * @param arity how many there are
	 * @param json a JSON array
	 */
	private record StoredArguments(int arity, String json) {

	}

	/**
	 * What a handler's payloads look like.
	 *
	 * @param method the method of the handler
	 * @param types the types of the arguments
	 * @param readers the readers of the arguments, which fail for types that cannot be
	 * read
	 * @param start the text of a payload before the arguments
	 */
	private record Signature(Method method, List<JavaType> types, List<SingletonSupplier<ObjectReader>> readers,
			String start) {

		ObjectReader reader(int position) {
			return this.readers.get(position).obtain();
		}

	}

	/**
	 * Reads a part of a payload, from the current token of a parser on.
	 */
	private interface PayloadReader<T> {

		T read(JsonParser parser) throws UndecodablePayloadException;

	}

}
