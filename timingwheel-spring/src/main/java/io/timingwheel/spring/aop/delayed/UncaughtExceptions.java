package io.timingwheel.spring.aop.delayed;

import java.util.function.Consumer;
import java.util.function.Supplier;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.aop.interceptor.SimpleAsyncUncaughtExceptionHandler;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.scheduling.annotation.AsyncConfigurer;

/**
 * Finds who hears of exceptions that no future can carry: the handler that {@code @Async}
 * methods have by an {@link AsyncConfigurer}, else a bean, else Spring's default, which
 * logs them.
 */
public final class UncaughtExceptions implements Supplier<AsyncUncaughtExceptionHandler> {

	private final ListableBeanFactory beanFactory;

	/**
	 * Creates a finder.
	 * @param beanFactory where to look
	 */
	public UncaughtExceptions(ListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public AsyncUncaughtExceptionHandler get() {
		return this.beanFactory.getBeanProvider(AsyncConfigurer.class)
			.orderedStream()
			.mapMulti((AsyncConfigurer configurer, Consumer<AsyncUncaughtExceptionHandler> sink) -> {
				AsyncUncaughtExceptionHandler handler = configurer.getAsyncUncaughtExceptionHandler();
				if (handler != null) {
					sink.accept(handler);
				}
			})
			.findFirst()
			.or(() -> this.beanFactory.getBeanProvider(AsyncUncaughtExceptionHandler.class).orderedStream().findFirst())
			.orElseGet(SimpleAsyncUncaughtExceptionHandler::new);
	}

}
