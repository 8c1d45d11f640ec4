package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.internal.TimeLimit.Fallback;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.UserErrors;
import io.timingwheel.spring.task.memory.CallerContext;
import org.aopalliance.intercept.MethodInterceptor;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * The methods with {@link Timeout} and their time limits. Each class is read and checked
 * once. Adds their advice: the innermost advice of a bean, and an outer one at its place
 * in the order of the advice. Thread-safe.
 */
public final class TimeoutMethodRegistry extends AdvicePostProcessor {

	private static final Log logger = LogFactory.getLog(TimeoutMethodRegistry.class);

	private final transient Overrides overrides;

	/**
	 * Made at the first call, since Spring must not create its parts before the advice.
	 */
	private final transient SingletonSupplier<LimitedCall.Runtime> runtime;

	/** The names of the methods of the beans, as {@code bean.method}. */
	private final transient Set<String> names = ConcurrentHashMap.newKeySet();

	private final transient Map<Class<?>, Map<Method, TimeLimit>> classes = new ConcurrentHashMap<>();

	private final transient List<Consumer<? super Method>> listeners = new CopyOnWriteArrayList<>();

	TimeoutMethodRegistry(AnnotatedBeans beans, Overrides overrides) {
		super(beans, Timeout.class, TIMEOUT);
		this.advisor = advisor(InterruptGuard::runBody);
		this.overrides = overrides;
		ConfigurableListableBeanFactory beanFactory = beans.beanFactory();
		this.runtime = SingletonSupplier.of(() -> new LimitedCall.Runtime(beanFactory.getBean(TimingWheel.class),
				beanFactory.getBean(HandOverExecutors.class).completions(), beanFactory.getBean(CallerContext.class),
				this::timedOut, new DeadlineStacks()));
	}

	@Override
	protected void read(Class<?> beanClass, String beanName) {
		for (Method method : of(beanClass).keySet()) {
			this.names.add(AnnotatedBeans.publicName(beanName) + "." + method.getName());
			Refusal.whenNoProxyIntercepts("@Timeout", method);
		}
	}

	@Override
	protected void resolveWithBeans() {
		this.classes.values().forEach((limits) -> limits.values().forEach(TimeLimit::resolve));
		this.overrides.checkNames(this.names);
	}

	@Override
	protected MethodInterceptor adviceOf(Method method, Class<?> targetClass, String beanName) {
		TimeLimit annotated = Objects.requireNonNull(of(targetClass).get(method), () -> "No @Timeout on " + method);
		Duration override = this.overrides.find(AnnotatedBeans.publicName(beanName), method.getName());
		TimeLimit limit = (override != null) ? annotated.replacedBy(override) : annotated;
		return (invocation) -> new LimitedCall(limit, invocation, limit.nanos(invocation.getArguments()),
				this.runtime.obtain())
			.run();
	}

	@Override
	protected void added(Advisor body, Advised proxy, DefaultPointcutAdvisor outer) {
		outer.setOrder(this.overrides.adviceOrder());
		Advisor[] advisors = proxy.getAdvisors();
		int position = 0;
		while (advisors[position] != body
				&& AnnotationAwareOrderComparator.INSTANCE.compare(advisors[position], outer) <= 0) {
			position++;
		}
		proxy.addAdvisor(position, outer);
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
			this.beans.annotated.of(type, Timeout.class)
				.forEach((method, annotation) -> limits.put(method, TimeLimit.read(method, type, annotation,
						fallback(method, annotation, type), this.beans.beanFactory())));
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
