package io.timingwheel.spring.durable.payload;

import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.MutableCoercionConfig;
import tools.jackson.databind.deser.std.FromStringDeserializer;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.NamedType;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.std.StdSerializer;
import tools.jackson.databind.type.LogicalType;

import org.springframework.util.ClassUtils;

/**
 * The JSON mapper of payloads. Other releases have to read what this one writes, so it
 * has settings of its own. From the application's mapper it takes modules, mix-ins,
 * subtypes, and how handlers are made. Thread-safe.
 */
final class PayloadMapper {

	private final TypeGuard types = new TypeGuard();

	private final JsonMapper mapper;

	PayloadMapper(JsonMapper application) {
		DeserializationConfig config = application.deserializationConfig();
		JsonMapper.Builder builder = JsonMapper.builder()
			.addModule(defaults())
			.findAndAddModules()
			.addModules(application.registeredModules())
			.mixInHandler(application.rebuild().mixInHandler())
			.subtypeResolver(config.getSubtypeResolver().snapshot());
		if (config.getHandlerInstantiator() != null) {
			builder.handlerInstantiator(config.getHandlerInstantiator());
		}
		if (application.getInjectableValues() != null) {
			builder.injectableValues(application.getInjectableValues());
		}
		// An empty text of an earlier signature is no null.
		Consumer<MutableCoercionConfig> noEmptyText = (coercions) -> coercions
			.setCoercion(CoercionInputShape.EmptyString, CoercionAction.Fail);
		List.of(LogicalType.Boolean, LogicalType.Integer, LogicalType.Float, LogicalType.DateTime)
			.forEach((type) -> builder.withCoercionConfig(type, noEmptyText));
		this.types.addTo(builder);
		this.mapper = builder.withCoercionConfig(UUID.class, noEmptyText)
			// What a getter computes from other properties cannot be read.
			.enable(MapperFeature.REQUIRE_SETTERS_FOR_GETTERS)
			// What a class does not know may be a value of another release.
			.enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
					DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
			// A number that is read as another type keeps its value.
			.enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
			.disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
			// The codec reads arguments inside an envelope, and checks its end itself.
			.disable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
			.enable(SerializationFeature.FAIL_ON_EMPTY_BEANS, SerializationFeature.FAIL_ON_SELF_REFERENCES)
			// The text of a constant may change, and two constants may have the same.
			.enable(EnumFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
			.disable(EnumFeature.WRITE_ENUMS_USING_TO_STRING, EnumFeature.READ_ENUMS_USING_TO_STRING)
			// Times keep their nanoseconds, offset and zone.
			.enable(DateTimeFeature.WRITE_DATES_WITH_ZONE_ID)
			.disable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS, DateTimeFeature.WRITE_DURATIONS_AS_TIMESTAMPS,
					DateTimeFeature.WRITE_DATES_WITH_CONTEXT_TIME_ZONE,
					DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
			// Jackson 3.0, which comes with Boot 4.0, does not have these features.
			.disable(Arrays.stream(DateTimeFeature.values())
				.filter((feature) -> feature.name().startsWith("TRUNCATE_TO_MSECS"))
				.toArray(DateTimeFeature[]::new))
			.build();
	}

	/**
	 * What Jackson itself would lose. A module of the application may handle these types
	 * otherwise.
	 */
	private static SimpleModule defaults() {
		SimpleModule module = new SimpleModule("timingwheel-payload-defaults");
		// Keeps the order of a LinkedHashSet.
		module.addAbstractTypeMapping(Set.class, LinkedHashSet.class);
		if (ClassUtils.isPresent("java.sql.Timestamp", null)) {
			SqlTimestamps.addTo(module);
		}
		return module;
	}

	Set<String> ignoredProperties(Class<?> type) {
		return this.types.ignoredProperties(type);
	}

	JsonMapper json() {
		return this.mapper;
	}

	ObjectReader reader(JavaType type) {
		return this.mapper.readerFor(type);
	}

	/**
	 * A value of a subclass is written with all its properties, so that the caller
	 * notices if reading loses some.
	 */
	String write(@Nullable JavaType declared, @Nullable Object value) {
		boolean byDeclaredType = declared != null && declared.getRawClass().isInstance(value)
				&& (declared.isContainerType() || declared.isReferenceType() || declared.hasRawClass(value.getClass())
						|| this.types.polymorphic().containsKey(declared.getRawClass()));
		// Jackson refuses half a character only when it writes bytes.
		return new String(
				(byDeclaredType ? this.mapper.writerFor(declared) : this.mapper.writer()).writeValueAsBytes(value),
				StandardCharsets.UTF_8);
	}

	/** Checks that a type, the types inside it and its named subtypes can be read. */
	void check(JavaType type) {
		check(type, new HashSet<>());
	}

	private void check(JavaType type, Set<Class<?>> seen) {
		if (type.isPrimitive()) {
			return;
		}
		// This makes the deserializers of the type and of all types inside it, but no
		// object.
		reader(type).readValue("null");
		DeserializationConfig config = this.mapper.deserializationConfig();
		this.types.polymorphic().forEach((base, description) -> {
			if (seen.add(base)) {
				for (NamedType subtype : config.getSubtypeResolver()
					.collectAndResolveSubtypesByTypeId(config, description)) {
					check(config.constructType(subtype.getType()), seen);
				}
			}
		});
	}

	/**
	 * The order of elements does not count: a set may come back in another one, and a
	 * list never does.
	 */
	boolean isSameJson(String before, String after) {
		return before.equals(after) || sorted(this.mapper.readTree(before)).equals(sorted(this.mapper.readTree(after)));
	}

	private static String sorted(JsonNode node) {
		Stream<String> elements = node.isObject()
				? node.propertyStream().map((property) -> property.getKey() + ':' + sorted(property.getValue()))
				: node.valueStream().map(PayloadMapper::sorted);
		return node.isContainer() ? node.getNodeType() + elements.sorted().toList().toString() : node.toString();
	}

	private static final class SqlTimestamps {

		static void addTo(SimpleModule module) {
			module.addSerializer(Timestamp.class, new StdSerializer<Timestamp>(Timestamp.class) {
				@Override
				public void serialize(Timestamp value, JsonGenerator generator, SerializationContext context) {
					generator.writeString(value.toInstant().toString());
				}
			});
			module.addDeserializer(Timestamp.class, new FromStringDeserializer<Timestamp>(Timestamp.class) {
				@Override
				protected Timestamp _deserialize(String value, DeserializationContext context) {
					return Timestamp.from(Instant.parse(value));
				}
			});
		}

	}

}
