package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import io.timingwheel.spring.aop.internal.ReactiveTypes;
import io.timingwheel.spring.aop.internal.Refusal;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * The types whose objects do their work after the method has returned them. A type of
 * this kind has a limit of its own, or the application does not start.
 */
final class LaterTypes {

	/** How deep a check looks into type arguments, which may refer to themselves. */
	private static final int MAX_DEPTH = 8;

	private static final String WEB_ASYNC = "org.springframework.web.context.request.async.";

	/** The types below for which {@link LaterResult} has a limit. */
	private static final Set<String> LIMITED = Set.of("java.util.concurrent.Callable", WEB_ASYNC + "DeferredResult",
			WEB_ASYNC + "WebAsyncTask");

	private static final List<Class<?>> LATER = Stream
		.of("java.util.function.Supplier", "java.util.function.BooleanSupplier", "java.util.function.IntSupplier",
				"java.util.function.LongSupplier", "java.util.function.DoubleSupplier", "java.util.concurrent.Callable",
				"java.util.stream.BaseStream", "java.util.Iterator", "java.util.Spliterator", "java.util.Enumeration",
				"java.util.concurrent.Flow$Publisher", "org.springframework.beans.factory.ObjectFactory",
				WEB_ASYNC + "DeferredResult", WEB_ASYNC + "WebAsyncTask",
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
		.filter(LaterTypes::isPresent)
		.<Class<?>>map((name) -> ClassUtils.resolveClassName(name, LaterTypes.class.getClassLoader()))
		.toList();

	private LaterTypes() {
	}

	static boolean isPresent(String className) {
		return ClassUtils.isPresent(className, LaterTypes.class.getClassLoader());
	}

	static boolean isLater(Class<?> type) {
		return LATER.stream().anyMatch((later) -> later.isAssignableFrom(type) && !isValue(type, later));
	}

	static boolean isLaterOrStarted(Class<?> type) {
		return isFuture(type) || isLater(type);
	}

	static boolean isFuture(Class<?> type) {
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
		if (!isFuture(type)) {
			ReactiveTypes.check("@Timeout", method, type, "");
			boolean limited = ReactiveTypes.adapterOf(type) != null || LIMITED.contains(type.getName());
			checkComplete(method, type, type.getName(), !limited && isLater(type));
		}
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
			checkComplete(method, content.toClass(), returnType.toString(), isLaterOrStarted(content.toClass()));
			checkContent(method, returnType, content, depth + 1);
		}
	}

	private static void checkComplete(Method method, Class<?> type, String returned, boolean later) {
		Refusal.when(later, method,
				"@Timeout is on a method that returns %s, and cannot limit the work of the %s, which comes after the return of the method"
					.formatted(returned, type.getSimpleName()),
				"return the result itself, or a CompletableFuture, a publisher or a Callable of it, or remove @Timeout (if it is on the class, annotate the other methods instead)");
	}

}
