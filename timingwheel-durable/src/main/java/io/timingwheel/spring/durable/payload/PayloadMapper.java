package io.timingwheel.spring.durable.payload;

import java.io.Serializable;
import java.lang.annotation.Annotation;
import java.lang.reflect.Member;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.Calendar;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.AnnotationIntrospector;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.KeyDeserializer;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationConfig;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.cfg.MutableCoercionConfig;
import tools.jackson.databind.deser.AbstractDeserializer;
import tools.jackson.databind.deser.ValueDeserializerModifier;
import tools.jackson.databind.deser.bean.BeanDeserializerBase;
import tools.jackson.databind.deser.std.FromStringDeserializer;
import tools.jackson.databind.introspect.Annotated;
import tools.jackson.databind.introspect.AnnotatedClass;
import tools.jackson.databind.introspect.AnnotatedField;
import tools.jackson.databind.introspect.AnnotatedMethod;
import tools.jackson.databind.introspect.AnnotationIntrospectorPair;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.NamedType;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.ValueSerializerModifier;
import tools.jackson.databind.ser.bean.BeanSerializerBase;
import tools.jackson.databind.ser.std.StdSerializer;
import tools.jackson.databind.type.LogicalType;

import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * The JSON mapper of payloads. Another release of the application has to read what this
 * one writes, so the mapper has settings of its own, whatever the settings of the
 * application's mapper are. From that mapper it takes what belongs to single types:
 * modules, mix-ins, subtypes, and how handlers are made. The mapper never takes the name
 * of a class from the JSON. It refuses types that cannot be stored. It checks the types
 * of arguments, properties and elements, at startup where the declared types show the
 * problem, and at each call. Thread-safe.
 */
final class PayloadMapper {

	private static final Set<String> ENTITIES = Set.of("jakarta.persistence.Entity",
			"jakarta.persistence.MappedSuperclass", "jakarta.persistence.Embeddable");

	private static final List<Class<?>> BOUND = List.of(AutoCloseable.class, Class.class, ClassLoader.class,
			CompletionStage.class, Executor.class, Future.class, Iterator.class, Lock.class, Member.class, Thread.class,
			ThreadLocal.class);

	/** Types whose JSON gives the subtype of an object by a name. */
	private final Map<Class<?>, AnnotatedClass> polymorphic = new ConcurrentHashMap<>();

	/** What classes exclude from their JSON. */
	private final Map<Class<?>, Set<String>> ignored = new ConcurrentHashMap<>();

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
		this.mapper = builder.annotationIntrospector(new TypeInfoGuard(builder.annotationIntrospector()))
			.addModule(new SimpleModule("timingwheel-payload").setDeserializerModifier(new DeserializationGuard())
				.setSerializerModifier(new SerializationGuard()))
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
					DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE, DateTimeFeature.TRUNCATE_TO_MSECS_ON_READ,
					DateTimeFeature.TRUNCATE_TO_MSECS_ON_WRITE)
			// An empty text of an earlier signature is no null.
			.withCoercionConfig(LogicalType.Boolean, PayloadMapper::failOnEmptyText)
			.withCoercionConfig(LogicalType.Integer, PayloadMapper::failOnEmptyText)
			.withCoercionConfig(LogicalType.Float, PayloadMapper::failOnEmptyText)
			.withCoercionConfig(LogicalType.DateTime, PayloadMapper::failOnEmptyText)
			.withCoercionConfig(UUID.class, PayloadMapper::failOnEmptyText)
			.build();
	}

	private static void failOnEmptyText(MutableCoercionConfig coercions) {
		coercions.setCoercion(CoercionInputShape.EmptyString, CoercionAction.Fail);
	}

	/**
	 * What Jackson's own handling of a type would lose. A module of the application may
	 * handle these types in another way.
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

	/**
	 * The names of the properties that a class excludes from its JSON by annotation.
	 */
	Set<String> ignoredProperties(Class<?> type) {
		return this.ignored.getOrDefault(type, Set.of());
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
	 * The position of the first element that differs between two JSON arrays, -1 if none
	 * does. The order of the properties of objects and of the elements of arrays does not
	 * count: a set may come back in another order. The elements of a list always keep
	 * their order, so this hides no difference.
	 */
	int firstDifference(String before, String after) {
		if (before.equals(after)) {
			return -1;
		}
		JsonNode one = this.mapper.readTree(before);
		JsonNode other = this.mapper.readTree(after);
		return IntStream.range(0, one.size())
			.filter((i) -> !content(one.get(i)).equals(content(other.get(i))))
			.findFirst()
			.orElse(-1);
	}

	private static Object content(JsonNode node) {
		if (!node.isContainer()) {
			return node;
		}
		Stream<Object> elements = node.isObject()
				? node.propertyStream().map((property) -> Map.entry(property.getKey(), content(property.getValue())))
				: node.valueStream().map(PayloadMapper::content);
		return List.of(node.getNodeType(),
				elements.collect(Collectors.groupingBy(Function.identity(), Collectors.counting())));
	}

	/**
	 * Refuses types whose objects lose their meaning when they are stored, whether or not
	 * Jackson can write them.
	 * @param handler writes or reads the type: Jackson's own writes calendars without
	 * their zone
	 * @throws UnsupportedTypeException if its objects cannot be stored
	 */
	private static void checkClass(Class<?> type, Object handler) {
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
		if (Calendar.class.isAssignableFrom(type)
				&& handler.getClass().getName().startsWith("tools.jackson.databind.")) {
			throw new UnsupportedTypeException(type, "loses its zone in JSON", "declare ZonedDateTime");
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
			checkClass(type, deserializer);
			if (type == Object.class || type == Serializable.class) {
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
			checkClass(type.getRawClass(), deserializer);
			return deserializer;
		}

	}

	/**
	 * Refuses types that appear only at a call, such as the type of an element in a list,
	 * or the proxy of an entity.
	 */
	private final class SerializationGuard extends ValueSerializerModifier {

		@Override
		public ValueSerializer<?> modifySerializer(SerializationConfig config, BeanDescription.Supplier bean,
				ValueSerializer<?> serializer) {
			Class<?> type = bean.getBeanClass();
			checkClass(type, serializer);
			if (serializer instanceof BeanSerializerBase) {
				PayloadMapper.this.ignored.put(type, ignored(config, bean));
			}
			return serializer;
		}

		/**
		 * The names of the fields that an annotation excludes, also an annotation at the
		 * getter or setter.
		 */
		private static Set<String> ignored(SerializationConfig config, BeanDescription.Supplier bean) {
			AnnotationIntrospector annotations = config.getAnnotationIntrospector();
			AnnotatedClass type = bean.getClassInfo();
			Set<String> names = new HashSet<>();
			for (AnnotatedField field : type.fields()) {
				if (annotations.hasIgnoreMarker(config, field)) {
					names.add(field.getName());
				}
			}
			for (AnnotatedMethod method : type.memberMethods()) {
				String property = annotations.hasIgnoreMarker(config, method)
						? method.getName().replaceFirst("^(get|is|set)", "") : "";
				names.add(StringUtils.uncapitalizeAsProperty(property));
			}
			// One accessor may be excluded, and another one included.
			bean.get().findProperties().forEach((property) -> names.remove(property.getInternalName()));
			names.addAll(config.getDefaultPropertyIgnorals(bean.getBeanClass(), type).findIgnoredForSerialization());
			return names;
		}

	}

	/**
	 * Writes a {@link Timestamp} with its nanoseconds.
	 */
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
