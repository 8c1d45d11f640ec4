package io.timingwheel.spring.durable.payload;

import java.io.Serializable;
import java.lang.reflect.Member;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DatabindContext;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.KeyDeserializer;
import tools.jackson.databind.SerializationConfig;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.deser.AbstractDeserializer;
import tools.jackson.databind.deser.ValueDeserializerModifier;
import tools.jackson.databind.deser.bean.BeanDeserializerBase;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.PolymorphicTypeValidator;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.ValueSerializerModifier;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * Refuses types whose objects cannot be stored, when the mapper makes their reader or
 * writer: at the start, or at the call. Thread-safe.
 */
final class TypeGuard {

	private static final Set<String> ENTITIES = Set.of("jakarta.persistence.Entity",
			"jakarta.persistence.MappedSuperclass", "jakarta.persistence.Embeddable");

	private static final List<Class<?>> BOUND = List.of(AutoCloseable.class, Class.class, ClassLoader.class,
			CompletionStage.class, Executor.class, Future.class, Iterator.class, Lock.class, Member.class, Thread.class,
			ThreadLocal.class);

	/** Types whose JSON, as Jackson itself writes it, lacks a part of the value. */
	private static final Set<String> LOSSY = Set.of("java.sql.Timestamp", "java.util.Calendar",
			"java.util.GregorianCalendar", "java.util.regex.Pattern");

	private TypeGuard() {
	}

	static void addTo(JsonMapper.Builder builder) {
		builder.polymorphicTypeValidator(new NoClassNames())
			.addModule(new SimpleModule("timingwheel-payload").setDeserializerModifier(new DeserializationGuard())
				.setSerializerModifier(new SerializationGuard()));
	}

	private static void checkClass(Class<?> type, Object handler) {
		// A proxy of an entity extends it.
		MergedAnnotations annotations = MergedAnnotations.from(type, SearchStrategy.SUPERCLASS);
		UnsupportedTypeException.when(ENTITIES.stream().anyMatch(annotations::isPresent), type, "is a JPA entity",
				"pass its id and load it in the body, or pass a copy of the values that the body needs");
		UnsupportedTypeException.when(
				type.isHidden() || type.isSynthetic() || type.isAnnotationPresent(FunctionalInterface.class), type,
				"is code", "pass the data that the code works on");
		UnsupportedTypeException.when(BOUND.stream().anyMatch((bound) -> bound.isAssignableFrom(type)), type,
				"belongs to this JVM and means nothing to another",
				"pass the data from which the body can make or find it");
		// A module of the application may keep what Jackson itself loses.
		UnsupportedTypeException.when(
				LOSSY.contains(type.getName()) && handler.getClass().getName().startsWith("tools.jackson.databind."),
				type, "loses a part of its value in JSON",
				"declare a type of java.time, such as Instant or ZonedDateTime, or String");
	}

	private static final class NoClassNames extends PolymorphicTypeValidator.Base {

		@Override
		public Validity validateBaseType(DatabindContext context, JavaType base) {
			throw new UnsupportedTypeException(
					base.getRawClass().getTypeName()
							+ " has a @JsonTypeInfo by which JSON decides what is instantiated",
					"use @JsonTypeInfo(use = NAME) with @JsonSubTypes");
		}

	}

	private static final class DeserializationGuard extends ValueDeserializerModifier {

		@Override
		public ValueDeserializer<?> modifyDeserializer(DeserializationConfig config, BeanDescription.Supplier bean,
				ValueDeserializer<?> deserializer) {
			Class<?> type = bean.getBeanClass();
			checkClass(type, deserializer);
			UnsupportedTypeException.when(type == Object.class || type == Serializable.class, type,
					"does not say what is to be read",
					"declare the type that the value has, with its type arguments, or JsonNode");
			UnsupportedTypeException.when(deserializer instanceof AbstractDeserializer
					&& config.getAnnotationIntrospector().findPolymorphicTypeInfo(config, bean.getClassInfo()) == null,
					type, "is abstract, and JSON does not say what to instantiate",
					"declare the class, or annotate the type with @JsonTypeInfo(use = NAME) and @JsonSubTypes");
			UnsupportedTypeException.when(
					deserializer instanceof BeanDeserializerBase beans
							&& !beans.getValueInstantiator().canInstantiate(),
					type, "has no constructor that JSON can be read into",
					"make it a record, give it a constructor without parameters, or annotate one with @JsonCreator");
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
	 * Types that appear only at a call, such as that of an element, or the proxy of an
	 * entity.
	 */
	private static final class SerializationGuard extends ValueSerializerModifier {

		@Override
		public ValueSerializer<?> modifySerializer(SerializationConfig config, BeanDescription.Supplier bean,
				ValueSerializer<?> serializer) {
			checkClass(bean.getBeanClass(), serializer);
			return serializer;
		}

	}

	/**
	 * Neither an exception of Jackson nor an IllegalArgumentException, since Jackson
	 * wraps some of these without their cause.
	 */
	static final class UnsupportedTypeException extends RuntimeException {

		private final String remedy;

		private UnsupportedTypeException(@Nullable String message, String remedy) {
			super(message);
			this.remedy = remedy;
		}

		static void when(boolean refused, Class<?> type, String problem, String remedy) {
			if (refused) {
				throw new UnsupportedTypeException(type.getTypeName() + " " + problem, remedy);
			}
		}

		/** The reason in an exception of Jackson, its own unless a type was refused. */
		static UnsupportedTypeException of(RuntimeException ex) {
			return (NestedExceptionUtils.getMostSpecificCause(ex) instanceof UnsupportedTypeException unsupported)
					? unsupported
					: new UnsupportedTypeException(
							(ex instanceof JacksonException jackson) ? jackson.getOriginalMessage() : ex.getMessage(),
							"pass data that Jackson can write and read, such as an id or a record");
		}

		String remedy() {
			return this.remedy;
		}

	}

}
