package io.timingwheel.spring.aop.internal;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.Timeout;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
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
 * stops the start. Objects that take the place of a bean, such as mocks, are not created
 * by Spring.
 *
 * <p>
 * The beans that exist before the post-processors take the bean factory from here. If
 * Spring had to find it by type, it would instantiate {@link FactoryBean}s to learn what
 * they create, with all beans that these need.
 */
public final class CreatedBeans implements BeanDefinitionRegistryPostProcessor, PriorityOrdered {

	private static final List<Class<?>> NEEDING_TYPES = List.of(BeanPostProcessor.class, BeanFactoryPostProcessor.class,
			Advisor.class, FactoryBean.class);

	private static final StackWalker STACK = StackWalker.getInstance();

	private final AnnotatedMethods<Delayed> delayed = new AnnotatedMethods<>(Delayed.class);

	private final AnnotatedMethods<Recurring> recurring = new AnnotatedMethods<>(Recurring.class);

	private final List<AnnotatedMethods<? extends Annotation>> annotated = List.of(this.delayed,
			new AnnotatedMethods<>(CancelDelayed.class), this.recurring, new AnnotatedMethods<>(Timeout.class));

	/** The classes of the beans by name; of a factory bean that of its product. */
	private final Map<String, Class<?>> classes = new ConcurrentHashMap<>();

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
				this.classes.put(name, AopUtils.getTargetClass(bean));
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

	public @Nullable Class<?> classOf(String beanName) {
		Class<?> type = this.classes.get(beanName);
		return (type != null && !FactoryBean.class.isAssignableFrom(type)) ? type : null;
	}

	/**
	 * Returns whether an object is one that Spring did not create, but that somebody
	 * registered in place of a bean.
	 */
	public boolean isReplaced(String beanName) {
		return beanFactory().containsSingleton(beanName) && !this.classes.containsKey(beanName)
				&& !isSynthetic(beanName);
	}

	/**
	 * Whether Spring creates a bean without telling any post-processor, as it does with
	 * some beans of its own.
	 */
	private boolean isSynthetic(String beanName) {
		return beanFactory().containsBeanDefinition(beanName)
				&& beanFactory().getMergedBeanDefinition(beanName) instanceof RootBeanDefinition definition
				&& definition.isSynthetic();
	}

	/**
	 * Calls a listener with the class and the name of each bean that is created from now
	 * on.
	 */
	public void onCreated(BiConsumer<Class<?>, String> listener) {
		this.listener = listener;
	}

	/**
	 * Returns whether an object from outside hides the annotations of the bean whose
	 * place it took, because its class shows less, such as a mock of an interface.
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
	 * The beans that the start has not created, and that may have annotations: the code
	 * of the {@code @Bean} method or of the factory bean shows them, or there is no such
	 * code.
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
	 * The classes of which the code that makes a bean creates instances, {@code null}
	 * without such code.
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
		if (beanFactory().containsBeanDefinition(beanName)) {
			Class<?> type = AopUtils.getTargetClass(bean);
			this.classes.put(beanName, type);
			BiConsumer<Class<?>, String> listener = this.listener;
			if (listener != null && !(bean instanceof FactoryBean)) {
				listener.accept(type, beanName);
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
