package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.memory.CallerContext;
import org.aopalliance.intercept.MethodInterceptor;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

/**
 * Proxies with the advice of {@code @Timeout}, without an application context.
 */
final class Proxies {

	final List<Method> timeouts = new CopyOnWriteArrayList<>();

	Consumer<Method> listener = this.timeouts::add;

	private final Advisor advisor;

	private final Advisor bodyAdvisor;

	Proxies(TimingWheel wheel, Executor executor) {
		DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();
		beanFactory.addEmbeddedValueResolver((text) -> text);
		TimeoutMethodRegistry methods = new TimeoutMethodRegistry(beanFactory, new NoOverrides());
		TimeoutRuntime runtime = new TimeoutRuntime(wheel, executor, new CallerContext(null, () -> executor),
				(method) -> this.listener.accept(method), new DeadlineStacks());
		this.advisor = new DefaultPointcutAdvisor(methods.pointcut(),
				new TimeoutInterceptor(methods, "bean", () -> runtime));
		this.bodyAdvisor = new DefaultPointcutAdvisor(methods.pointcut(), new ExpiredBodyInterceptor());
	}

	/**
	 * Returns the suppressed exceptions of a timeout, without the stack at the deadline.
	 */
	static List<Throwable> suppressed(Throwable timeout) {
		return Arrays.stream(timeout.getSuppressed()).filter((ex) -> !(ex instanceof StackAtDeadline)).toList();
	}

	/**
	 * Creates a class-based proxy.
	 * @param target the target object
	 * @param between advice between the outer and the innermost advice of
	 * {@code @Timeout}
	 * @return the proxy
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
