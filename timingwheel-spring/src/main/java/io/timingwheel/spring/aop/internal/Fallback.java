package io.timingwheel.spring.aop.internal;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The method that gives the result of a call in place of its timeout. Its last parameter
 * may be the timeout.
 */
record Fallback(Method method) {

	/**
	 * Finds the fallback of a method. One that takes the timeout comes first.
	 */
	static Fallback find(Method limited, String name, Class<?> beanClass) {
		List<Class<?>> parameters = parameters(limited, beanClass);
		ResolvableType result = ResolvableType.forMethodReturnType(limited, beanClass);
		Method method = AnnotatedMethods.declared(beanClass)
			.stream()
			.filter((candidate) -> candidate.getName().equals(name))
			.filter((candidate) -> fits(parameters, parameters(candidate, beanClass)))
			.max(Comparator.comparingInt(Method::getParameterCount))
			.orElseThrow(() -> invalid(limited, name, parameters, result,
					"is no method of %s with these parameters".formatted(beanClass.getName())));
		ResolvableType actual = ResolvableType.forMethodReturnType(method, beanClass);
		if (!method.equals(limited) && !accepts(result, actual)) {
			throw invalid(limited, name, parameters, result, "returns " + actual.getType().getTypeName());
		}
		ReflectionUtils.makeAccessible(method);
		return new Fallback(method);
	}

	private static List<Class<?>> parameters(Method method, Class<?> beanClass) {
		return IntStream.range(0, method.getParameterCount())
			.<Class<?>>mapToObj((i) -> ResolvableType.forMethodParameter(method, i, beanClass).resolve(Object.class))
			.toList();
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
		@Nullable Object[] all = Arrays.copyOf(arguments, this.method.getParameterCount());
		if (all.length > arguments.length) {
			all[arguments.length] = timeout;
		}
		try {
			return this.method.invoke(withoutProxy(target), all);
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
