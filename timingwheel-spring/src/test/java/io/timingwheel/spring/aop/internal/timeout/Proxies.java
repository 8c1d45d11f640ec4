package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.memory.CallerContext;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Proxies with the advice of {@code @Timeout}, without an application context. With
 * virtual time, the thread that moves it runs everything, so each interrupt arrives at a
 * known point of a body that moves the time.
 */
final class Proxies {

	final ManualTimeSource time = new ManualTimeSource();

	final TimingWheel wheel;

	final List<Method> timeouts = new CopyOnWriteArrayList<>();

	Consumer<Method> listener = this.timeouts::add;

	private final Advisor advisor;

	private final Advisor bodyAdvisor;

	Proxies() {
		this(TimingWheel.builder(Runnable::run), true);
	}

	Proxies(TimingWheel.Builder wheel, boolean virtual) {
		this.wheel = (virtual ? wheel.timeSource(this.time) : wheel).build();
		DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();
		beanFactory.addEmbeddedValueResolver((text) -> text);
		TimeoutMethodRegistry methods = new TimeoutMethodRegistry(beanFactory, new NoOverrides());
		TimeoutRuntime runtime = new TimeoutRuntime(this.wheel, Runnable::run,
				new CallerContext(null, () -> Runnable::run), (method) -> this.listener.accept(method),
				new DeadlineStacks());
		this.advisor = new DefaultPointcutAdvisor(methods.annotated().pointcut(),
				new TimeoutInterceptor(methods, "bean", () -> runtime));
		this.bodyAdvisor = new DefaultPointcutAdvisor(methods.annotated().pointcut(),
				(MethodInterceptor) InterruptGuard::runBody);
	}

	/**
	 * The suppressed exceptions of a timeout, without the stack at the deadline.
	 */
	static List<Throwable> suppressed(Throwable timeout) {
		return Arrays.stream(timeout.getSuppressed()).filter((ex) -> !(ex instanceof StackAtDeadline)).toList();
	}

	void assertNoTimerAndNoInterruptIsLeft() {
		assertThat(Thread.interrupted()).isFalse();
		assertThat(this.wheel.pending()).isZero();
	}

	/**
	 * Makes a class-based proxy.
	 * @param between advice between the outer and the innermost advice of
	 * {@code @Timeout}
	 */
	@SuppressWarnings("unchecked")
	<T> T proxy(T target, MethodInterceptor... between) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.setProxyTargetClass(true);
		factory.addAdvisor(this.advisor);
		for (MethodInterceptor advice : between) {
			factory.addAdvice(advice);
		}
		factory.addAdvisor(this.bodyAdvisor);
		return (T) factory.getProxy();
	}

	private static final class NoOverrides implements TimeoutOverrides {

		@Override
		public @Nullable Duration find(String beanName, String methodName) {
			return null;
		}

		@Override
		public void checkNames(Set<String> names) {
		}

	}

}
