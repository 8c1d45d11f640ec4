package io.timingwheel.spring;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.internal.ManualTime;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskCounts;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

import static org.awaitility.Awaitility.await;

/**
 * An application in virtual time: the thread that moves the time runs the bodies. As a
 * static extension it starts once for all tests of a class, and gives them its beans as
 * parameters. No task stays from one test to the next.
 */
public final class VirtualApplication implements ParameterResolver, AfterEachCallback, AfterAllCallback, AutoCloseable {

	private final List<Consumer<AnnotationConfigApplicationContext>> settings = new ArrayList<>();

	private final List<String> calls = new CopyOnWriteArrayList<>();

	private final Time time = new Time();

	private boolean executors;

	private @Nullable AnnotationConfigApplicationContext context;

	private VirtualApplication() {
	}

	/** An application with beans, which have the names of their classes. */
	public static VirtualApplication of(Class<?>... beans) {
		return new VirtualApplication().with(beans);
	}

	public VirtualApplication with(Class<?>... beans) {
		for (Class<?> bean : beans) {
			this.settings.add((context) -> context.registerBean(nameOf(bean), bean));
		}
		return this;
	}

	private static String nameOf(Class<?> bean) {
		// The simple name would load the class around it, perhaps in another class
		// loader.
		return StringUtils.uncapitalize(ClassUtils.getShortName(bean).replaceFirst(".*\\.", ""));
	}

	public VirtualApplication with(String... properties) {
		this.settings.add(TestPropertyValues.of(properties)::applyTo);
		return this;
	}

	/** Lets bodies run on their executors. The wall clock is that of the machine. */
	public VirtualApplication withExecutors() {
		this.executors = true;
		return this;
	}

	/** Makes all beans lazy, as {@code spring.main.lazy-initialization} does. */
	public VirtualApplication lazy() {
		this.settings
			.add((context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()));
		return this;
	}

	public <T> VirtualApplication with(String name, Class<T> type, Supplier<T> bean) {
		this.settings.add((context) -> context.registerBean(name, type, bean));
		return this;
	}

	public <T> VirtualApplication with(Class<T> type, Supplier<T> bean) {
		return with(nameOf(type), type, bean);
	}

	public AnnotationConfigApplicationContext context() {
		if (this.context == null) {
			AnnotationConfigApplicationContext starting = new AnnotationConfigApplicationContext();
			starting.register(Application.class);
			if (this.executors) {
				starting.registerBean(TimingWheelBuilderCustomizer.class,
						() -> (builder) -> builder.timeSource(this.time.source));
			}
			else {
				starting.registerBean(ManualTime.class, () -> this.time);
			}
			this.settings.forEach((setting) -> setting.accept(starting));
			starting.refresh();
			this.context = starting;
		}
		return this.context;
	}

	public <T> T bean(Class<T> type) {
		return context().getBean(type);
	}

	public DelayedTaskOperations tasks() {
		return bean(DelayedTaskOperations.class);
	}

	/** What the bodies have noted in this test. */
	public List<String> calls() {
		return this.calls;
	}

	/** Moves the time. A body that runs on an executor may do so, too. */
	public void advance(Duration by) {
		context();
		synchronized (this.time) {
			this.time.source.advance(by);
		}
	}

	public void advanceSeconds(long seconds) {
		advance(Duration.ofSeconds(seconds));
	}

	/** Waits until all tasks that were handed over to executors have ended. */
	public void awaitIdle() {
		DelayedTaskRegistry tasks = bean(DelayedTaskRegistry.class);
		await().until(() -> tasks.pendingCount() == timers() && tasks.runningCount() == 0);
	}

	public Instant now() {
		return this.time.clock().instant();
	}

	public long pending() {
		return bean(DelayedTaskRegistry.class).pendingCount();
	}

	public long timers() {
		return bean(TimingWheel.class).pending();
	}

	public TaskCounts counts(String name) {
		return bean(DelayedTaskRegistry.class).counts(name);
	}

	@Override
	public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
		Class<?> type = parameter.getParameter().getType();
		return !type.getName().startsWith("java.") && context().getBeanProvider(type).getIfUnique() != null;
	}

	@Override
	public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
		return bean(parameter.getParameter().getType());
	}

	@Override
	public void afterEach(ExtensionContext test) {
		this.calls.clear();
		if (this.context != null) {
			bean(DelayedTaskRegistry.class).atShutdown().cancelPending();
		}
	}

	@Override
	public void afterAll(ExtensionContext test) {
		close();
	}

	@Override
	public void close() {
		if (this.context != null) {
			this.context.close();
		}
	}

	private static final class Time implements ManualTime {

		private final ManualTimeSource source = new ManualTimeSource();

		private final Instant start = Instant.parse("2026-01-10T12:00:00Z").minusNanos(this.source.nanoTime());

		@Override
		public ManualTimeSource timeSource() {
			return this.source;
		}

		@Override
		public Clock clock() {
			InstantSource instants = () -> this.start.plusNanos(this.source.nanoTime());
			return instants.withZone(ZoneOffset.UTC);
		}

		@Override
		public void checkWait(String task, Instant dueAt) {
		}

		@Override
		public void failed(Throwable error) {
		}

	}

	@ImportAutoConfiguration({ PropertyPlaceholderAutoConfiguration.class, AopAutoConfiguration.class,
			TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class })
	static class Application {

	}

}
