package io.timingwheel.spring.durable.support;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.AnnotationIntrospector;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.KeyDeserializer;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationConfig;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.deser.AbstractDeserializer;
import tools.jackson.databind.deser.ValueDeserializerModifier;
import tools.jackson.databind.deser.bean.BeanDeserializerBase;
import tools.jackson.databind.introspect.Annotated;
import tools.jackson.databind.introspect.AnnotatedClass;
import tools.jackson.databind.introspect.AnnotationIntrospectorPair;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.NamedType;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.ValueSerializerModifier;

/**
 * The mapper of payloads. It knows what the application has taught its own mapper, but
 * never takes the name of a class from the JSON, and refuses types that cannot be stored
 * wherever it meets them: as an argument, a property, an element, at startup or at a
 * call. Thread-safe.
 */
final class PayloadMapper {

	/** Types that say in JSON, by a name, which subtype an object has. */
	private final Map<Class<?>, AnnotatedClass> polymorphic = new ConcurrentHashMap<>();

	private final JsonMapper mapper;

	PayloadMapper(JsonMapper mapper) {
		JsonMapper.Builder builder = mapper.rebuild();
		this.mapper = builder.deactivateDefaultTyping()
			.annotationIntrospector(new TypeInfoGuard(builder.annotationIntrospector()))
			.addModule(new SimpleModule("timingwheel-payload").setDeserializerModifier(new DeserializationGuard())
				.setSerializerModifier(new SerializationGuard()))
			.enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
			// Arguments are read in the midst of an envelope, whose end is checked.
			.disable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS, DeserializationFeature.UNWRAP_ROOT_VALUE)
			.enable(SerializationFeature.FAIL_ON_EMPTY_BEANS, SerializationFeature.FAIL_ON_SELF_REFERENCES)
			.disable(SerializationFeature.WRAP_ROOT_VALUE, SerializationFeature.INDENT_OUTPUT)
			// Times come back as they were: with their nanoseconds, offset and zone.
			.enable(DateTimeFeature.WRITE_DATES_WITH_ZONE_ID)
			.disable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS, DateTimeFeature.WRITE_DURATIONS_AS_TIMESTAMPS,
					DateTimeFeature.WRITE_DATES_WITH_CONTEXT_TIME_ZONE,
					DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE, DateTimeFeature.TRUNCATE_TO_MSECS_ON_READ,
					DateTimeFeature.TRUNCATE_TO_MSECS_ON_WRITE)
			.build();
	}

	JsonMapper json() {
		return this.mapper;
	}

	ObjectReader reader(JavaType type) {
		return this.mapper.readerFor(type);
	}

	/**
	 * Writes a value so that it can be read as the declared type. Values of a subclass
	 * are written in full, so that it shows if reading loses something.
	 */
	ObjectWriter writer(@Nullable JavaType declared, Object value) {
		boolean byDeclaredType = declared != null && declared.getRawClass().isInstance(value)
				&& (declared.isContainerType() || declared.isReferenceType() || declared.hasRawClass(value.getClass())
						|| this.polymorphic.containsKey(declared.getRawClass()));
		return byDeclaredType ? this.mapper.writerFor(declared) : this.mapper.writer();
	}

	/**
	 * Checks that a type can be read, with all that it holds and all its named subtypes.
	 * @throws UnsupportedTypeException if it cannot
	 * @throws tools.jackson.databind.DatabindException if it cannot
	 */
	void check(JavaType type) {
		check(type, new HashSet<>());
	}

	private void check(JavaType type, Set<Class<?>> seen) {
		if (type.isPrimitive()) {
			return;
		}
		// Has the deserializers made for all that the type holds, and instantiates
		// nothing.
		reader(type).readValue("null");
		DeserializationConfig config = this.mapper.deserializationConfig();
		this.polymorphic.forEach((base, description) -> {
			if (seen.add(base)) {
				for (NamedType subtype : config.getSubtypeResolver()
					.collectAndResolveSubtypesByTypeId(config, description)) {
					check(config.constructType(subtype.getType()), seen);
				}
			}
		});
	}

	/**
	 * Refuses class names as types in JSON, wherever the annotation is.
	 */
	private final class TypeInfoGuard extends AnnotationIntrospectorPair {

		TypeInfoGuard(AnnotationIntrospector delegate) {
			super(delegate, AnnotationIntrospector.nopInstance());
		}

		@Override
		public JsonTypeInfo.@Nullable Value findPolymorphicTypeInfo(MapperConfig<?> config, Annotated annotated) {
			JsonTypeInfo.Value info = super.findPolymorphicTypeInfo(config, annotated);
			if (info == null) {
				return null;
			}
			if (info.getIdType() == JsonTypeInfo.Id.CLASS || info.getIdType() == JsonTypeInfo.Id.MINIMAL_CLASS) {
				throw new UnsupportedTypeException(annotated.getRawType(),
						"has @JsonTypeInfo(use = " + info.getIdType() + "), by which JSON decides what is instantiated",
						"use @JsonTypeInfo(use = NAME) with @JsonSubTypes");
			}
			if (annotated instanceof AnnotatedClass type) {
				PayloadMapper.this.polymorphic.put(type.getRawType(), type);
			}
			return info;
		}

	}

	private final class DeserializationGuard extends ValueDeserializerModifier {

		@Override
		public ValueDeserializer<?> modifyDeserializer(DeserializationConfig config, BeanDescription.Supplier bean,
				ValueDeserializer<?> deserializer) {
			Class<?> type = bean.getBeanClass();
			PayloadTypes.check(type);
			if (type == Object.class) {
				throw new UnsupportedTypeException(type, "does not say what is to be read",
						"declare the type that the value has, with its type arguments, or JsonNode");
			}
			if (deserializer instanceof AbstractDeserializer) {
				if (config.getAnnotationIntrospector().findPolymorphicTypeInfo(config, bean.getClassInfo()) == null) {
					throw new UnsupportedTypeException(type, "is abstract, and JSON does not say what to instantiate",
							"declare the class, or annotate the type with @JsonTypeInfo(use = NAME) and @JsonSubTypes");
				}
			}
			else if (deserializer instanceof BeanDeserializerBase beans
					&& !beans.getValueInstantiator().canInstantiate()) {
				throw new UnsupportedTypeException(type, "has no constructor that JSON can be read into",
						"make it a record, give it a constructor without parameters, or annotate one with @JsonCreator");
			}
			return deserializer;
		}

		@Override
		public KeyDeserializer modifyKeyDeserializer(DeserializationConfig config, JavaType type,
				KeyDeserializer deserializer) {
			PayloadTypes.check(type.getRawClass());
			return deserializer;
		}

	}

	/**
	 * What only the call shows, such as the element of a list, or a proxy of an entity.
	 */
	private static final class SerializationGuard extends ValueSerializerModifier {

		@Override
		public ValueSerializer<?> modifySerializer(SerializationConfig config, BeanDescription.Supplier bean,
				ValueSerializer<?> serializer) {
			PayloadTypes.check(bean.getBeanClass());
			return serializer;
		}

	}

}
