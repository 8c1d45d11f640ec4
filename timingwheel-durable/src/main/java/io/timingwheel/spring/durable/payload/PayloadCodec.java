package io.timingwheel.spring.durable.payload;

import java.io.ByteArrayOutputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.durable.PayloadMigration;
import io.timingwheel.spring.durable.payload.TypeGuard.UnsupportedTypeException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.cfg.MutableCoercionConfig;
import tools.jackson.databind.introspect.Annotated;
import tools.jackson.databind.introspect.JacksonAnnotationIntrospector;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.type.LogicalType;

import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

/**
 * Makes the payloads of calls: JSON arrays of their arguments, such as {@code [42]},
 * which are read by position as the declared types. No class is taken from the JSON.
 *
 * <p>
 * Other releases have to read what this one writes, so the JSON mapper has settings of
 * its own. From the application's mapper it takes modules, mix-ins, subtypes, and how
 * handlers are made. Thread-safe.
 */
public final class PayloadCodec {

	private static final Log logger = LogFactory.getLog(PayloadCodec.class);

	private final JsonMapper mapper;

	/** Writes whole values, also what their JSON lacks. Few calls need it. */
	private final SingletonSupplier<JsonMapper> comparing;

	private final long maxBytes;

	/** Asked for the beans late, since a migration may depend on other beans. */
	private final SingletonSupplier<Map<String, PayloadMigration>> migrations;

	/**
	 * @param migrations called once, not before the node starts
	 */
	public PayloadCodec(JsonMapper application, long maxBytes,
			Supplier<? extends Collection<PayloadMigration>> migrations) {
		this.mapper = mapper(application);
		this.comparing = SingletonSupplier.of(() -> comparing(this.mapper));
		this.maxBytes = maxBytes;
		this.migrations = SingletonSupplier.of(() -> byName(migrations.get()));
	}

	private static JsonMapper mapper(JsonMapper application) {
		DeserializationConfig config = application.deserializationConfig();
		JsonMapper.Builder builder = JsonMapper.builder()
			// Keeps the order of a LinkedHashSet.
			.addModule(
					new SimpleModule("timingwheel-payload-sets").addAbstractTypeMapping(Set.class, LinkedHashSet.class))
			.findAndAddModules()
			.addModules(application.registeredModules())
			.mixInHandler(application.rebuild().mixInHandler())
			.subtypeResolver(config.getSubtypeResolver().snapshot())
			.handlerInstantiator(config.getHandlerInstantiator())
			.injectableValues(application.getInjectableValues());
		// An empty text of an earlier signature is no null.
		Consumer<MutableCoercionConfig> noEmptyText = (coercions) -> coercions
			.setCoercion(CoercionInputShape.EmptyString, CoercionAction.Fail);
		List.of(LogicalType.Boolean, LogicalType.Integer, LogicalType.Float, LogicalType.DateTime)
			.forEach((type) -> builder.withCoercionConfig(type, noEmptyText));
		TypeGuard.addTo(builder);
		return builder.withCoercionConfig(UUID.class, noEmptyText)
			// What a getter computes from other properties cannot be read.
			.enable(MapperFeature.REQUIRE_SETTERS_FOR_GETTERS)
			// What a class does not know may be a value of another release.
			.enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
			// A number that is read as another type keeps its value.
			.enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
			.disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
			.enable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
			// The text of a constant may change, and two constants may have the same.
			.enable(EnumFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
			.disable(EnumFeature.WRITE_ENUMS_USING_TO_STRING, EnumFeature.READ_ENUMS_USING_TO_STRING)
			// Times keep their offset and zone.
			.enable(DateTimeFeature.WRITE_DATES_WITH_ZONE_ID)
			.disable(DateTimeFeature.WRITE_DATES_WITH_CONTEXT_TIME_ZONE,
					DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
			.build();
	}

	private static JsonMapper comparing(JsonMapper mapper) {
		return mapper.rebuild()
			.annotationIntrospector(new WholeValues())
			.changeDefaultVisibility((visibility) -> visibility.withFieldVisibility(Visibility.ANY))
			.enable(MapperFeature.ALLOW_FINAL_FIELDS_AS_MUTATORS)
			.build();
	}

	private static Map<String, PayloadMigration> byName(Collection<PayloadMigration> migrations) {
		return migrations.stream()
			.collect(Collectors.toMap(PayloadMigration::taskName, Function.identity(), (one, other) -> {
				throw new IllegalStateException(("The durable task \"%s\" has two beans of the type PayloadMigration,"
						+ " %s and %s; make them one, which gets the number of stored arguments")
					.formatted(one.taskName(), one.getClass().getName(), other.getClass().getName()));
			}));
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

	/**
	 * @throws InvalidAnnotatedMethodException if arguments of these types can never be
	 * stored
	 */
	public MethodPayloads payloads(List<String> names, Method method, List<Type> types) {
		return new MethodPayloads(this, names, method, types.stream().map(this.mapper::constructType).toList());
	}

	/**
	 * Writes a call of a method that this application does not have, by the types of the
	 * arguments.
	 * @throws IllegalArgumentException if they cannot be stored
	 */
	public String encode(String name, @Nullable Object[] arguments) {
		return encode(name, arguments, null);
	}

	String encode(String name, @Nullable Object[] arguments, @Nullable MethodPayloads method) {
		// Jackson escapes half a character only when it writes bytes.
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (JsonGenerator json = this.mapper.createGenerator(bytes)) {
			json.writeStartArray();
			for (int i = 0; i < arguments.length; i++) {
				ObjectWriter writer = (method != null) ? method.writer(i, arguments[i]) : this.mapper.writer();
				try {
					writer.writeValue(json, arguments[i]);
				}
				catch (UnsupportedTypeException | JacksonException ex) {
					UnsupportedTypeException reason = UnsupportedTypeException.of(ex);
					throw new IllegalArgumentException("%s of the durable task \"%s\" cannot be stored: %s; %s"
						.formatted((method != null) ? method.describe(i) : "Argument " + (i + 1), name,
								reason.getMessage(), reason.remedy()),
							ex);
				}
			}
			json.writeEndArray();
		}
		Assert
			.isTrue(bytes.size() <= this.maxBytes, () -> ("The arguments of the durable task \"%s\" take %d bytes, and"
					+ " timingwheel.store.max-payload-size is %d bytes; pass less, such as an id, or raise the limit")
				.formatted(name, bytes.size(), this.maxBytes));
		return bytes.toString(StandardCharsets.UTF_8);
	}

	JsonMapper mapper() {
		return this.mapper;
	}

	/** By the method equals, or else by all fields that are not ignored on purpose. */
	boolean isSame(@Nullable Object before, @Nullable Object after) {
		try {
			return Objects.equals(before, after) || tree(before).equals(tree(after));
		}
		catch (UnsupportedTypeException | JacksonException ex) {
			// A field that the JSON lacks cannot be written.
			return false;
		}
	}

	private JsonNode tree(@Nullable Object value) {
		JsonMapper mapper = this.comparing.obtain();
		return mapper.readTree(mapper.writeValueAsBytes(value));
	}

	/** Ignores the annotations by which the JSON of a value lacks a part of it. */
	private static final class WholeValues extends JacksonAnnotationIntrospector {

		@Override
		public JsonProperty.@Nullable Access findPropertyAccess(MapperConfig<?> config, Annotated property) {
			return null;
		}

		@Override
		public JsonFormat.@Nullable Value findFormat(MapperConfig<?> config, Annotated memberOrClass) {
			return null;
		}

	}

}
