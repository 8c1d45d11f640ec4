package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Spliterator;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.BaseStream;
import java.util.stream.Stream;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.ReactiveTypes;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectFactory;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * The results whose work goes on, or begins, after the method has returned. A result of
 * this kind has a limit of its own, or the application does not start.
 */
final class LaterResult {

	private static final ClassLoader CLASS_LOADER = LaterResult.class.getClassLoader();

	private static final boolean REACTOR_PRESENT = isPresent("reactor.core.publisher.Flux");

	private static final boolean WEB_PRESENT = isPresent(
			"org.springframework.web.context.request.async.DeferredResult");

	private static final String DEFERRED_RESULT = "org.springframework.web.context.request.async.DeferredResult";

	private static final String WEB_ASYNC_TASK = "org.springframework.web.context.request.async.WebAsyncTask";

	private static final String CONTINUATION = "kotlin.coroutines.Continuation";

	private static final String COROUTINES_REACTOR = "kotlinx.coroutines.reactor.MonoKt";

	/**
	 * How deep a check looks into type arguments, since types may refer to themselves.
	 */
	private static final int MAX_DEPTH = 8;

	private static final List<Class<?>> SUPPLIERS = List.of(Supplier.class, BooleanSupplier.class, IntSupplier.class,
			LongSupplier.class, DoubleSupplier.class);

	/** Types whose objects do their work when somebody uses them. */
	private static final Class<?>[] LATER = Stream.concat(
			Stream.concat(SUPPLIERS.stream(),
					Stream.of(Callable.class, BaseStream.class, Iterator.class, Spliterator.class, Enumeration.class,
							ObjectFactory.class)),
			Stream
				.of(DEFERRED_RESULT, WEB_ASYNC_TASK,
						"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
						"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
						"org.springframework.web.servlet.function.AsyncServerResponse",
						"jakarta.ws.rs.core.StreamingOutput", "jakarta.inject.Provider", "javax.inject.Provider",
						"kotlin.Lazy", "kotlin.jvm.functions.Function0", "kotlin.sequences.Sequence",
						"kotlinx.coroutines.Job", "kotlinx.coroutines.flow.Flow",
						"kotlinx.coroutines.channels.ReceiveChannel", "org.reactivestreams.Publisher",
						"java.util.concurrent.Flow$Publisher", "reactor.core.publisher.ParallelFlux",
						"io.reactivex.rxjava3.core.SingleSource", "io.reactivex.rxjava3.core.MaybeSource",
						"io.reactivex.rxjava3.core.CompletableSource", "io.reactivex.rxjava3.core.ObservableSource",
						"io.reactivex.rxjava3.parallel.ParallelFlowable", "io.reactivex.SingleSource",
						"io.reactivex.MaybeSource", "io.reactivex.CompletableSource", "io.reactivex.ObservableSource",
						"rx.Observable", "rx.Single", "rx.Completable", "io.smallrye.mutiny.Uni",
						"io.smallrye.mutiny.Multi", "io.vavr.Lazy", "io.vavr.concurrent.Future", "io.vertx.core.Future",
						"scala.concurrent.Future")
				.filter(LaterResult::isPresent)
				.map((name) -> ClassUtils.resolveClassName(name, CLASS_LOADER)))
		.toArray(Class<?>[]::new);

	/** Each call of a method may need the answer. */
	private static final ClassValue<Boolean> IS_LATER = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return Arrays.stream(LATER).anyMatch((later) -> later.isAssignableFrom(type) && !isValue(type, later));
		}

	};

	private LaterResult() {
	}

	private static boolean isPresent(String className) {
		return ClassUtils.isPresent(className, CLASS_LOADER);
	}

	/**
	 * Checks that what a method returns has no work left that nobody limits.
	 */
	static void check(Method method, ResolvableType returnType) {
		ResolvableType type = returnType;
		int last = method.getParameterCount() - 1;
		if (last >= 0 && method.getParameterTypes()[last].getName().equals(CONTINUATION)) {
			checkSuspending(method);
			type = ResolvableType.forMethodParameter(method, last).getGeneric(0);
		}
		else {
			checkLimited(method, type.toClass());
		}
		checkArguments(method, returnType, type, 0);
	}

	private static void checkSuspending(Method method) {
		if (!isPresent(COROUTINES_REACTOR)) {
			throw new InvalidAnnotatedMethodException(method,
					"@Timeout is on a suspend function, whose completion Spring shows only with kotlinx-coroutines-reactor",
					"add the dependency org.jetbrains.kotlinx:kotlinx-coroutines-reactor");
		}
	}

	private static void checkLimited(Method method, Class<?> type) {
		if (Future.class.isAssignableFrom(type) || CompletionStage.class.isAssignableFrom(type)) {
			return;
		}
		ReactiveAdapter adapter = ReactiveTypes.adapterOf(type);
		if (adapter != null) {
			if (!REACTOR_PRESENT) {
				throw new InvalidAnnotatedMethodException(method,
						"@Timeout is on a method that returns %s, whose completion is seen only with Reactor"
							.formatted(type.getName()),
						"add the dependency io.projectreactor:reactor-core");
			}
			if (!type.isAssignableFrom(adapter.getReactiveType())) {
				throw new InvalidAnnotatedMethodException(method,
						"@Timeout is on a method that returns %s, in whose place it cannot return a limited one"
							.formatted(type.getName()),
						"return " + adapter.getReactiveType().getSimpleName());
			}
		}
		else if (isLater(type) && !type.equals(Callable.class) && !type.getName().equals(DEFERRED_RESULT)
				&& !type.getName().equals(WEB_ASYNC_TASK)) {
			throw unlimited(method, "returns " + type.getName(), type);
		}
	}

	/**
	 * Checks what the result may contain, such as the body of a {@code ResponseEntity}.
	 */
	private static void checkArguments(Method method, ResolvableType returnType, ResolvableType type, int depth) {
		if (depth > MAX_DEPTH || type.toClass() == Class.class) {
			return;
		}
		ResolvableType[] arguments = type.isArray() ? new ResolvableType[] { type.getComponentType() }
				: type.getGenerics();
		for (ResolvableType argument : arguments) {
			Class<?> contained = argument.toClass();
			if (isLaterOrStarted(contained)) {
				throw unlimited(method, "returns " + returnType, contained);
			}
			checkArguments(method, returnType, argument, depth + 1);
		}
	}

	private static InvalidAnnotatedMethodException unlimited(Method method, String returns, Class<?> type) {
		return new InvalidAnnotatedMethodException(method,
				"@Timeout is on a method that %s, and cannot limit the work of the %s, which comes after the return of the method"
					.formatted(returns, type.getSimpleName()),
				"return the result itself, or a CompletableFuture, a publisher or a Callable of it, or remove @Timeout (if it is on the class, annotate the other methods instead)");
	}

	private static boolean isLaterOrStarted(Class<?> type) {
		return Future.class.isAssignableFrom(type) || CompletionStage.class.isAssignableFrom(type) || isLater(type);
	}

	private static boolean isLater(Class<?> type) {
		return IS_LATER.get(type);
	}

	/**
	 * Whether objects of a type are complete, although the type is a supplier: a
	 * collection may supply a stream of its elements, as a page of Spring Data does, and
	 * a record or an enum constant may supply what it holds.
	 */
	private static boolean isValue(Class<?> type, Class<?> later) {
		return SUPPLIERS.contains(later) && (Iterable.class.isAssignableFrom(type)
				|| Record.class.isAssignableFrom(type) || Enum.class.isAssignableFrom(type));
	}

	/**
	 * Whether what a method returns in time may have work left.
	 */
	static boolean isPossible(Class<?> type) {
		return type == Object.class || type == Optional.class || type.isInterface() || isLater(type)
				|| (WEB_PRESENT && WebTimeout.mayHaveBody(type));
	}

	static @Nullable FutureTimeout startedWork(Object returned, InterruptGuard guard) {
		return WEB_PRESENT ? WebTimeout.startedWork(returned, guard) : null;
	}

	/**
	 * Limits a result whose work begins when somebody uses the result.
	 */
	static @Nullable Object limit(@Nullable Object returned, LimitedCall call) {
		if (returned == null || returned instanceof Future<?> || returned instanceof CompletionStage<?>) {
			return returned;
		}
		if (REACTOR_PRESENT) {
			Object publisher = ReactorTimeout.apply(returned, call);
			if (publisher != null) {
				return publisher;
			}
		}
		if (WEB_PRESENT) {
			Object task = WebTimeout.apply(returned, call);
			if (task != null) {
				return task;
			}
		}
		Class<?> declared = call.limit().returnType();
		if (returned instanceof Callable<?> callable && declared.isAssignableFrom(Callable.class)) {
			return new LimitedCallable<>(callable, call);
		}
		if (declared == Object.class) {
			checkLater(returned, call);
		}
		if (returned instanceof Optional<?> optional) {
			optional.ifPresent((content) -> checkContent(content, call));
		}
		else if (WEB_PRESENT) {
			Object body = WebTimeout.body(returned);
			if (body != null) {
				checkContent(body, call);
			}
		}
		return returned;
	}

	private static void checkLater(Object object, LimitedCall call) {
		if (isLater(object.getClass())) {
			throw unlimited(object, call);
		}
	}

	private static void checkContent(Object object, LimitedCall call) {
		if (isLaterOrStarted(object.getClass())) {
			throw unlimited(object, call);
		}
	}

	private static IllegalStateException unlimited(Object object, LimitedCall call) {
		return new IllegalStateException(
				"%s: @Timeout cannot limit the work of the %s, which comes after the return of the method; return the result itself, or a CompletableFuture, a publisher or a Callable of it"
					.formatted(call.describe(), object.getClass().getName()));
	}

	/**
	 * Limits each call of a {@code Callable}, on the thread that calls it.
	 *
	 * @param <V> the type of the result
	 */
	private record LimitedCallable<V extends @Nullable Object>(Callable<V> source,
			LimitedCall limits) implements Callable<V> {

		@Override
		public V call() throws Exception {
			return this.limits.runLater(this.source, LimitedCallable::fallback);
		}

		private static @Nullable Object fallback(@Nullable Object value) throws Exception {
			return (value instanceof Callable<?> callable) ? callable.call() : value;
		}

	}

}
