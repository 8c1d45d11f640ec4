package io.timingwheel.spring.aop.internal;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.DelayedTask;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * The time limit of one method, by the attributes of its {@link Timeout}. Thread-safe.
 *
 * @param later gives what the caller gets in place of what the method returned
 * @param expression gives the limit of a call, {@code null} if all calls have one
 * @param constant the limit of all calls in nanoseconds
 */
record TimeLimit(Method method, BiFunction<Object, InterruptGuard, Object> later, @Nullable Fallback fallback,
		@Nullable ArgumentExpression expression, Supplier<Long> constant) {

	private static final Set<Class<?>> FUTURES = Set.of(Future.class, CompletionStage.class, CompletableFuture.class);

	private static final List<Class<?>> LATER = Stream
		.of("java.util.concurrent.Future", "java.util.concurrent.CompletionStage", "java.util.concurrent.Callable",
				"java.util.concurrent.Flow$Publisher", "java.util.function.Supplier", "java.util.stream.BaseStream",
				"java.util.Iterator", "org.reactivestreams.Publisher",
				"org.springframework.beans.factory.ObjectFactory",
				"org.springframework.web.context.request.async.DeferredResult",
				"org.springframework.web.context.request.async.WebAsyncTask",
				"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
				"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter", "kotlin.Lazy",
				"kotlin.sequences.Sequence", "kotlinx.coroutines.Job", "kotlinx.coroutines.flow.Flow",
				"io.smallrye.mutiny.Uni", "io.vertx.core.Future")
		.filter((name) -> ClassUtils.isPresent(name, TimeLimit.class.getClassLoader()))
		.<Class<?>>map((name) -> ClassUtils.resolveClassName(name, TimeLimit.class.getClassLoader()))
		.toList();

	private static final List<Class<?>> COMPLETE = List.of(Iterable.class, Record.class, Enum.class);

	static TimeLimit read(Method method, Class<?> beanClass, Timeout annotation, @Nullable Fallback fallback,
			ConfigurableBeanFactory beanFactory) {
		BiFunction<Object, InterruptGuard, Object> later = limiter(method, beanClass);
		MethodAttributes attributes = new MethodAttributes(method, annotation, beanFactory);
		boolean hasExpression = attributes.has("timeoutExpression");
		Refusal.when(attributes.has("timeout") == hasExpression, method,
				"@Timeout has " + (hasExpression ? "two limits" : "no limit"),
				"set its value, such as @Timeout(\"800ms\"), or its timeoutExpression");
		return new TimeLimit(method, later, fallback, attributes.expression("timeoutExpression"),
				SingletonSupplier.of(() -> hasExpression ? 0L : nanos(method, annotation.timeout(), attributes)));
	}

	/**
	 * Checks the declared type of a result.
	 * @return gives what the caller gets in place of what the method returned. If the
	 * work goes on, the guard is handed over
	 */
	private static BiFunction<Object, InterruptGuard, Object> limiter(Method method, Class<?> beanClass) {
		Refusal.when(KotlinDetector.isSuspendingFunction(method), method, "@Timeout is on a suspend function",
				"use withTimeout in its body");
		Class<?> type = ResolvableType.forMethodReturnType(method, beanClass).resolve(method.getReturnType());
		if (FUTURES.contains(type)) {
			return FutureTimeout::limit;
		}
		boolean isFuture = Future.class.isAssignableFrom(type) || CompletionStage.class.isAssignableFrom(type);
		Function<Object, ReactiveAdapter> adapters = isFuture ? null
				: ReactiveTypes.adapters("@Timeout", method, type, "");
		if (adapters != null) {
			return (returned, guard) -> ReactorTimeout.limit(returned, guard, adapters.apply(returned));
		}
		Refusal.when(isLater(type), method,
				"@Timeout is on a method that returns %s, and cannot limit its work, which comes after the return of the method"
					.formatted(type.getName()),
				"return the result itself, or a CompletableFuture or a publisher of it, or remove @Timeout (if it is on the class, annotate the other methods instead)");
		return (returned, guard) -> returned;
	}

	/**
	 * The handle of a task is complete. So is a collection, even if it supplies a stream
	 * of its elements, as a page of Spring Data does, and a record or an enum constant,
	 * which may supply what it holds.
	 */
	private static boolean isLater(Class<?> type) {
		return type != DelayedTask.class && COMPLETE.stream().noneMatch((complete) -> complete.isAssignableFrom(type))
				&& LATER.stream().anyMatch((later) -> later.isAssignableFrom(type));
	}

	private static long nanos(Method method, String text, MethodAttributes attributes) {
		Duration limit = attributes.anyDuration("timeout");
		Refusal.when(limit.isNegative() || limit.isZero(), method,
				"the limit \"%s\" of @Timeout is not positive".formatted(text),
				"set a positive duration such as 800ms");
		return TimeUnit.NANOSECONDS.convert(limit);
	}

	TimeLimit replacedBy(Duration duration) {
		long nanos = TimeUnit.NANOSECONDS.convert(duration);
		return new TimeLimit(this.method, this.later, this.fallback, null, () -> nanos);
	}

	void resolve() {
		Long unused = this.constant.get();
	}

	/**
	 * The limit of a call in nanoseconds. Zero or less, which only an expression gives,
	 * means that the call has no time left.
	 */
	long nanos(@Nullable Object[] arguments) {
		if (this.expression == null) {
			return this.constant.get();
		}
		Object value = this.expression.evaluate(arguments);
		try {
			return TimeUnit.NANOSECONDS.convert(MethodAttributes.toDuration(value));
		}
		catch (IllegalArgumentException ex) {
			throw this.expression.failure("gives no duration", ex);
		}
	}

	/**
	 * The method that gives the result of a call in place of its timeout. Its last
	 * parameter may be the timeout.
	 */
	record Fallback(Method method) {

		/** Finds the fallback of a method. One that takes the timeout comes first. */
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
				.<Class<?>>mapToObj(
						(i) -> ResolvableType.forMethodParameter(method, i, beanClass).resolve(Object.class))
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

		@Nullable Object call(Object target, @Nullable Object[] arguments, MethodTimeoutException timeout) throws Exception {
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

		/**
		 * A proxy does not pass on private methods, but has default methods that its
		 * target may lack.
		 */
		private Object withoutProxy(Object target) {
			Object inner = AopProxyUtils.getSingletonTarget(target);
			Object innermost = (inner != null) ? withoutProxy(inner) : target;
			return this.method.getDeclaringClass().isInstance(innermost) ? innermost : target;
		}

	}

}
