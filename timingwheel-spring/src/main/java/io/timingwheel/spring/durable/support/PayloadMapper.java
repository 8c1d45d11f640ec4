package io.timingwheel.spring.durable.support;

import java.lang.annotation.Annotation;
import java.lang.reflect.Member;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;

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
 * The JSON mapper of payloads. It has the settings of the application's mapper, but never
 * takes the name of a class from the JSON. It refuses types that cannot be stored. It
 * checks the types of arguments, properties and elements, at startup where the declared
 * types show the problem, and at each call. Thread-safe.
 */
final class PayloadMapper {

	private static final Set<String> ENTITIES = Set.of("jakarta.persistence.Entity",
			"jakarta.persistence.MappedSuperclass", "jakarta.persistence.Embeddable");

	private static final List<Class<?>> BOUND = List.of(AutoCloseable.class, Class.class, ClassLoader.class,
			CompletionStage.class, Executor.class, Future.class, Iterator.class, Lock.class, Member.class, Thread.class,
			ThreadLocal.class);

	/** Types whose JSON gives the subtype of an object by a name. */
	private final Map<Class<?>, AnnotatedClass> polymorphic = new ConcurrentHashMap<>();

	private final JsonMapper mapper;

	PayloadMapper(JsonMapper mapper) {
		JsonMapper.Builder builder = mapper.rebuild();
		this.mapper = builder.deactivateDefaultTyping()
			.annotationIntrospector(new TypeInfoGuard(builder.annotationIntrospector()))
			.addModule(new SimpleModule("timingwheel-payload").setDeserializerModifier(new DeserializationGuard())
				.setSerializerModifier(new SerializationGuard()))
			.enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
			// The codec reads arguments inside an envelope, and checks its end itself.
			.disable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS, DeserializationFeature.UNWRAP_ROOT_VALUE)
			.enable(SerializationFeature.FAIL_ON_EMPTY_BEANS, SerializationFeature.FAIL_ON_SELF_REFERENCES)
			.disable(SerializationFeature.WRAP_ROOT_VALUE, SerializationFeature.INDENT_OUTPUT)
			// Times keep their nanoseconds, offset and zone.
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
	 * Makes a writer for a value that is read as the declared type later. A value of a
	 * subclass is written with all its properties, so that the codec notices if reading
	 * loses some.
	 */
	ObjectWriter writer(@Nullable JavaType declared, Object value) {
		boolean byDeclaredType = declared != null && declared.getRawClass().isInstance(value)
				&& (declared.isContainerType() || declared.isReferenceType() || declared.hasRawClass(value.getClass())
						|| this.polymorphic.containsKey(declared.getRawClass()));
		return byDeclaredType ? this.mapper.writerFor(declared) : this.mapper.writer();
	}

	/**
	 * Checks that a type can be read, with the types of its properties and elements, and
	 * with all its named subtypes.
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
		// This makes the deserializers of the type and of all types inside it, but no
		// object.
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
	 * Refuses types whose objects lose their meaning when they are stored, whether or not
	 * Jackson can write them.
	 * @throws UnsupportedTypeException if its objects cannot be stored
	 */
	private static void checkClass(Class<?> type) {
		if (isEntity(type)) {
			throw new UnsupportedTypeException(type, "is a JPA entity",
					"pass its id and load it in the body, or pass a copy of the values that the body needs");
		}
		if (isCode(type)) {
			throw new UnsupportedTypeException(type, "is code", "pass the data that the code works on");
		}
		if (BOUND.stream().anyMatch((bound) -> bound.isAssignableFrom(type))) {
			throw new UnsupportedTypeException(type, "belongs to this JVM and means nothing to another",
					"pass the data from which the body can make or find it");
		}
	}

	/**
	 * Tells whether a class is an entity or extends one, as a proxy of an entity does.
	 */
	private static boolean isEntity(Class<?> type) {
		for (Class<?> candidate = type; candidate != null; candidate = candidate.getSuperclass()) {
			for (Annotation annotation : candidate.getDeclaredAnnotations()) {
				if (ENTITIES.contains(annotation.annotationType().getName())) {
					return true;
				}
			}
		}
		return false;
	}

	private static boolean isCode(Class<?> type) {
		return type.isHidden() || type.isSynthetic() || type.isAnnotationPresent(FunctionalInterface.class);
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
			checkClass(type);
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
			checkClass(type.getRawClass());
			return deserializer;
		}

	}

	/**
	 * Refuses types that appear only at a call, such as the type of an element in a list,
	 * or the proxy of an entity.
	 */
	private static final class SerializationGuard extends ValueSerializerModifier {

		@Override
		public ValueSerializer<?> modifySerializer(SerializationConfig config, BeanDescription.Supplier bean,
				ValueSerializer<?> serializer) {
			checkClass(bean.getBeanClass());
			return serializer;
		}

	}

	/**
	 * Thrown if objects of a type cannot be stored. This class does not extend an
	 * exception of Jackson, since Jackson wraps some of its own exceptions without their
	 * cause.
	 */
	static final class UnsupportedTypeException extends RuntimeException {

		private final String remedy;

		UnsupportedTypeException(Class<?> type, String problem, String remedy) {
			super(type.getTypeName() + " " + problem);
			this.remedy = remedy;
		}

		/**
		 * What to change, in the imperative.
		 */
		String remedy() {
			return this.remedy;
		}

	}

}
