package io.timingwheel.spring.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.Timeout;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.util.Assert;

/**
 * Sees each bean that Spring creates, from the first moment at which the application
 * context lets it. A bean with an annotated method that is created before the
 * post-processors of the advice are registered would never get the advice. Such a bean
 * stops the start. Objects that take the place of a bean, such as mocks, are not created
 * by Spring.
 *
 * <p>
 * The beans that exist before the post-processors take the bean factory from here. If
 * Spring had to find it by type, it would instantiate {@link FactoryBean}s to learn what
 * they create, with all beans that these need.
 *
 * @since 0.1
 */
public final class CreatedBeans implements BeanDefinitionRegistryPostProcessor, PriorityOrdered {

	private static final List<Class<?>> NEEDING_TYPES = List.of(BeanPostProcessor.class, BeanFactoryPostProcessor.class,
			Advisor.class, FactoryBean.class);

	private static final StackWalker STACK = StackWalker.getInstance();

	private final List<AnnotatedMethods<? extends Annotation>> annotated = List.of(
			new AnnotatedMethods<>(Delayed.class), new AnnotatedMethods<>(CancelDelayed.class),
			new AnnotatedMethods<>(Recurring.class), new AnnotatedMethods<>(Timeout.class));

	private final Set<String> names = ConcurrentHashMap.newKeySet();

	private volatile @Nullable ConfigurableListableBeanFactory beanFactory;

	private volatile @Nullable BiConsumer<Class<?>, String> listener;

	private volatile boolean adviceReady;

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
		ConfigurableListableBeanFactory factory = (ConfigurableListableBeanFactory) registry;
		this.beanFactory = factory;
		if (AnnotatedMethodAotProcessor.isActive()) {
			return;
		}
		for (String name : factory.getBeanDefinitionNames()) {
			Object bean = factory.containsSingleton(name) ? factory.getSingleton(name) : null;
			if (bean != null) {
				check(bean, name);
			}
		}
		factory.addBeanPostProcessor(new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				created(bean, beanName);
				return bean;
			}

		});
	}

	/**
	 * Returns the bean factory.
	 * @return the bean factory of the application context
	 */
	public ConfigurableListableBeanFactory beanFactory() {
		ConfigurableListableBeanFactory beanFactory = this.beanFactory;
		Assert.state(beanFactory != null, "No bean factory yet");
		return beanFactory;
	}

	/**
	 * Returns whether an object is one that Spring did not create, but that somebody
	 * registered in place of a bean.
	 * @param beanName the name of the bean
	 * @return whether the bean exists, and is a mock or another object from outside
	 */
	public boolean isReplaced(String beanName) {
		return beanFactory().containsSingleton(beanName) && !this.names.contains(beanName);
	}

	/**
	 * Calls a listener with the class and the name of each bean that is created from now
	 * on.
	 * @param listener takes the class of the bean, not of its proxy
	 */
	public void onCreated(BiConsumer<Class<?>, String> listener) {
		this.listener = listener;
	}

	private void created(Object bean, String beanName) {
		if (!this.adviceReady) {
			this.adviceReady = isAdviceReady();
			if (!this.adviceReady) {
				check(bean, beanName);
			}
		}
		if (beanFactory().containsBeanDefinition(beanName)) {
			this.names.add(beanName);
			BiConsumer<Class<?>, String> listener = this.listener;
			if (listener != null && !(bean instanceof FactoryBean)) {
				listener.accept(AopUtils.getTargetClass(bean), beanName);
			}
		}
	}

	private boolean isAdviceReady() {
		return beanFactory() instanceof AbstractBeanFactory factory
				&& factory.getBeanPostProcessors().stream().anyMatch(AdvicePostProcessor.class::isInstance);
	}

	private void check(Object bean, String beanName) {
		Class<?> type = AopUtils.getTargetClass(bean);
		for (AnnotatedMethods<? extends Annotation> methods : this.annotated) {
			for (Method method : methods.of(type).keySet()) {
				throw tooEarly(bean, beanName, "@" + methods.annotationType().getSimpleName(), method);
			}
		}
	}

	private InvalidAnnotatedMethodException tooEarly(Object bean, String beanName, String annotation, Method method) {
		if (bean instanceof BeanPostProcessor || bean instanceof BeanFactoryPostProcessor) {
			return new InvalidAnnotatedMethodException(method,
					"%s would have no effect, since the bean \"%s\" is a post-processor, and Spring creates it before the advice"
						.formatted(annotation, beanName),
					"move the method to another bean");
		}
		return new InvalidAnnotatedMethodException(method,
				"%s would have no effect, since the bean \"%s\" is created before the advice: %s needs it too early"
					.formatted(annotation, beanName, needing(beanName)),
				"get it there by an ObjectProvider or with @Lazy, and use it only after the start;"
						+ " make a @Bean method that declares a post-processor static");
	}

	/**
	 * Names the beans that are being created and therefore need another bean now. Without
	 * such a bean, names the code that asks for it.
	 */
	private String needing(String beanName) {
		ConfigurableListableBeanFactory factory = beanFactory();
		List<String> creating = Arrays.stream(factory.getBeanDefinitionNames())
			.filter((name) -> !name.equals(beanName) && factory.isCurrentlyInCreation(name))
			.toList();
		List<String> roots = creating.stream().filter((name) -> isNeeding(factory, name)).toList();
		List<String> result = roots.isEmpty() ? creating : roots;
		if (!result.isEmpty()) {
			return result.stream().collect(Collectors.joining("\", \"", "\"", "\""));
		}
		Optional<String> caller = STACK.walk((frames) -> frames.map(StackWalker.StackFrame::getClassName)
			.filter((name) -> !name.startsWith("org.springframework.") && !name.startsWith("java.")
					&& !name.startsWith("jdk.") && !name.startsWith(CreatedBeans.class.getName()))
			.findFirst());
		return caller.orElse("another bean");
	}

	private static boolean isNeeding(ConfigurableListableBeanFactory factory, String name) {
		Class<?> type = factory.getType(name, false);
		return factory.isFactoryBean(name)
				|| (type != null && NEEDING_TYPES.stream().anyMatch((needing) -> needing.isAssignableFrom(type)));
	}

}
