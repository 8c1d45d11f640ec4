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
import java.util.ArrayList;
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
	 * Returns the methods of a class that have no annotation of their own, and therefore
	 * get the annotation of a type.
	 */
	public Set<Method> defaults(Class<?> type) {
		return find(type).defaults();
	}

	private Found<A> find(Class<?> type) {
		Class<?> userType = ClassUtils.getUserClass(type);
		Found<A> found = this.classes.get(userType);
		if (found == null) {
			found = AnnotationUtils.isCandidateClass(userType, this.annotationType) ? read(userType) : nothing();
			this.classes.put(userType, found);
		}
		return found;
	}

	/**
	 * Returns a pointcut that matches the annotated methods, also when they are called
	 * through an interface.
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
	 * Returns the method that a call invokes in the end.
	 */
	public static Method mostSpecific(Method method, Class<?> targetClass) {
		return Proxy.isProxyClass(targetClass) ? method : AopUtils.getMostSpecificMethod(method, targetClass);
	}

	/**
	 * Returns the types of a method's parameters. Type variables that the class of the
	 * bean binds are resolved.
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
			return readAll(type);
		}
		catch (IllegalStateException | LinkageError ex) {
			// A signature names a missing type. Spring cannot create a proxy either.
			logger.debug("Cannot read the methods of " + type, ex);
			return nothing();
		}
	}

	private Found<A> readAll(Class<?> type) {
		Map<Method, A> methods = new HashMap<>();
		// The class is first, because its annotations precede those of interfaces.
		Set<Class<?>> declaring = new LinkedHashSet<>();
		if (!Proxy.isProxyClass(type)) {
			declaring.add(type);
		}
		declaring.addAll(ClassUtils.getAllInterfacesForClassAsSet(type));
		collect(type, declaring, methods, (declared, specific) -> find(declared));
		Set<Method> defaults = Set.of();
		if (this.onTypes && declaring.stream().anyMatch(this::isAnnotated)) {
			defaults = new HashSet<>(collect(type, declaring, methods, this::findOnType));
		}
		return methods.isEmpty() ? nothing() : new Found<>(methods, defaults);
	}

	private List<Method> collect(Class<?> type, Set<Class<?>> declaring, Map<Method, A> methods, Finder<A> finder) {
		List<Method> added = new ArrayList<>();
		for (Class<?> candidate : declaring) {
			ReflectionUtils.doWithMethods(candidate, (method) -> {
				if (KotlinMethods.isOverload(method)) {
					return;
				}
				Method specific = mostSpecific(method, type);
				A annotation = methods.containsKey(specific) ? null : finder.find(method, specific);
				if (annotation != null) {
					methods.put(specific, annotation);
					added.add(specific);
				}
			}, ReflectionUtils.USER_DECLARED_METHODS);
		}
		return added;
	}

	private @Nullable A find(Method method) {
		return check(method, () -> AnnotatedElementUtils.findMergedAnnotation(method, this.annotationType));
	}

	private @Nullable A findOnType(Method declared, Method specific) {
		int modifiers = specific.getModifiers();
		if (Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers) || ReflectionUtils.isObjectMethod(specific)) {
			return null;
		}
		return check(specific,
				() -> annotation(declared.getDeclaringClass()).synthesize(MergedAnnotation::isPresent).orElse(null));
	}

	private boolean isAnnotated(Class<?> type) {
		return annotation(type).isPresent();
	}

	/**
	 * Looks at the superclasses of a class, but not at its interfaces, because an
	 * interface gives the default of its own methods only.
	 */
	private MergedAnnotation<A> annotation(Class<?> type) {
		return MergedAnnotations
			.from(type, type.isInterface() ? SearchStrategy.TYPE_HIERARCHY : SearchStrategy.SUPERCLASS)
			.get(this.annotationType);
	}

	private @Nullable A check(Method method, Supplier<@Nullable A> annotation) {
		try {
			return annotation.get();
		}
		catch (AnnotationConfigurationException ex) {
			throw new InvalidAnnotatedMethodException(method, String.valueOf(ex.getMessage()),
					"set only one of the attributes", ex);
		}
	}

	private Found<A> nothing() {
		return new Found<>(Map.of(), Set.of());
	}

	private interface Finder<A> {

		@Nullable A find(Method declared, Method specific);

	}

	/**
	 * The annotated methods of a class.
	 *
	 * @param methods all methods
	 * @param defaults the methods that get the annotation of a type
	 */
	private record Found<A>(Map<Method, A> methods, Set<Method> defaults) {
	}

}
