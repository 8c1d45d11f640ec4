package io.timingwheel.spring.aop.internal;

import java.lang.annotation.Annotation;
import java.lang.annotation.ElementType;
import java.lang.annotation.Target;
import java.lang.reflect.AnnotatedElement;
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
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.KotlinDetector;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the methods of a class that have an annotation, also as a meta-annotation and on
 * an overridden method. If the annotation may be on types, an annotated class gives the
 * default of the methods that the class and its subclasses declare, and an annotated
 * interface that of its methods. Each class is read once. Thread-safe.
 *
 * @param <A> the type of the annotation
 */
public final class AnnotatedMethods<A extends Annotation> {

	private static final Log logger = LogFactory.getLog(AnnotatedMethods.class);

	private static final Set<Class<? extends Annotation>> ANNOTATIONS = Set.of(Delayed.class, CancelDelayed.class,
			Recurring.class, Timeout.class);

	private final Class<A> annotationType;

	private final boolean onTypes;

	/** Which annotations each class has, found once for all readers of annotations. */
	private final Map<Class<?>, Set<Class<?>>> present;

	private final Map<Class<?>, Found<A>> classes = new ConcurrentHashMap<>();

	private AnnotatedMethods(Class<A> annotationType, Map<Class<?>, Set<Class<?>>> present) {
		this.annotationType = annotationType;
		this.present = present;
		Target target = annotationType.getAnnotation(Target.class);
		this.onTypes = target != null && List.of(target.value()).contains(ElementType.TYPE);
	}

	static List<AnnotatedMethods<? extends Annotation>> ofAllAnnotations() {
		Map<Class<?>, Set<Class<?>>> present = new ConcurrentHashMap<>();
		return ANNOTATIONS.stream()
			.<AnnotatedMethods<? extends Annotation>>map((type) -> new AnnotatedMethods<>(type, present))
			.toList();
	}

	Class<A> annotationType() {
		return this.annotationType;
	}

	/** The annotation, as messages name it. */
	String annotation() {
		return "@" + this.annotationType.getSimpleName();
	}

	public Map<Method, A> of(Class<?> type) {
		return find(type).methods();
	}

	/** The methods of a class that get the annotation of a type. */
	public Set<Method> defaults(Class<?> type) {
		return find(type).defaults();
	}

	private Found<A> find(Class<?> type) {
		return this.classes.computeIfAbsent(ClassUtils.getUserClass(type), this::read);
	}

	/** Matches the annotated methods, also when they are called through an interface. */
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

	/** The method that a call invokes in the end. */
	public static Method mostSpecific(Method method, Class<?> targetClass) {
		return Proxy.isProxyClass(targetClass) ? method : AopUtils.getMostSpecificMethod(method, targetClass);
	}

	/** The class of the object that an invocation goes to. */
	public static Class<?> targetClass(MethodInvocation invocation) {
		Object target = invocation.getThis();
		return (target != null) ? AopUtils.getTargetClass(target) : invocation.getMethod().getDeclaringClass();
	}

	/** The types of a method's parameters, as the class of the bean resolves them. */
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

	/**
	 * Those of classes are first, because their annotations precede those of interfaces.
	 */
	public static Set<Method> declared(Class<?> type) {
		Set<Class<?>> types = new LinkedHashSet<>();
		if (!Proxy.isProxyClass(type)) {
			types.add(type);
		}
		types.addAll(ClassUtils.getAllInterfacesForClassAsSet(type));
		Set<Method> methods = new LinkedHashSet<>();
		types.forEach((candidate) -> ReflectionUtils.doWithMethods(candidate, methods::add,
				ReflectionUtils.USER_DECLARED_METHODS));
		methods.removeIf(AnnotatedMethods::isOverload);
		return methods;
	}

	/**
	 * Whether Kotlin's {@code @JvmOverloads} has added a method, with a copy of the
	 * annotations. It is final, and calls the function, which the proxy intercepts.
	 */
	private static boolean isOverload(Method method) {
		Class<?> type = method.getDeclaringClass();
		// The method that fills in the arguments takes the object, bits and a marker,
		// too.
		return Modifier.isFinal(method.getModifiers()) && KotlinDetector.isKotlinType(type)
				&& Arrays.stream(type.getDeclaredMethods())
					.anyMatch((other) -> other.isSynthetic() && other.getName().equals(method.getName() + "$default")
							&& other.getParameterCount() > method.getParameterCount() + 3);
	}

	private Found<A> read(Class<?> type) {
		Found<A> found = new Found<>(new HashMap<>(), new HashSet<>());
		try {
			if (this.present.computeIfAbsent(type, AnnotatedMethods::annotations).contains(this.annotationType)) {
				read(type, found);
			}
		}
		catch (IllegalStateException | LinkageError ex) {
			// A signature names a missing type. Spring cannot create a proxy either.
			logger.debug("Cannot read the methods of " + type, ex);
		}
		return found;
	}

	/**
	 * Which of the annotations a class or one of its methods has, also by inheritance.
	 * Most classes have none, and a search of the hierarchy of each method takes long.
	 */
	private static Set<Class<?>> annotations(Class<?> type) {
		if (!AnnotationUtils.isCandidateClass(type, ANNOTATIONS)) {
			return Set.of();
		}
		List<MergedAnnotations> places = Stream
			.concat(Stream.of(MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY)),
					declared(type).stream().map(MergedAnnotations::from))
			.toList();
		return ANNOTATIONS.stream()
			.filter((annotation) -> places.stream().anyMatch((place) -> place.isPresent(annotation)))
			.collect(Collectors.toSet());
	}

	private void read(Class<?> type, Found<A> found) {
		Set<Method> declared = declared(type);
		for (Method method : declared) {
			A annotation = find(method, method, SearchStrategy.TYPE_HIERARCHY);
			if (annotation != null) {
				found.methods().putIfAbsent(mostSpecific(method, type), annotation);
			}
		}
		for (Method method : declared) {
			Method specific = mostSpecific(method, type);
			A annotation = (this.onTypes && mayHaveDefault(specific)) ? ofType(specific, method.getDeclaringClass())
					: null;
			if (annotation != null && found.methods().putIfAbsent(specific, annotation) == null) {
				found.defaults().add(specific);
			}
		}
	}

	private static boolean mayHaveDefault(Method method) {
		return !Modifier.isPrivate(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())
				&& !ReflectionUtils.isObjectMethod(method);
	}

	/**
	 * Not that of a class's interfaces, which give defaults to their own methods only.
	 */
	private @Nullable A ofType(Method method, Class<?> type) {
		return find(method, type, type.isInterface() ? SearchStrategy.TYPE_HIERARCHY : SearchStrategy.SUPERCLASS);
	}

	private @Nullable A find(Method method, AnnotatedElement element, SearchStrategy strategy) {
		try {
			return MergedAnnotations.from(element, strategy)
				.get(this.annotationType)
				.synthesize(MergedAnnotation::isPresent)
				.orElse(null);
		}
		catch (AnnotationConfigurationException ex) {
			throw new InvalidAnnotatedMethodException(method, String.valueOf(ex.getMessage()),
					"set only one of the attributes", ex);
		}
	}

	private record Found<A>(Map<Method, A> methods, Set<Method> defaults) {
	}

}
