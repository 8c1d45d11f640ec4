package io.timingwheel.spring.aop.internal.timeout;

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
import io.timingwheel.spring.aop.internal.Refusal;
import io.timingwheel.spring.task.DelayedTask;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The method that gives the result of a call in place of its timeout.
 *
 * @param takesTimeout whether its last parameter is the timeout
 * @param suspending whether the method with the time limit is a suspend function
 */
record Fallback(Method method, boolean takesTimeout, boolean suspending) {

	/**
	 * Finds the fallback of a method. One that takes the timeout comes first. Gives
	 * {@code null} if an interface does not have it, so that only the class may have it.
	 */
	static @Nullable Fallback find(Method limited, String name, Class<?> beanClass) {
		Signature wanted = Signature.of(limited, beanClass);
		Method found = candidates(name, beanClass).stream()
			.filter((candidate) -> wanted.isMatchedBy(Signature.of(candidate, beanClass)))
			.max(Comparator.comparingInt((candidate) -> Signature.of(candidate, beanClass).parameters().size()))
			.orElse(null);
		if (found == null) {
			if (beanClass.isInterface()) {
				return null;
			}
			throw invalid(limited, name, wanted,
					"is no method of %s with these parameters".formatted(beanClass.getName()));
		}
		Signature signature = Signature.of(found, beanClass);
		if (!found.equals(limited) && !wanted.accepts(signature.result())) {
			throw invalid(limited, name, wanted, "returns " + signature.result().getType().getTypeName());
		}
		checkCanComplete(limited, wanted.result().toClass());
		ReflectionUtils.makeAccessible(found);
		return new Fallback(found, signature.parameters().size() > wanted.parameters().size(), wanted.suspending());
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
	 * At the deadline another future can be cancelled, but cannot give a result.
	 */
	private static void checkCanComplete(Method limited, Class<?> type) {
		Refusal.when(Future.class.isAssignableFrom(type) && type != Future.class && type != DelayedTask.class
				&& !type.isAssignableFrom(CompletableFuture.class) && !CompletableFuture.class.isAssignableFrom(type),
				limited,
				"@Timeout has a fallback, but a %s cannot be completed from outside".formatted(type.getSimpleName()),
				"return a CompletableFuture or a Future, or remove the fallback");
	}

	private static InvalidAnnotatedMethodException invalid(Method limited, String name, Signature wanted,
			String problem) {
		String parameters = wanted.parameters().stream().map(Class::getSimpleName).collect(Collectors.joining(", "));
		return new InvalidAnnotatedMethodException(limited,
				"the fallback \"%s\" of @Timeout %s".formatted(name, problem),
				"declare %s %s(%s) in the class, optionally with a MethodTimeoutException as the last parameter"
					.formatted(wanted.result().getType().getTypeName(), name, parameters));
	}

	@Nullable Object call(@Nullable Object target, @Nullable Object[] arguments, MethodTimeoutException timeout)
			throws Exception {
		int count = this.suspending ? arguments.length - 1 : arguments.length;
		@Nullable Object[] all = Arrays.copyOf(arguments, this.takesTimeout ? count + 1 : count);
		if (this.takesTimeout) {
			all[count] = timeout;
		}
		try {
			return this.suspending ? ReactorTimeout.call(this.method, withoutProxy(target), all)
					: this.method.invoke(withoutProxy(target), all);
		}
		catch (InvocationTargetException ex) {
			Throwable failure = ex.getTargetException();
			if (failure != timeout && failure.getCause() != timeout) {
				failure.addSuppressed(timeout);
			}
			ReflectionUtils.rethrowException(failure);
			throw ex;
		}
	}

	/**
	 * A proxy does not pass on private methods.
	 */
	private static @Nullable Object withoutProxy(@Nullable Object target) {
		Object inner = (target != null) ? AopProxyUtils.getSingletonTarget(target) : null;
		return (inner != null) ? withoutProxy(inner) : target;
	}

	/**
	 * What a method takes and gives in its code. A suspend function also takes a
	 * continuation, which has the type of the result.
	 */
	private record Signature(List<Class<?>> parameters, ResolvableType result, boolean suspending) {

		static Signature of(Method method, Class<?> beanClass) {
			List<Class<?>> parameters = new ArrayList<>();
			for (int i = 0; i < method.getParameterCount(); i++) {
				parameters.add(ResolvableType.forMethodParameter(method, i, beanClass).resolve(Object.class));
			}
			ResolvableType result = ResolvableType.forMethodReturnType(method, beanClass);
			boolean suspending = KotlinDetector.isSuspendingFunction(method);
			if (suspending) {
				parameters.remove(parameters.size() - 1);
				if (method.getGenericParameterTypes()[parameters.size()] instanceof ParameterizedType continuation
						&& continuation.getActualTypeArguments()[0] instanceof WildcardType type) {
					result = ResolvableType.forType(type.getLowerBounds()[0], ResolvableType.forClass(beanClass));
				}
			}
			return new Signature(parameters, result, suspending);
		}

		boolean isMatchedBy(Signature fallback) {
			if (fallback.suspending && !this.suspending) {
				return false;
			}
			int count = this.parameters.size();
			if (fallback.parameters.size() == count + 1) {
				Class<?> last = fallback.parameters.get(count);
				return fallback.parameters.subList(0, count).equals(this.parameters)
						&& Throwable.class.isAssignableFrom(last)
						&& last.isAssignableFrom(MethodTimeoutException.class);
			}
			return fallback.parameters.equals(this.parameters);
		}

		boolean accepts(ResolvableType actual) {
			if (this.result.getType().getTypeName().equals("kotlin.Unit") && actual.toClass() == void.class) {
				return true;
			}
			return ClassUtils.isAssignable(this.result.toClass(), actual.toClass())
					&& (!actual.hasGenerics() || this.result.isAssignableFromResolvedPart(actual));
		}

	}

}
