package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.task.support.CallerContext;

import org.springframework.aop.Pointcut;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.core.Ordered;

/**
 * Advises the methods with {@link Timeout}. This advisor has to be an infrastructure
 * bean, beside a {@link TimeoutInfrastructure}.
 *
 * @since 0.1
 */
public final class TimeoutAdvisor extends DefaultPointcutAdvisor implements DisposableBean {

	/**
	 * The default order, which is outside {@code @Transactional}.
	 */
	public static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 1;

	private final transient TimeoutMethodRegistry methods;

	private final transient TimeoutRuntime runtime;

	/**
	 * Creates an advisor. The advice calls the suppliers at each call that needs them,
	 * and not before. The suppliers should cache their results.
	 * @param methods the annotated methods
	 * @param wheel the wheel that runs the timers
	 * @param executor the executor that completes futures at their deadline. The wheel's
	 * thread calls {@code execute}, which must neither block nor refuse the task nor run
	 * it itself. What depends on a future may block
	 * @param context the context of the caller, which the fallbacks of futures and
	 * publishers get
	 * @param listeners the listeners that are notified of timeouts
	 * @param order the order among the advisors of a bean, by {@link Ordered}
	 */
	public TimeoutAdvisor(TimeoutMethodRegistry methods, Supplier<TimingWheel> wheel,
			Supplier<? extends Executor> executor, Supplier<CallerContext> context,
			Supplier<List<TimeoutListener>> listeners, int order) {
		this(methods, Map.of(), new TimeoutRuntime(wheel, executor, context, listeners), methods.pointcut(), order);
	}

	private TimeoutAdvisor(TimeoutMethodRegistry methods, Map<Method, TimeLimit> overridden, TimeoutRuntime runtime,
			Pointcut pointcut, int order) {
		super(pointcut, new TimeoutInterceptor(methods, overridden, runtime));
		this.methods = methods;
		this.runtime = runtime;
		setOrder(order);
	}

	@Override
	public void destroy() {
		this.runtime.close();
	}

	/**
	 * Returns the advisor of one bean.
	 * @param overridden the limits of the bean in place of those of its class
	 */
	TimeoutAdvisor with(Map<Method, TimeLimit> overridden) {
		return new TimeoutAdvisor(this.methods, overridden, this.runtime, getPointcut(), getOrder());
	}

}
