package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.AnnotatedMethods;
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
	 * Finds the fallback of a method. One that takes the timeout comes first.
	 */
	static Fallback find(Method limited, String name, Class<?> beanClass) {
		boolean suspending = KotlinDetector.isSuspendingFunction(limited);
		List<Class<?>> parameters = parameters(limited, beanClass);
		ResolvableType result = ResolvableType.forMethodReturnType(limited, beanClass);
		Method method = AnnotatedMethods.declared(beanClass)
			.stream()
			.filter((candidate) -> isNamed(candidate, name))
			.filter((candidate) -> suspending || !KotlinDetector.isSuspendingFunction(candidate))
			.filter((candidate) -> fits(parameters, parameters(candidate, beanClass)))
			.max(Comparator.comparingInt((candidate) -> parameters(candidate, beanClass).size()))
			.orElse(null);
		if (method == null) {
			throw invalid(limited, name, parameters, result,
					"is no method of %s with these parameters".formatted(beanClass.getName()));
		}
		ResolvableType actual = ResolvableType.forMethodReturnType(method, beanClass);
		if (!method.equals(limited) && !accepts(result, actual)) {
			throw invalid(limited, name, parameters, result, "returns " + actual.getType().getTypeName());
		}
		ReflectionUtils.makeAccessible(method);
		return new Fallback(method, parameters(method, beanClass).size() > parameters.size(), suspending);
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

	/** Without the continuation of a suspend function. */
	private static List<Class<?>> parameters(Method method, Class<?> beanClass) {
		int count = method.getParameterCount() - (KotlinDetector.isSuspendingFunction(method) ? 1 : 0);
		List<Class<?>> parameters = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			parameters.add(ResolvableType.forMethodParameter(method, i, beanClass).resolve(Object.class));
		}
		return parameters;
	}

	private static boolean fits(List<Class<?>> wanted, List<Class<?>> actual) {
		if (actual.size() != wanted.size() + 1) {
			return actual.equals(wanted);
		}
		Class<?> last = actual.get(wanted.size());
		return actual.subList(0, wanted.size()).equals(wanted) && Throwable.class.isAssignableFrom(last)
				&& last.isAssignableFrom(MethodTimeoutException.class);
	}

	private static boolean accepts(ResolvableType wanted, ResolvableType actual) {
		if (wanted.getType().getTypeName().equals("kotlin.Unit") && actual.toClass() == void.class) {
			return true;
		}
		return ClassUtils.isAssignable(wanted.toClass(), actual.toClass())
				&& (!actual.hasGenerics() || wanted.isAssignableFromResolvedPart(actual));
	}

	private static InvalidAnnotatedMethodException invalid(Method limited, String name, List<Class<?>> parameters,
			ResolvableType result, String problem) {
		return new InvalidAnnotatedMethodException(limited,
				"the fallback \"%s\" of @Timeout %s".formatted(name, problem),
				"declare %s %s(%s) in the class, optionally with a MethodTimeoutException as the last parameter"
					.formatted(result.getType().getTypeName(), name,
							parameters.stream().map(Class::getSimpleName).collect(Collectors.joining(", "))));
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

	/** A proxy does not pass on private methods. */
	private static @Nullable Object withoutProxy(@Nullable Object target) {
		Object inner = (target != null) ? AopProxyUtils.getSingletonTarget(target) : null;
		return (inner != null) ? withoutProxy(inner) : target;
	}

}
