package io.timingwheel.test;

import java.lang.reflect.Method;
import java.time.Clock;
import java.util.Set;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.TaskExecutors;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.support.DefaultDelayedTaskOperations;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

import org.springframework.aop.interceptor.SimpleAsyncUncaughtExceptionHandler;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.test.context.TestContextAnnotationUtils;

/**
 * An extension of JUnit for tests without a Spring context. Each test method gets virtual
 * time of its own, with tasks in memory. The parameters of its methods may be the
 * {@link VirtualTime}, the {@link DelayedTaskOperations} or {@link DelayedTaskTemplate}
 * to give to the code under test, the {@link TimingWheel} and the {@link Clock}.
 *
 * <pre class="code">
 * &#64;ExtendWith(VirtualTimeExtension.class)
 * class RemindersTests {
 *
 *     &#64;Test
 *     void remindsOnTime(VirtualTime time, DelayedTaskOperations tasks) {
 *         Reminders reminders = new Reminders(tasks, time.clock());
 *         ...
 *
 * </pre>
 *
 * @since 0.1
 */
public final class VirtualTimeExtension implements ParameterResolver {

	private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace
		.create(VirtualTimeExtension.class);

	@Override
	public boolean supportsParameter(ParameterContext parameterContext, ExtensionContext extensionContext) {
		// A test class or its @BeforeAll methods would share the time of all methods.
		return extensionContext.getTestMethod().isPresent()
				&& parameterContext.getDeclaringExecutable() instanceof Method
				&& Fixture.TYPES.contains(parameterContext.getParameter().getType());
	}

	@Override
	public Object resolveParameter(ParameterContext parameterContext, ExtensionContext extensionContext) {
		Class<?> testClass = extensionContext.getRequiredTestClass();
		if (TestContextAnnotationUtils.hasAnnotation(testClass, AutoConfigureVirtualTime.class)) {
			throw new ParameterResolutionException(
					("There are two clocks: %s has both VirtualTimeExtension and @AutoConfigureVirtualTime, and the"
							+ " application goes by the second one. Remove @ExtendWith(VirtualTimeExtension.class), and"
							+ " annotate the parameter with @Autowired")
						.formatted(testClass.getName()));
		}
		return extensionContext.getStore(NAMESPACE)
			.computeIfAbsent(Fixture.class, (type) -> new Fixture(), Fixture.class)
			.get(parameterContext.getParameter().getType());
	}

	/**
	 * What one test method gets. JUnit closes it at the end of the method.
	 */
	private static final class Fixture implements AutoCloseable {

		static final Set<Class<?>> TYPES = Set.of(VirtualTime.class, DelayedTaskOperations.class,
				DelayedTaskTemplate.class, TimingWheel.class, Clock.class);

		private final VirtualTime time;

		private final TimingWheel wheel;

		private final DelayedTaskTemplate tasks;

		Fixture() {
			VirtualClock clock = new VirtualClock();
			InjectedFaults faults = new InjectedFaults();
			TestTimers timers = new TestTimers();
			HandOverExecutors handOvers = HandOverExecutors.onCallingThread();
			this.wheel = new TestWheel(TimingWheel.builder(handOvers.safe(Runnable::run))
				.timeSource(clock.timeSource())
				.tick(VirtualClock.TICK)
				.onError((task, error) -> clock.failed("unnamed", error))
				.build(), timers);
			DelayedTaskRegistry registry = new DelayedTaskRegistry(this.wheel, clock, handOvers, null, faults,
					TaskPolicies.none());
			TaskExecutors executors = new TaskExecutors(new DefaultListableBeanFactory(), () -> Runnable::run);
			this.tasks = new DelayedTaskTemplate(
					new DefaultDelayedTaskOperations(registry, executors, new SimpleAsyncUncaughtExceptionHandler()));
			this.time = new DefaultVirtualTime(clock, faults, timers,
					() -> new VirtualParts(this.wheel, registry, null));
			// No task belongs to an application, so a reset also cancels the repeating
			// tasks.
			this.time.reset();
		}

		Object get(Class<?> type) {
			if (type == VirtualTime.class) {
				return this.time;
			}
			if (type == TimingWheel.class) {
				return this.wheel;
			}
			return (type == Clock.class) ? this.time.clock() : this.tasks;
		}

		@Override
		public void close() {
			this.wheel.close();
		}

	}

}
