package io.timingwheel.spring.durable.support;

import java.lang.annotation.Annotation;
import java.lang.reflect.Member;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;

/**
 * The types whose objects would not be themselves after they were stored, whether or not
 * a JSON library can write them.
 */
final class PayloadTypes {

	private static final Set<String> ENTITIES = Set.of("jakarta.persistence.Entity",
			"jakarta.persistence.MappedSuperclass", "jakarta.persistence.Embeddable");

	private static final List<Class<?>> BOUND = List.of(AutoCloseable.class, Class.class, ClassLoader.class,
			CompletionStage.class, Executor.class, Future.class, Iterator.class, Lock.class, Member.class, Thread.class,
			ThreadLocal.class);

	private PayloadTypes() {
	}

	/**
	 * Checks a type.
	 * @throws UnsupportedTypeException if its objects cannot be stored
	 */
	static void check(Class<?> type) {
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
	 * Also of the proxies that stand for entities, which are subclasses.
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

}
