package io.timingwheel.spring.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.GenericTypeResolver;
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
	 * Matches the annotated methods, whether called through the class or an interface.
	 * @return a pointcut that checks nothing
	 */
	public Pointcut pointcut() {
		return pointcut((type) -> {
		});
	}

	/**
	 * Matches the annotated methods, and checks each class before its proxy is made, as
	 * {@link AnnotatedMethodScanner} cannot see behind a bean method that declares an
	 * interface.
	 * @param check throws if a class has annotated methods that are invalid
	 * @return the pointcut
	 */
	public Pointcut pointcut(Consumer<? super Class<?>> check) {
		StaticMethodMatcherPointcut pointcut = new StaticMethodMatcherPointcut() {

			@Override
			public boolean matches(Method method, Class<?> targetClass) {
				return of(targetClass).containsKey(mostSpecific(method, targetClass));
			}

		};
		pointcut.setClassFilter((type) -> {
			if (of(type).isEmpty()) {
				return false;
			}
			if (!AnnotatedMethodAotProcessor.isActive()) {
				check.accept(type);
			}
			return true;
		});
		return pointcut;
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

	/**
	 * The types by position, with the type variables that the bean's class settles.
	 * @param method the method
	 * @param beanClass the class of the bean
	 * @return the types
	 */
	public static List<Type> argumentTypes(Method method, Class<?> beanClass) {
		return Arrays.stream(method.getGenericParameterTypes()).map((type) -> resolve(type, beanClass)).toList();
	}

	private static Type resolve(Type type, Class<?> beanClass) {
		if (type instanceof GenericArrayType array) {
			Type component = resolve(array.getGenericComponentType(), beanClass);
			return (component instanceof Class<?> resolved) ? resolved.arrayType() : type;
		}
		return GenericTypeResolver.resolveType(type, beanClass);
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
