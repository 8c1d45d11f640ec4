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
 * Finds the methods of a class that have an annotation. The annotation may be on the
 * method, on the method that it overrides or on an interface method, and may be a
 * meta-annotation. Each class is read once. Thread-safe.
 *
 * @param <A> the type of the annotation
 * @since 0.1
 */
public final class AnnotatedMethods<A extends Annotation> {

	private static final Log logger = LogFactory.getLog(AnnotatedMethods.class);

	private final Class<A> annotationType;

	private final Map<Class<?>, Map<Method, A>> classes = new ConcurrentHashMap<>();

	/**
	 * Creates an instance that has read no class.
	 * @param annotationType the type of the annotation
	 */
	public AnnotatedMethods(Class<A> annotationType) {
		this.annotationType = annotationType;
	}

	/**
	 * Returns the annotated methods of a class.
	 * @param type the class; may be the class of a proxy
	 * @return the most specific methods with their annotations, empty if there are none
	 * @throws InvalidAnnotatedMethodException if the attributes of an annotation
	 * contradict each other
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
	 * Returns a pointcut that matches the annotated methods, also when they are called
	 * through an interface.
	 * @return the pointcut
	 */
	public Pointcut pointcut() {
		return pointcut((type) -> {
		});
	}

	/**
	 * Returns a pointcut like {@link #pointcut()} that also checks each class with
	 * annotated methods before Spring creates a proxy of the class. This check finds what
	 * {@link AnnotatedMethodScanner} cannot see: the class of a bean whose factory method
	 * declares an interface. There is no check during ahead-of-time processing.
	 * @param check takes the class, and throws an exception if an annotation is invalid
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
	 * Returns the method that a call invokes in the end.
	 * @param method the called method; may be an interface method or a bridge method
	 * @param targetClass the class of the object that the method is called on
	 * @return the most specific method
	 */
	public static Method mostSpecific(Method method, Class<?> targetClass) {
		return Proxy.isProxyClass(targetClass) ? method : AopUtils.getMostSpecificMethod(method, targetClass);
	}

	/**
	 * Returns the types of a method's parameters. Type variables that the class of the
	 * bean binds are resolved.
	 * @param method the method
	 * @param beanClass the class of the bean
	 * @return the types in the order of the parameters
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
			// A signature names a missing type. Spring cannot create a proxy either.
			logger.debug("Cannot read the methods of " + type, ex);
			return Map.of();
		}
	}

	private Map<Method, A> readAll(Class<?> type) {
		Map<Method, A> methods = new HashMap<>();
		// The class is first, because its annotations precede those of interfaces.
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
