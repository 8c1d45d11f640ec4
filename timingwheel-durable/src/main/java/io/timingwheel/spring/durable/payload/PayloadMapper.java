package io.timingwheel.spring.durable.payload;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.MutableCoercionConfig;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.type.LogicalType;

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
		this.types.addTo(builder);
		this.mapper = builder.withCoercionConfig(UUID.class, noEmptyText)
			// What a getter computes from other properties cannot be read.
			.enable(MapperFeature.REQUIRE_SETTERS_FOR_GETTERS)
			// What a class does not know may be a value of another release.
			.enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
			// A number that is read as another type keeps its value.
			.enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
			.disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
			// The arguments are read inside an array, whose end is checked there.
			.disable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
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

	Set<String> ignoredProperties(Class<?> type) {
		return this.types.ignoredProperties(type);
	}

	JsonMapper json() {
		return this.mapper;
	}

	/** Makes the deserializers of a type and of all types inside it, but no object. */
	ObjectReader reader(JavaType type) {
		ObjectReader reader = this.mapper.readerFor(type);
		if (!type.isPrimitive()) {
			reader.readValue("null");
		}
		return reader;
	}

	/**
	 * A value of a subclass is written with all its properties, so that the caller
	 * notices if reading loses some.
	 */
	String write(@Nullable JavaType declared, @Nullable Object value) {
		boolean byDeclaredType = declared != null && declared.getRawClass().isInstance(value)
				&& (declared.isContainerType() || declared.isReferenceType() || declared.hasRawClass(value.getClass()));
		// Jackson escapes half a character only when it writes bytes.
		return new String(
				(byDeclaredType ? this.mapper.writerFor(declared) : this.mapper.writer()).writeValueAsBytes(value),
				StandardCharsets.UTF_8);
	}

	boolean isSameJson(@Nullable Object before, @Nullable Object after) {
		return this.mapper.readTree(write(null, before)).equals(this.mapper.readTree(write(null, after)));
	}

}
