package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Proxy;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.DelayedTask;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The method that gives the result of a call in place of its timeout.
 */
final class Fallback {

	private final Method method;

	private final boolean takesTimeout;

	/** Whether the method with the time limit is a suspend function. */
	private final boolean suspending;

	private Fallback(Method method, boolean takesTimeout, boolean suspending) {
		this.method = method;
		this.suspending = suspending;
		this.takesTimeout = takesTimeout;
		ReflectionUtils.makeAccessible(method);
	}

	/**
	 * Finds and checks the fallback of a method. One that takes the timeout precedes one
	 * that does not. Gives {@code null} if an interface does not have it, so that only
	 * the class of the bean may have it.
	 */
	static @Nullable Fallback find(Method method, String name, Class<?> beanClass) {
		List<Class<?>> parameters = parameters(method, beanClass);
		List<Method> candidates = candidates(name, beanClass);
		Method found = candidates.stream()
			.filter((candidate) -> suspends(method) || !suspends(candidate))
			.filter((candidate) -> fits(parameters(candidate, beanClass), parameters))
			.max(Comparator.comparingInt((candidate) -> parameters(candidate, beanClass).size()))
			.orElse(null);
		if (found != null) {
			checkReturnType(found, method, name, beanClass);
			return new Fallback(found, parameters(found, beanClass).size() > parameters.size(), suspends(method));
		}
		if (beanClass.isInterface()) {
			return null;
		}
		String problem = candidates.isEmpty() ? "is no method of " + beanClass.getName() : "has other parameters";
		if (!suspends(method) && candidates.stream().anyMatch(Fallback::suspends)) {
			problem = "is a suspend function";
		}
		throw invalid(method, name, beanClass, problem);
	}

	private static boolean fits(List<Class<?>> types, List<Class<?>> parameters) {
		if (types.size() == parameters.size() + 1) {
			Class<?> last = types.get(parameters.size());
			return types.subList(0, parameters.size()).equals(parameters) && Throwable.class.isAssignableFrom(last)
					&& last.isAssignableFrom(MethodTimeoutException.class);
		}
		return types.equals(parameters);
	}

	private static List<Method> candidates(String name, Class<?> beanClass) {
		List<Method> candidates = new ArrayList<>();
		Class<?>[] types = Proxy.isProxyClass(beanClass) ? beanClass.getInterfaces() : new Class<?>[] { beanClass };
		for (Class<?> type : types) {
			ReflectionUtils.doWithMethods(type, candidates::add,
					(method) -> isNamed(method, name) && !method.isSynthetic());
		}
		return candidates;
	}

	/**
	 * Whether a method has a name in the code. Kotlin appends the name of the module to
	 * an internal function, and a hash to a function with value classes.
	 */
	private static boolean isNamed(Method method, String name) {
		String actual = method.getName();
		return actual.equals(name) || (KotlinDetector.isKotlinType(method.getDeclaringClass())
				&& (actual.startsWith(name + "$") || actual.startsWith(name + "-")));
	}

	boolean is(Method method) {
		return this.method.equals(method);
	}

	@Nullable Object call(@Nullable Object target, @Nullable Object[] arguments, MethodTimeoutException timeout)
			throws Throwable {
		int count = this.suspending ? arguments.length - 1 : arguments.length;
		@Nullable Object[] all = Arrays.copyOf(arguments, this.takesTimeout ? count + 1 : count);
		if (this.takesTimeout) {
			all[count] = timeout;
		}
		try {
			if (this.suspending) {
				return SuspendingFallback.call(this.method, withoutProxy(target), all);
			}
			return this.method.invoke(withoutProxy(target), all);
		}
		catch (InvocationTargetException ex) {
			Throwable failure = ex.getTargetException();
			if (failure != timeout && failure.getCause() != timeout) {
				failure.addSuppressed(timeout);
			}
			throw failure;
		}
	}

	/**
	 * Returns the object behind all proxies, because a proxy does not pass on private
	 * methods.
	 */
	private static @Nullable Object withoutProxy(@Nullable Object target) {
		Object result = target;
		Object inner = target;
		while (inner != null) {
			result = inner;
			inner = AopProxyUtils.getSingletonTarget(inner);
		}
		return result;
	}

	private static boolean suspends(Method method) {
		return KotlinDetector.isSuspendingFunction(method);
	}

	/**
	 * The types of the parameters, without the continuation of a suspend function.
	 */
	private static List<Class<?>> parameters(Method method, Class<?> beanClass) {
		List<Class<?>> types = new ArrayList<>();
		for (int i = 0; i < method.getParameterCount(); i++) {
			types.add(ResolvableType.forMethodParameter(method, i, beanClass).resolve(Object.class));
		}
		return suspends(method) ? types.subList(0, types.size() - 1) : types;
	}

	/**
	 * The type of the result, which is in the continuation of a suspend function.
	 */
	private static ResolvableType returnType(Method method, Class<?> beanClass) {
		if (suspends(method)
				&& method.getGenericParameterTypes()[method.getParameterCount() - 1] instanceof ParameterizedType type
				&& type.getActualTypeArguments()[0] instanceof WildcardType result
				&& result.getLowerBounds().length > 0) {
			return ResolvableType.forType(result.getLowerBounds()[0], ResolvableType.forClass(beanClass));
		}
		return ResolvableType.forMethodReturnType(method, beanClass);
	}

	private static void checkReturnType(Method fallback, Method method, String name, Class<?> beanClass) {
		ResolvableType expected = returnType(method, beanClass);
		if (fallback.equals(method)
				|| (expected.getType().getTypeName().equals("kotlin.Unit") && fallback.getReturnType() == void.class)) {
			return;
		}
		ResolvableType actual = returnType(fallback, beanClass);
		Class<?> type = expected.resolve(Object.class);
		boolean compatible = ClassUtils.isAssignable(type, actual.resolve(Object.class));
		if (compatible && !expected.hasUnresolvableGenerics() && !actual.hasUnresolvableGenerics()
				&& actual.hasGenerics()) {
			compatible = expected.isAssignableFrom(actual);
		}
		if (!compatible) {
			throw invalid(method, name, beanClass, "returns " + actual.getType().getTypeName());
		}
		// At the deadline another future can be cancelled, but cannot give a result.
		if (Future.class.isAssignableFrom(type) && type != Future.class && type != DelayedTask.class
				&& !type.isAssignableFrom(CompletableFuture.class) && !CompletableFuture.class.isAssignableFrom(type)) {
			throw new InvalidAnnotatedMethodException(method,
					"@Timeout has a fallback, but a %s cannot be completed from outside".formatted(
							type.getSimpleName()),
					"return a CompletableFuture or a Future, or remove the fallback");
		}
	}

	private static InvalidAnnotatedMethodException invalid(Method method, String name, Class<?> beanClass,
			String problem) {
		String parameters = parameters(method, beanClass).stream()
			.map(Class::getSimpleName)
			.collect(Collectors.joining(", "));
		return new InvalidAnnotatedMethodException(method,
				"the fallback \"%s\" of @Timeout %s".formatted(name, problem),
				"declare %s %s(%s) in the class, optionally with a MethodTimeoutException as the last parameter"
					.formatted(returnType(method, beanClass).getType().getTypeName(), name, parameters));
	}

}
