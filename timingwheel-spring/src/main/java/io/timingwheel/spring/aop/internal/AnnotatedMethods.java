package io.timingwheel.spring.aop.internal;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.aop.Pointcut;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the annotated methods of classes, also by meta-annotations and on overridden
 * methods. {@link Timeout} on a class is the default of the methods that the class and
 * its subclasses declare, and on an interface that of its methods. Each class is read
 * once. Thread-safe.
 */
final class AnnotatedMethods {

	private static final Log logger = LogFactory.getLog(AnnotatedMethods.class);

	private static final Set<Class<? extends Annotation>> ANNOTATIONS = Set.of(Delayed.class, CancelDelayed.class,
			Recurring.class, Timeout.class);

	private final Map<Class<?>, Map<Class<?>, Map<Method, Annotation>>> classes = new ConcurrentHashMap<>();

	/** The methods of a class by the types of their annotations. */
	Map<Class<?>, Map<Method, Annotation>> of(Class<?> type) {
		return this.classes.computeIfAbsent(ClassUtils.getUserClass(type), AnnotatedMethods::read);
	}

	@SuppressWarnings("unchecked")
	<A extends Annotation> Map<Method, A> of(Class<?> type, Class<A> annotationType) {
		return (Map<Method, A>) of(type).getOrDefault(annotationType, Map.of());
	}

	/** Matches the annotated methods, also when they are called through an interface. */
	Pointcut pointcut(Class<? extends Annotation> annotationType) {
		StaticMethodMatcherPointcut pointcut = new StaticMethodMatcherPointcut() {

			@Override
			public boolean matches(Method method, Class<?> targetClass) {
				return of(targetClass, annotationType).containsKey(mostSpecific(method, targetClass));
			}

		};
		pointcut.setClassFilter((type) -> !of(type, annotationType).isEmpty());
		return pointcut;
	}

	/** The method that a call invokes in the end. */
	static Method mostSpecific(Method method, Class<?> targetClass) {
		return Proxy.isProxyClass(targetClass) ? method : AopUtils.getMostSpecificMethod(method, targetClass);
	}

	/** The object that an invocation goes to: the proxy itself if it has no target. */
	static Object target(MethodInvocation invocation) {
		return Objects.requireNonNullElseGet(invocation.getThis(), ((ProxyMethodInvocation) invocation)::getProxy);
	}

	/** The class of this object. A proxy may have a target without its interfaces. */
	static Class<?> targetClass(MethodInvocation invocation) {
		Object target = target(invocation);
		Class<?> type = AopUtils.getTargetClass(target);
		return invocation.getMethod().getDeclaringClass().isAssignableFrom(type) ? type : target.getClass();
	}

	/** The types of a method's parameters, as the class of the bean resolves them. */
	static List<Type> argumentTypes(Method method, Class<?> beanClass) {
		return Arrays.stream(method.getGenericParameterTypes())
			.map((type) -> GenericTypeResolver.resolveType(type, beanClass))
			.toList();
	}

	/**
	 * Those of classes are first, because their annotations precede those of interfaces.
	 */
	static Set<Method> declared(Class<?> type) {
		Set<Class<?>> types = new LinkedHashSet<>();
		if (!Proxy.isProxyClass(type)) {
			types.add(type);
		}
		types.addAll(ClassUtils.getAllInterfacesForClassAsSet(type));
		Set<Method> methods = new LinkedHashSet<>();
		types.forEach((candidate) -> ReflectionUtils.doWithMethods(candidate, methods::add,
				ReflectionUtils.USER_DECLARED_METHODS));
		return methods;
	}

	private static Map<Class<?>, Map<Method, Annotation>> read(Class<?> type) {
		Map<Class<?>, Map<Method, Annotation>> found = new HashMap<>();
		try {
			if (AnnotationUtils.isCandidateClass(type, ANNOTATIONS)) {
				Set<Method> declared = declared(type);
				for (Method method : declared) {
					if (method.getDeclaredAnnotations().length > 0) {
						Method specific = mostSpecific(method, type);
						ANNOTATIONS
							.forEach((annotation) -> find(annotation, method, SearchStrategy.DIRECT, specific, found));
					}
				}
				if (MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY).isPresent(Timeout.class)) {
					declared.forEach((method) -> findDefault(method, mostSpecific(method, type), found));
				}
			}
		}
		catch (IllegalStateException | LinkageError ex) {
			// A signature names a missing type. Spring cannot create a proxy either.
			logger.debug("Cannot read the methods of " + type, ex);
		}
		return found;
	}

	/**
	 * The default does not come from the interfaces of a class, which give defaults to
	 * their own methods only.
	 */
	private static void findDefault(Method method, Method specific, Map<Class<?>, Map<Method, Annotation>> found) {
		if (!Modifier.isPrivate(specific.getModifiers()) && !Modifier.isStatic(specific.getModifiers())
				&& !ReflectionUtils.isObjectMethod(specific)) {
			Class<?> type = method.getDeclaringClass();
			find(Timeout.class, type, type.isInterface() ? SearchStrategy.TYPE_HIERARCHY : SearchStrategy.SUPERCLASS,
					specific, found);
		}
	}

	private static void find(Class<? extends Annotation> annotationType, AnnotatedElement element,
			SearchStrategy strategy, Method method, Map<Class<?>, Map<Method, Annotation>> found) {
		try {
			MergedAnnotations.from(element, strategy)
				.get(annotationType)
				.synthesize(MergedAnnotation::isPresent)
				.ifPresent((annotation) -> found.computeIfAbsent(annotationType, (key) -> new HashMap<>())
					.putIfAbsent(method, annotation));
		}
		catch (AnnotationConfigurationException ex) {
			throw new InvalidAnnotatedMethodException(method, String.valueOf(ex.getMessage()),
					"set only one of the attributes", ex);
		}
	}

}
