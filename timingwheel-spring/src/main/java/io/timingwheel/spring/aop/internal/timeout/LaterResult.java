package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.BiFunction;
import java.util.stream.Stream;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.ReactiveTypes;
import io.timingwheel.spring.aop.internal.Refusal;
import io.timingwheel.spring.task.DelayedTask;
import org.jspecify.annotations.Nullable;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ResolvableType;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

/**
 * The results whose work goes on, or begins, after the method has returned. Futures and
 * publishers have limits of their own. With another type of this kind the application
 * does not start.
 */
final class LaterResult {

	/** How deep a check looks into type arguments, which may refer to themselves. */
	private static final int MAX_DEPTH = 8;

	/**
	 * The types of futures that a method may declare. The handle of a task is complete.
	 */
	private static final Set<Class<?>> FUTURES = Set.of(Future.class, CompletionStage.class, CompletableFuture.class,
			DelayedTask.class);

	private static final List<Class<?>> LATER = Stream
		.of("java.util.function.Supplier", "java.util.function.BooleanSupplier", "java.util.function.IntSupplier",
				"java.util.function.LongSupplier", "java.util.function.DoubleSupplier", "java.util.concurrent.Callable",
				"java.util.stream.BaseStream", "java.util.Iterator", "java.util.Spliterator", "java.util.Enumeration",
				"java.util.concurrent.Flow$Publisher", "org.springframework.beans.factory.ObjectFactory",
				"org.springframework.web.context.request.async.DeferredResult",
				"org.springframework.web.context.request.async.WebAsyncTask",
				"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
				"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
				"org.springframework.web.servlet.function.AsyncServerResponse", "jakarta.ws.rs.core.StreamingOutput",
				"jakarta.inject.Provider", "javax.inject.Provider", "kotlin.Lazy", "kotlin.jvm.functions.Function0",
				"kotlin.sequences.Sequence", "kotlinx.coroutines.Job", "kotlinx.coroutines.flow.Flow",
				"kotlinx.coroutines.channels.ReceiveChannel", "org.reactivestreams.Publisher",
				"reactor.core.publisher.ParallelFlux", "io.reactivex.rxjava3.core.SingleSource",
				"io.reactivex.rxjava3.core.MaybeSource", "io.reactivex.rxjava3.core.CompletableSource",
				"io.reactivex.rxjava3.core.ObservableSource", "io.reactivex.rxjava3.parallel.ParallelFlowable",
				"io.reactivex.SingleSource", "io.reactivex.MaybeSource", "io.reactivex.CompletableSource",
				"io.reactivex.ObservableSource", "rx.Observable", "rx.Single", "rx.Completable",
				"io.smallrye.mutiny.Uni", "io.smallrye.mutiny.Multi", "io.vavr.Lazy", "io.vavr.concurrent.Future",
				"io.vertx.core.Future", "scala.concurrent.Future")
		.filter((name) -> ClassUtils.isPresent(name, LaterResult.class.getClassLoader()))
		.<Class<?>>map((name) -> ClassUtils.resolveClassName(name, LaterResult.class.getClassLoader()))
		.toList();

	/** Gives what the caller gets in place of an object of a class. */
	private static final ClassValue<BiFunction<Object, InterruptGuard, Object>> LIMITERS = new ClassValue<>() {

		@Override
		protected BiFunction<Object, InterruptGuard, Object> computeValue(Class<?> type) {
			return limiter(type);
		}

	};

	private LaterResult() {
	}

	/**
	 * Limits what a method returned. If the work has begun, the guard is handed over.
	 */
	static @Nullable Object limit(@Nullable Object returned, InterruptGuard guard) {
		return (returned != null) ? LIMITERS.get(returned.getClass()).apply(returned, guard) : null;
	}

	private static BiFunction<Object, InterruptGuard, Object> limiter(Class<?> type) {
		if (isFuture(type)) {
			return FutureTimeout::limit;
		}
		ReactiveAdapter adapter = ReactiveTypes.REACTOR_PRESENT ? ReactiveTypes.adapterOf(type) : null;
		if (adapter != null) {
			return (returned, guard) -> guard.call().limit().mayReturn(adapter.getReactiveType())
					? ReactorTimeout.limit(returned, guard, adapter) : returned;
		}
		return isLater(type) ? LaterResult::checkDeclared : (returned, guard) -> returned;
	}

	/** A class that the method declares was checked at the start. */
	private static Object checkDeclared(Object returned, InterruptGuard guard) {
		TimeLimit limit = guard.call().limit();
		Assert.state(limit.returnType() != Object.class,
				() -> "%s: @Timeout cannot limit the work of the %s, which comes after the return of the method; return the result itself, or a CompletableFuture or a publisher of it"
					.formatted(InvalidAnnotatedMethodException.describe(limit.method()),
							returned.getClass().getName()));
		return returned;
	}

	private static boolean isLater(Class<?> type) {
		return LATER.stream().anyMatch((later) -> later.isAssignableFrom(type) && !isValue(type, later));
	}

	private static boolean isFuture(Class<?> type) {
		return Future.class.isAssignableFrom(type) || CompletionStage.class.isAssignableFrom(type);
	}

	/**
	 * Whether objects of a type are complete, although the type is a supplier: a
	 * collection may supply a stream of its elements, as a page of Spring Data does, and
	 * a record or an enum constant may supply what it holds.
	 */
	private static boolean isValue(Class<?> type, Class<?> later) {
		return later.getPackageName().equals("java.util.function") && (Iterable.class.isAssignableFrom(type)
				|| Record.class.isAssignableFrom(type) || Enum.class.isAssignableFrom(type));
	}

	static void check(Method method, ResolvableType returnType) {
		if (KotlinDetector.isSuspendingFunction(method)) {
			ReactiveTypes.check("@Timeout", method, Object.class, "");
			ResolvableType continuation = ResolvableType.forMethodParameter(method, method.getParameterCount() - 1);
			checkContent(method, returnType, continuation.getGeneric(0), 0);
			return;
		}
		Class<?> type = returnType.toClass();
		boolean started = isFuture(type);
		if (!started) {
			ReactiveTypes.check("@Timeout", method, type, "");
		}
		checkComplete(method, type, type.getName(),
				started ? !FUTURES.contains(type) : ReactiveTypes.adapterOf(type) == null && isLater(type));
		checkContent(method, returnType, returnType, 0);
	}

	/**
	 * Checks what the result may contain, such as the body of a {@code ResponseEntity}.
	 */
	private static void checkContent(Method method, ResolvableType returnType, ResolvableType type, int depth) {
		if (depth > MAX_DEPTH || type.toClass() == Class.class) {
			return;
		}
		ResolvableType[] contents = type.isArray() ? new ResolvableType[] { type.getComponentType() }
				: type.getGenerics();
		for (ResolvableType content : contents) {
			Class<?> contentType = content.toClass();
			checkComplete(method, contentType, returnType.toString(), isFuture(contentType) || isLater(contentType));
			checkContent(method, returnType, content, depth + 1);
		}
	}

	private static void checkComplete(Method method, Class<?> type, String returned, boolean later) {
		Refusal.when(later, method,
				"@Timeout is on a method that returns %s, and cannot limit the work of the %s, which comes after the return of the method"
					.formatted(returned, type.getSimpleName()),
				"return the result itself, or a CompletableFuture or a publisher of it, or remove @Timeout (if it is on the class, annotate the other methods instead)");
	}

}
