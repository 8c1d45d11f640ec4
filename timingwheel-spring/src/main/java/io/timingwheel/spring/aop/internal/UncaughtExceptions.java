package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.aop.interceptor.SimpleAsyncUncaughtExceptionHandler;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.util.function.SingletonSupplier;

/**
 * Tells the handler of an {@link AsyncConfigurer}, else the handler that is a bean, else
 * Spring's default, which logs. Looked up at the first exception. Thread-safe.
 */
public final class UncaughtExceptions implements AsyncUncaughtExceptionHandler {

	private final Supplier<AsyncUncaughtExceptionHandler> handler;

	public UncaughtExceptions(BeanFactory beanFactory) {
		this.handler = SingletonSupplier.of(() -> find(beanFactory));
	}

	@Override
	@SuppressWarnings("NullAway") // The parameter is @Nullable Object..., which NullAway
									// misreads.
	public void handleUncaughtException(Throwable error, Method method, @Nullable Object... arguments) {
		this.handler.get().handleUncaughtException(error, method, arguments);
	}

	private static AsyncUncaughtExceptionHandler find(BeanFactory beanFactory) {
		return beanFactory.getBeanProvider(AsyncConfigurer.class)
			.orderedStream()
			.flatMap((configurer) -> Stream.ofNullable(configurer.getAsyncUncaughtExceptionHandler()))
			.findFirst()
			.or(() -> beanFactory.getBeanProvider(AsyncUncaughtExceptionHandler.class).orderedStream().findFirst())
			.orElseGet(SimpleAsyncUncaughtExceptionHandler::new);
	}

}
