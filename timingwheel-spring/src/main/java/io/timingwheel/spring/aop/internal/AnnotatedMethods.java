package io.timingwheel.spring.aop.internal;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import java.lang.annotation.Annotation;
import java.lang.annotation.ElementType;
import java.lang.annotation.Target;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

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
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the methods of a class that have an annotation. The annotation may be on the
 * method, on the method that it overrides or on an interface method, and may be a
 * meta-annotation. Each class is read once. Thread-safe.
 *
 * <p>
 * If the annotation may be on types, an annotated class gives the default of the methods
 * that the class and its subclasses declare, and an annotated interface that of its
 * methods.
 *
 * @param <A> the type of the annotation
 */
public final class AnnotatedMethods<A extends Annotation> {

	private static final Log logger = LogFactory.getLog(AnnotatedMethods.class);

	private final Class<A> annotationType;

	private final boolean onTypes;

	private final Map<Class<?>, Found<A>> classes = new ConcurrentHashMap<>();

	public AnnotatedMethods(Class<A> annotationType) {
		this.annotationType = annotationType;
		Target target = annotationType.getAnnotation(Target.class);
		this.onTypes = target != null && List.of(target.value()).contains(ElementType.TYPE);
	}

	Class<A> annotationType() {
		return this.annotationType;
	}

	public Map<Method, A> of(Class<?> type) {
		return find(type).methods();
	}

	/**
	 * The methods of a class that get the annotation of a type.
	 */
	public Set<Method> defaults(Class<?> type) {
		return find(type).defaults();
	}

	private Found<A> find(Class<?> type) {
		return this.classes.computeIfAbsent(ClassUtils.getUserClass(type), this::read);
	}

	/**
	 * Matches the annotated methods, also when they are called through an interface.
	 */
	public Pointcut pointcut() {
		StaticMethodMatcherPointcut pointcut = new StaticMethodMatcherPointcut() {

			@Override
			public boolean matches(Method method, Class<?> targetClass) {
				return of(targetClass).containsKey(mostSpecific(method, targetClass));
			}

		};
		pointcut.setClassFilter((type) -> !of(type).isEmpty());
		return pointcut;
	}

	/**
	 * The method that a call invokes in the end.
	 */
	public static Method mostSpecific(Method method, Class<?> targetClass) {
		return Proxy.isProxyClass(targetClass) ? method : AopUtils.getMostSpecificMethod(method, targetClass);
	}

	/**
	 * The types of a method's parameters, as the class of the bean resolves them.
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

	private Found<A> read(Class<?> type) {
		try {
			return AnnotationUtils.isCandidateClass(type, this.annotationType) ? readAll(type)
					: new Found<>(Map.of(), Set.of());
		}
		catch (IllegalStateException | LinkageError ex) {
			// A signature names a missing type. Spring cannot create a proxy either.
			logger.debug("Cannot read the methods of " + type, ex);
			return new Found<>(Map.of(), Set.of());
		}
	}

	private Found<A> readAll(Class<?> type) {
		Set<Method> declared = declared(type);
		Map<Method, A> methods = new HashMap<>();
		for (Method method : declared) {
			add(methods, mostSpecific(method, type),
					() -> AnnotatedElementUtils.findMergedAnnotation(method, this.annotationType));
		}
		Set<Method> own = Set.copyOf(methods.keySet());
		for (Method method : declared) {
			Method specific = mostSpecific(method, type);
			if (this.onTypes && mayHaveDefault(specific)) {
				add(methods, specific,
						() -> annotation(method.getDeclaringClass()).synthesize(MergedAnnotation::isPresent)
							.orElse(null));
			}
		}
		Set<Method> defaults = new HashSet<>(methods.keySet());
		defaults.removeAll(own);
		return new Found<>(methods, defaults);
	}

	/**
	 * The methods of the code. Those of classes are first, because their annotations
	 * precede those of interfaces.
	 */
	private static Set<Method> declared(Class<?> type) {
		Set<Method> methods = new LinkedHashSet<>();
		Set<Class<?>> types = new LinkedHashSet<>(ClassUtils.getAllInterfacesForClassAsSet(type));
		if (!Proxy.isProxyClass(type)) {
			ReflectionUtils.doWithMethods(type, methods::add, ReflectionUtils.USER_DECLARED_METHODS);
		}
		types.forEach((candidate) -> ReflectionUtils.doWithMethods(candidate, methods::add,
				ReflectionUtils.USER_DECLARED_METHODS));
		methods.removeIf(KotlinMethods::isOverload);
		return methods;
	}

	private void add(Map<Method, A> methods, Method specific, Supplier<@Nullable A> found) {
		if (methods.containsKey(specific)) {
			return;
		}
		try {
			A annotation = found.get();
			if (annotation != null) {
				methods.put(specific, annotation);
			}
		}
		catch (AnnotationConfigurationException ex) {
			throw new InvalidAnnotatedMethodException(specific, String.valueOf(ex.getMessage()),
					"set only one of the attributes", ex);
		}
	}

	private static boolean mayHaveDefault(Method method) {
		return !Modifier.isPrivate(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())
				&& !ReflectionUtils.isObjectMethod(method);
	}

	/**
	 * Does not look at the interfaces of a class, because an interface gives the default
	 * of its own methods only.
	 */
	private MergedAnnotation<A> annotation(Class<?> type) {
		return MergedAnnotations
			.from(type, type.isInterface() ? SearchStrategy.TYPE_HIERARCHY : SearchStrategy.SUPERCLASS)
			.get(this.annotationType);
	}

	private record Found<A>(Map<Method, A> methods, Set<Method> defaults) {
	}

}
