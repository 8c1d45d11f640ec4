package io.timingwheel.spring.aop.internal;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.Timeout;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.util.Assert;
import org.springframework.util.ReflectionUtils;

/**
 * Sees each bean that Spring creates, from the first moment at which the application
 * context lets it. A bean with an annotated method that is created before the
 * post-processors of the advice are registered would never get the advice. Such a bean
 * stops the start.
 *
 * <p>
 * The beans of the advice take the bean factory from here. If Spring had to find it by
 * type, it would instantiate {@link FactoryBean}s to learn what they create.
 */
public final class CreatedBeans implements BeanDefinitionRegistryPostProcessor, PriorityOrdered {

	private static final StackWalker STACK = StackWalker.getInstance();

	private final AnnotatedMethods<Delayed> delayed = new AnnotatedMethods<>(Delayed.class);

	private final AnnotatedMethods<Recurring> recurring = new AnnotatedMethods<>(Recurring.class);

	private final List<AnnotatedMethods<? extends Annotation>> annotated = List.of(this.delayed,
			new AnnotatedMethods<>(CancelDelayed.class), this.recurring, new AnnotatedMethods<>(Timeout.class));

	/** The names of the beans that Spring has created. */
	private final Set<String> created = ConcurrentHashMap.newKeySet();

	private volatile @Nullable ConfigurableListableBeanFactory beanFactory;

	private volatile List<AnnotatedMethodScanner.Reader> readers = List.of();

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
				this.created.add(name);
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

	public ConfigurableListableBeanFactory beanFactory() {
		ConfigurableListableBeanFactory beanFactory = this.beanFactory;
		Assert.state(beanFactory != null, "No bean factory yet");
		return beanFactory;
	}

	/**
	 * Whether somebody registered an object in place of a bean.
	 */
	public boolean isReplaced(String beanName) {
		return beanFactory().containsSingleton(beanName) && !this.created.contains(beanName) && !isSynthetic(beanName);
	}

	/**
	 * Whether Spring creates a bean without telling any post-processor.
	 */
	private boolean isSynthetic(String beanName) {
		return beanFactory().containsBeanDefinition(beanName)
				&& beanFactory().getMergedBeanDefinition(beanName) instanceof RootBeanDefinition definition
				&& definition.isSynthetic();
	}

	/**
	 * Passes the beans to readers, since a class may show more than a definition.
	 */
	void passTo(List<AnnotatedMethodScanner.Reader> readers) {
		this.readers = readers;
	}

	/**
	 * Whether an object in place of a bean may hide annotations, as a mock of an
	 * interface does.
	 */
	public boolean hidesAnnotations() {
		return Arrays.stream(beanFactory().getBeanDefinitionNames()).filter(this::isReplaced).anyMatch((name) -> {
			Object bean = beanFactory().getSingleton(name);
			return bean != null && bean.getClass().getInterfaces().length > 0 && !isAnnotated(bean.getClass());
		});
	}

	/**
	 * Creates the beans that run by themselves or for stored tasks, if the start has not
	 * created them and their definitions do not show it.
	 */
	void createHidden() {
		hidden(this::needsNoCaller, false).forEach(beanFactory()::getBean);
	}

	/**
	 * The beans that the start has not created, and that may have annotations: their code
	 * shows them, or there is no code.
	 */
	public List<String> hidden() {
		return hidden(this::isAnnotated, true);
	}

	private List<String> hidden(Predicate<Class<?>> wanted, boolean orUnknown) {
		ConfigurableListableBeanFactory factory = beanFactory();
		return Arrays.stream(factory.getBeanDefinitionNames())
			.filter((name) -> isHidden(factory, name))
			.filter((name) -> {
				Set<Class<?>> types = createdTypes(factory, name);
				return (types != null) ? types.stream().anyMatch(wanted)
						: orUnknown && factory.getMergedBeanDefinition(name).isSingleton();
			})
			.toList();
	}

	private static boolean isHidden(ConfigurableListableBeanFactory factory, String name) {
		BeanDefinition definition = factory.getMergedBeanDefinition(name);
		if (definition.isAbstract() || isPartOfSpring(definition) || !definition.isSingleton()) {
			return definition.isPrototype();
		}
		Object existing = factory.containsSingleton(name) ? factory.getSingleton(name) : null;
		if (existing != null && !(existing instanceof FactoryBean<?>)) {
			return false;
		}
		Class<?> type = factory.getType(name, existing != null);
		return type == null || type == Object.class || Modifier.isAbstract(type.getModifiers());
	}

	private static boolean isPartOfSpring(BeanDefinition definition) {
		Method method = factoryMethod(definition);
		return method != null && method.getDeclaringClass().getName().startsWith("org.springframework.");
	}

	private static @Nullable Method factoryMethod(BeanDefinition definition) {
		return (definition instanceof RootBeanDefinition root) ? root.getResolvedFactoryMethod() : null;
	}

	/**
	 * The classes that the code of a bean creates, {@code null} without such code.
	 */
	private static @Nullable Set<Class<?>> createdTypes(ConfigurableListableBeanFactory factory, String name) {
		Object existing = factory.containsSingleton(name) ? factory.getSingleton(name) : null;
		Method method = (existing instanceof FactoryBean<?>) ? productMethod(AopUtils.getTargetClass(existing))
				: factoryMethod(factory.getMergedBeanDefinition(name));
		return (method != null) ? FactoryCode.createdBy(method, factory.getBeanClassLoader()) : null;
	}

	private static @Nullable Method productMethod(Class<?> type) {
		Method method = ReflectionUtils.findMethod(type, "getObject");
		return (method != null) ? BridgeMethodResolver.getMostSpecificMethod(method, type) : null;
	}

	private boolean needsNoCaller(Class<?> type) {
		return !this.recurring.of(type).isEmpty() || this.delayed.of(type).values().stream().anyMatch(Delayed::durable);
	}

	private boolean isAnnotated(Class<?> type) {
		return this.annotated.stream().anyMatch((methods) -> !methods.of(type).isEmpty());
	}

	private void created(Object bean, String beanName) {
		if (!this.adviceReady) {
			this.adviceReady = isAdviceReady();
			if (!this.adviceReady) {
				check(bean, beanName);
			}
		}
		this.created.add(beanName);
		if (!(bean instanceof FactoryBean<?>) && !(bean instanceof AopInfrastructureBean)) {
			Class<?> type = AopUtils.getTargetClass(bean);
			this.readers.forEach((reader) -> reader.read(type, beanName));
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
		boolean isPostProcessor = bean instanceof BeanPostProcessor || bean instanceof BeanFactoryPostProcessor;
		return new InvalidAnnotatedMethodException(method,
				"%s would have no effect, since the bean \"%s\" is created before the advice: %s needs it too early"
					.formatted(annotation, beanName, isPostProcessor ? "Spring" : needing(beanName)),
				isPostProcessor ? "move the method to a bean that is no post-processor"
						: "get it there by an ObjectProvider or with @Lazy, and use it only after the start;"
								+ " make a @Bean method that declares a post-processor static");
	}

	/**
	 * Names the beans that are being created and therefore need another bean now. Without
	 * such a bean, names the code that asks for it.
	 */
	private String needing(String beanName) {
		ConfigurableListableBeanFactory factory = beanFactory();
		String creating = Arrays.stream(factory.getBeanDefinitionNames())
			.filter((name) -> !name.equals(beanName) && factory.isCurrentlyInCreation(name))
			.collect(Collectors.joining("\", \""));
		return !creating.isEmpty() ? "\"" + creating + "\""
				: STACK.walk((frames) -> frames.map(StackWalker.StackFrame::getClassName)
					.filter((name) -> !name.startsWith("org.springframework.") && !name.startsWith("java.")
							&& !name.startsWith("jdk.") && !name.startsWith(CreatedBeans.class.getName()))
					.findFirst()
					.orElse("another bean"));
	}

}
