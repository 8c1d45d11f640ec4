package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Proxy;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Arrays;
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
	 * Finds and checks the fallback of a method.
	 * @param method the method with the time limit
	 * @param name the name of the fallback
	 * @param beanClass the class of the bean; may be an interface if the class is unknown
	 * @return the fallback; {@code null} if an interface does not have it, so that only
	 * the class of the bean may have it
	 * @throws InvalidAnnotatedMethodException if there is no method that fits
	 */
	static @Nullable Fallback find(Method method, String name, Class<?> beanClass) {
		Signature signature = new Signature(method, name, beanClass);
		List<Method> candidates = candidates(name, beanClass);
		for (Class<?> type = MethodTimeoutException.class; type != Object.class; type = type.getSuperclass()) {
			for (Method candidate : candidates) {
				if (signature.fits(candidate, type)) {
					return new Fallback(signature.checkReturnType(candidate), true, signature.suspends(method));
				}
			}
		}
		for (Method candidate : candidates) {
			if (signature.fits(candidate, null)) {
				return new Fallback(signature.checkReturnType(candidate), false, signature.suspends(method));
			}
		}
		if (beanClass.isInterface()) {
			return null;
		}
		if (!signature.suspends(method) && candidates.stream().anyMatch(signature::suspends)) {
			throw signature.invalid("the fallback \"%s\" of @Timeout is a suspend function".formatted(name));
		}
		throw candidates.isEmpty()
				? signature
					.invalid("the fallback \"%s\" of @Timeout is no method of %s".formatted(name, beanClass.getName()))
				: signature.invalid("the fallback \"%s\" of @Timeout has other parameters".formatted(name));
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

	/**
	 * Whether this is the given method.
	 */
	boolean is(Method method) {
		return this.method.equals(method);
	}

	/**
	 * Calls the fallback.
	 * @param target the object of the call
	 * @param arguments the arguments of the call
	 * @param timeout the exception of the call
	 * @return the result of the fallback
	 * @throws Throwable the exception of the fallback, with the timeout as a suppressed
	 * exception
	 */
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

	/**
	 * What a fallback of a method looks like.
	 */
	private record Signature(Method method, String name, Class<?> beanClass) {

		/**
		 * Whether a method has the same parameters, and the exception last if its type is
		 * not {@code null}.
		 */
		boolean fits(Method candidate, @Nullable Class<?> exception) {
			int count = count(this.method);
			if (count(candidate) != ((exception != null) ? count + 1 : count)
					|| (suspends(candidate) && !suspends(this.method))) {
				return false;
			}
			for (int i = 0; i < count; i++) {
				if (candidate.getParameterTypes()[i] != this.method.getParameterTypes()[i]
						&& parameter(candidate, i) != parameter(this.method, i)) {
					return false;
				}
			}
			return exception == null || candidate.getParameterTypes()[count] == exception;
		}

		boolean suspends(Method method) {
			return KotlinDetector.isSuspendingFunction(method);
		}

		/**
		 * The number of parameters, without the continuation of a suspend function.
		 */
		private int count(Method method) {
			return suspends(method) ? method.getParameterCount() - 1 : method.getParameterCount();
		}

		/**
		 * The type of the result, which is in the continuation of a suspend function.
		 */
		private ResolvableType returnType(Method method) {
			if (suspends(method) && method.getGenericParameterTypes()[count(method)] instanceof ParameterizedType type
					&& type.getActualTypeArguments()[0] instanceof WildcardType result
					&& result.getLowerBounds().length > 0) {
				return ResolvableType.forType(result.getLowerBounds()[0], ResolvableType.forClass(this.beanClass));
			}
			return ResolvableType.forMethodReturnType(method, this.beanClass);
		}

		private Class<?> parameter(Method method, int index) {
			return ResolvableType.forMethodParameter(method, index, this.beanClass).resolve(Object.class);
		}

		Method checkReturnType(Method candidate) {
			if (candidate.equals(this.method)) {
				return candidate;
			}
			ResolvableType expected = returnType(this.method);
			ResolvableType actual = returnType(candidate);
			if (expected.getType().getTypeName().equals("kotlin.Unit") && candidate.getReturnType() == void.class) {
				return candidate;
			}
			boolean compatible = ClassUtils.isAssignable(expected.resolve(Object.class), actual.resolve(Object.class));
			if (compatible && !expected.hasUnresolvableGenerics() && !actual.hasUnresolvableGenerics()
					&& actual.hasGenerics()) {
				compatible = expected.isAssignableFrom(actual);
			}
			if (!compatible) {
				throw invalid("the fallback \"%s\" of @Timeout returns %s".formatted(this.name,
						actual.getType().getTypeName()));
			}
			checkCompletable(expected.resolve(Object.class));
			return candidate;
		}

		/**
		 * Refuses futures that only their maker can complete. At the deadline such a
		 * future can be cancelled, but cannot give the result of a fallback.
		 */
		private void checkCompletable(Class<?> type) {
			if (Future.class.isAssignableFrom(type) && type != Future.class && type != DelayedTask.class
					&& !type.isAssignableFrom(CompletableFuture.class)
					&& !CompletableFuture.class.isAssignableFrom(type)) {
				throw new InvalidAnnotatedMethodException(this.method,
						"@Timeout has a fallback, but a %s cannot be completed from outside"
							.formatted(type.getSimpleName()),
						"return a CompletableFuture or a Future, or remove the fallback");
			}
		}

		InvalidAnnotatedMethodException invalid(String problem) {
			String parameters = Arrays.stream(this.method.getParameterTypes())
				.limit(count(this.method))
				.map(Class::getSimpleName)
				.collect(Collectors.joining(", "));
			return new InvalidAnnotatedMethodException(this.method, problem,
					"declare %s %s(%s) in the class, optionally with a MethodTimeoutException as the last parameter"
						.formatted(returnType(this.method).getType().getTypeName(), this.name, parameters));
		}

	}

}
