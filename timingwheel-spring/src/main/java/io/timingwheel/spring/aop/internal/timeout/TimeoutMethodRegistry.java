package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.internal.AnnotatedBeans;
import io.timingwheel.spring.aop.internal.AnnotatedMethods;
import io.timingwheel.spring.aop.internal.Refusal;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.UserErrors;
import io.timingwheel.spring.task.memory.CallerContext;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * The methods with {@link Timeout} and their time limits. Each class is read and checked
 * once. Thread-safe.
 */
public final class TimeoutMethodRegistry implements AnnotatedBeans.Reader, AutoCloseable {

	private static final Log logger = LogFactory.getLog(TimeoutMethodRegistry.class);

	private final AnnotatedMethods annotated;

	private final ConfigurableListableBeanFactory beanFactory;

	private final Overrides overrides;

	private final DeadlineStacks stacks = new DeadlineStacks();

	/**
	 * Made at the first call, since Spring must not create its parts before the advice.
	 */
	private final SingletonSupplier<LimitedCall.Runtime> runtime;

	/** The names of the methods of the beans, as {@code bean.method}. */
	private final Set<String> names = ConcurrentHashMap.newKeySet();

	private final Map<Class<?>, Map<Method, TimeLimit>> classes = new ConcurrentHashMap<>();

	private final List<Consumer<? super Method>> listeners = new CopyOnWriteArrayList<>();

	TimeoutMethodRegistry(AnnotatedBeans beans, Overrides overrides) {
		this.annotated = beans.annotated();
		this.beanFactory = beans.beanFactory();
		this.overrides = overrides;
		this.runtime = SingletonSupplier.of(() -> new LimitedCall.Runtime(this.beanFactory.getBean(TimingWheel.class),
				this.beanFactory.getBean(HandOverExecutors.class).completions(),
				this.beanFactory.getBean(CallerContext.class), this::timedOut, this.stacks));
	}

	LimitedCall.Runtime runtime() {
		return this.runtime.obtain();
	}

	int adviceOrder() {
		return this.overrides.adviceOrder();
	}

	@Override
	public void read(Class<?> beanClass, String beanName) {
		for (Method method : of(beanClass).keySet()) {
			this.names.add(AnnotatedBeans.publicName(beanName) + "." + method.getName());
			Refusal.whenNoProxyIntercepts("@Timeout", method);
		}
	}

	@Override
	public void resolveWithBeans() {
		this.classes.values().forEach((limits) -> limits.values().forEach(TimeLimit::resolve));
		this.overrides.checkNames(this.names);
	}

	TimeLimit find(Method method, Class<?> targetClass, String beanName) {
		TimeLimit limit = of(targetClass).get(method);
		Assert.state(limit != null, () -> "No @Timeout on " + method);
		Duration override = this.overrides.find(AnnotatedBeans.publicName(beanName), limit.method().getName());
		return (override != null) ? limit.replacedBy(override) : limit;
	}

	public Set<Method> methods() {
		return this.classes.values().stream().flatMap((limits) -> limits.keySet().stream()).collect(Collectors.toSet());
	}

	/**
	 * Tells a listener of each call that exceeds its limit, on the thread that gets the
	 * exception or completes the future.
	 */
	public void onTimeout(Consumer<? super Method> listener) {
		this.listeners.add(listener);
	}

	/**
	 * An exception of a listener is logged only, because the caller gets the
	 * {@code MethodTimeoutException}.
	 */
	private void timedOut(Method method) {
		try {
			this.listeners.forEach((listener) -> listener.accept(method));
		}
		catch (Throwable ex) {
			UserErrors.log(logger::warn, "Listener failed on the timeout of " + method, ex);
		}
	}

	private Map<Method, TimeLimit> of(Class<?> beanClass) {
		return this.classes.computeIfAbsent(ClassUtils.getUserClass(beanClass), (type) -> {
			Map<Method, TimeLimit> limits = new HashMap<>();
			this.annotated.of(type, Timeout.class)
				.forEach((method, annotation) -> limits.put(method, TimeLimit.read(method, type, annotation,
						fallback(method, annotation, type), this.beanFactory)));
			return limits;
		});
	}

	private @Nullable Fallback fallback(Method method, Timeout annotation, Class<?> type) {
		// Only the class behind an interface may have the fallback.
		if (!StringUtils.hasText(annotation.fallback()) || type.isInterface()) {
			return null;
		}
		Fallback fallback = Fallback.find(method, annotation.fallback(), type);
		if (!fallback.method().equals(method)) {
			return fallback;
		}
		// That of a class is not its own fallback.
		Refusal.when(AnnotatedElementUtils.hasAnnotation(method, Timeout.class), method,
				"the fallback of @Timeout is the method itself", "name another method with the same parameters");
		return null;
	}

	@Override
	public void close() {
		this.stacks.close();
	}

	/**
	 * What the configuration of an application says about limits. Implementations are
	 * thread-safe.
	 */
	public interface Overrides {

		/** The default order of the advice, which is outside {@code @Transactional}. */
		int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 1;

		/** The order of the limits among the advice of a bean. */
		int adviceOrder();

		/** A positive limit, or {@code null} if that of the annotation stays. */
		@Nullable Duration find(String beanName, String methodName);

		/**
		 * Gets, once all singletons exist, the names of all methods with a limit, as
		 * {@code bean.method}.
		 */
		void checkNames(Set<String> names);

	}

}
