package io.timingwheel.spring.aop.timeout;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Timeout;

import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.core.Ordered;

/**
 * Applies {@link Timeout}. To be an infrastructure bean; {@link TimeoutInfrastructure}
 * adds what else is needed.
 */
public final class TimeoutAdvisor extends DefaultPointcutAdvisor {

	/**
	 * The default order: outside {@code @Transactional}.
	 */
	public static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 1;

	/**
	 * Creates an advisor. The suppliers are called at the first call that needs them, and
	 * at each: they should remember what they gave.
	 * @param methods the annotated methods
	 * @param wheel the wheel that measures the time
	 * @param executor where futures are completed at their deadline. Its {@code execute}
	 * is called by the wheel's thread: it must not block, nor run the task itself
	 * @param listeners who hears of timeouts
	 * @param order the order among the advisors of a bean
	 */
	public TimeoutAdvisor(TimeoutMethods methods, Supplier<TimingWheel> wheel, Supplier<? extends Executor> executor,
			Supplier<List<TimeoutListener>> listeners, int order) {
		super(methods.pointcut(),
				new TimeoutInterceptor(methods, new Deadlines(wheel, executor), new TimeoutEvents(listeners)));
		setOrder(order);
	}

}
