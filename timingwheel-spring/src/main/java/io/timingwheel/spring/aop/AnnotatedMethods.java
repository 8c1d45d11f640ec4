package io.timingwheel.spring.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The methods of classes that bear an annotation: on themselves, on the method they
 * override, on an interface, or through a composed annotation. Each class is read once.
 * Thread-safe.
 *
 * @param <A> the annotation
 */
public final class AnnotatedMethods<A extends Annotation> {

	private static final Log logger = LogFactory.getLog(AnnotatedMethods.class);

	private final Class<A> annotationType;

	private final Map<Class<?>, Map<Method, A>> classes = new ConcurrentHashMap<>();

	/**
	 * Creates an empty registry.
	 * @param annotationType the annotation
	 */
	public AnnotatedMethods(Class<A> annotationType) {
		this.annotationType = annotationType;
	}

	/**
	 * The annotated methods of a class.
	 * @param type the class, may be a proxy's
	 * @return the most specific methods with their annotations
	 * @throws InvalidAnnotatedMethodException if attributes contradict each other
	 */
	public Map<Method, A> of(Class<?> type) {
		Class<?> userType = ClassUtils.getUserClass(type);
		Map<Method, A> methods = this.classes.get(userType);
		if (methods == null) {
			methods = AnnotationUtils.isCandidateClass(userType, this.annotationType) ? read(userType) : Map.of();
			this.classes.put(userType, methods);
		}
		return methods;
	}

	/**
	 * The method that a call ends in.
	 * @param method the method that is called, may be one of an interface or a bridge
	 * @param targetClass the class of the object that it is called on
	 * @return the most specific method
	 */
	public static Method mostSpecific(Method method, Class<?> targetClass) {
		return Proxy.isProxyClass(targetClass) ? method : AopUtils.getMostSpecificMethod(method, targetClass);
	}

	private Map<Method, A> read(Class<?> type) {
		try {
			return readAll(type);
		}
		catch (IllegalStateException | LinkageError ex) {
			// A type in a signature is missing: no proxy can be made of the class either.
			logger.debug("Cannot read the methods of " + type, ex);
			return Map.of();
		}
	}

	private Map<Method, A> readAll(Class<?> type) {
		Map<Method, A> methods = new HashMap<>();
		// The class first, so that its annotations precede those of interfaces.
		Set<Class<?>> declaring = new LinkedHashSet<>();
		if (!Proxy.isProxyClass(type)) {
			declaring.add(type);
		}
		declaring.addAll(ClassUtils.getAllInterfacesForClassAsSet(type));
		for (Class<?> candidate : declaring) {
			ReflectionUtils.doWithMethods(candidate, (method) -> {
				Method specific = mostSpecific(method, type);
				A annotation = methods.containsKey(specific) ? null : find(method);
				if (annotation != null) {
					methods.put(specific, annotation);
				}
			}, ReflectionUtils.USER_DECLARED_METHODS);
		}
		return methods.isEmpty() ? Map.of() : methods;
	}

	private @Nullable A find(Method method) {
		try {
			return AnnotatedElementUtils.findMergedAnnotation(method, this.annotationType);
		}
		catch (AnnotationConfigurationException ex) {
			throw new InvalidAnnotatedMethodException(method, String.valueOf(ex.getMessage()),
					"set only one of the attributes", ex);
		}
	}

}
