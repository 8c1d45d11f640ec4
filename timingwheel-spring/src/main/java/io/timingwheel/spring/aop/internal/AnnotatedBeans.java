package io.timingwheel.spring.aop.internal;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.timingwheel.spring.aop.internal.AdvicePostProcessor.Outermost;
import io.timingwheel.spring.aop.internal.TimeoutMethodRegistry.Overrides;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanRegistrar;
import org.springframework.beans.factory.BeanRegistry;
import org.springframework.beans.factory.BeanRegistry.SupplierContext;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.env.Environment;
import org.springframework.util.Assert;

/**
 * Shows all beans to the readers of annotations, the {@link AdvicePostProcessor}s: the
 * types of the definitions before any bean is created, so that lazy beans stay lazy, and
 * the class of each bean as it is created. An annotated bean that is created before the
 * advice stops the start.
 *
 * <p>
 * The beans of the advice take the bean factory from here. If Spring had to find it by
 * type, it would instantiate {@link FactoryBean}s to learn what they create.
 */
public final class AnnotatedBeans
		implements BeanDefinitionRegistryPostProcessor, PriorityOrdered, SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(AnnotatedBeans.class);

	final AnnotatedMethods annotated = new AnnotatedMethods();

	/** The names of the beans that Spring has created. */
	private final Set<String> created = ConcurrentHashMap.newKeySet();

	private volatile @Nullable ConfigurableListableBeanFactory beanFactory;

	private volatile List<AdvicePostProcessor> readers = List.of();

	private volatile boolean adviceReady;

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
		ConfigurableListableBeanFactory factory = (ConfigurableListableBeanFactory) registry;
		this.beanFactory = factory;
		if (isAheadOfTime()) {
			return;
		}
		for (String name : factory.getBeanDefinitionNames()) {
			Object bean = singleton(name);
			if (bean != null) {
				created(bean, name);
			}
		}
		// No bean, since Spring would add a bean once more, and warn of all beans before.
		factory.addBeanPostProcessor(new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				created(bean, beanName);
				return bean;
			}

		});
	}

	/** Spring creates no beans then, and the properties at the start are unknown. */
	private static boolean isAheadOfTime() {
		return Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING);
	}

	public ConfigurableListableBeanFactory beanFactory() {
		ConfigurableListableBeanFactory beanFactory = this.beanFactory;
		Assert.state(beanFactory != null, "No bean factory yet");
		return beanFactory;
	}

	private @Nullable Object singleton(String beanName) {
		return beanFactory().containsSingleton(beanName) ? beanFactory().getSingleton(beanName) : null;
	}

	/** Reads the types of all definitions, once these are complete. */
	private void readDefinitions(ConfigurableListableBeanFactory factory) {
		if (isAheadOfTime()) {
			return;
		}
		this.readers = Arrays.stream(factory.getBeanNamesForType(AdvicePostProcessor.class, true, false))
			.map((name) -> factory.getBean(name, AdvicePostProcessor.class))
			.toList();
		instances().forEach((name) -> read(type(name, false), name));
	}

	/** Without scoped proxies, whose targets have definitions of their own. */
	private List<String> instances() {
		return Arrays.stream(beanFactory().getBeanDefinitionNames())
			.filter((name) -> !beanFactory().getBeanDefinition(name).isAbstract()
					&& !beanFactory().containsBeanDefinition(ScopedProxyUtils.getTargetBeanName(name)))
			.toList();
	}

	/** The name by which users know a bean, which is that of its scoped proxy. */
	public static String publicName(String beanName) {
		return ScopedProxyUtils.isScopedTarget(beanName) ? ScopedProxyUtils.getOriginalBeanName(beanName) : beanName;
	}

	private @Nullable Class<?> type(String name, boolean ofProduct) {
		try {
			return beanFactory().getType(name, ofProduct);
		}
		catch (RuntimeException | LinkageError ex) {
			// If the bean is needed, creating it reports this error.
			logger.debug("Cannot determine the type of bean '" + name + "'", ex);
			return null;
		}
	}

	private void read(@Nullable Class<?> type, String beanName) {
		if (type != null) {
			this.readers.forEach((reader) -> reader.read(type, beanName));
		}
	}

	private void created(Object bean, String beanName) {
		this.adviceReady = this.adviceReady || (beanFactory() instanceof AbstractBeanFactory factory
				&& factory.getBeanPostProcessors().stream().anyMatch(AdvicePostProcessor.class::isInstance));
		Class<?> type = AopUtils.getTargetClass(bean);
		if (!this.adviceReady) {
			checkHasNoAnnotation(bean, type, beanName);
		}
		this.created.add(beanName);
		if (!(bean instanceof FactoryBean<?>) && !(bean instanceof AopInfrastructureBean)) {
			read(type, beanName);
		}
	}

	private void checkHasNoAnnotation(Object bean, Class<?> type, String beanName) {
		boolean isPostProcessor = bean instanceof BeanPostProcessor || bean instanceof BeanFactoryPostProcessor;
		this.annotated.of(type)
			.forEach((annotation, methods) -> methods.keySet()
				.forEach((method) -> Refusal.when(true, method,
						"@%s would have no effect, since the bean \"%s\" is created before the advice: %s needs it too early"
							.formatted(annotation.getSimpleName(), beanName,
									isPostProcessor ? "Spring" : needing(beanName)),
						isPostProcessor ? "move the method to a bean that is no post-processor"
								: "get it there by an ObjectProvider or with @Lazy, and use it only after the start;"
										+ " make a @Bean method that declares a post-processor static")));
	}

	/** The beans that are being created. */
	private String needing(String beanName) {
		String creating = Arrays.stream(beanFactory().getBeanDefinitionNames())
			.filter((name) -> !name.equals(beanName) && beanFactory().isCurrentlyInCreation(name))
			.collect(Collectors.joining("\", \""));
		return creating.isEmpty() ? "other code" : "\"" + creating + "\"";
	}

	@Override
	public void afterSingletonsInstantiated() {
		for (String name : instances()) {
			Object existing = singleton(name);
			if (existing == null || existing instanceof FactoryBean<?>) {
				read(type(name, existing != null), name);
			}
		}
		this.readers.forEach(AdvicePostProcessor::resolveWithBeans);
	}

	/** Whether somebody registered an object in place of a bean, as tests do. */
	public boolean isReplaced(String beanName) {
		// Spring tells no post-processor of a synthetic bean.
		return beanFactory().containsBeanDefinition(beanName) && beanFactory().containsSingleton(beanName)
				&& !this.created.contains(beanName)
				&& !(beanFactory().getMergedBeanDefinition(beanName) instanceof RootBeanDefinition definition
						&& definition.isSynthetic());
	}

	/** The beans that were replaced, so that nobody may know their annotations. */
	public List<String> replaced() {
		return Arrays.stream(beanFactory().getBeanDefinitionNames()).filter(this::isReplaced).toList();
	}

	/**
	 * The advice of all annotations. The beans find each other by their names, since a
	 * search by type could instantiate a {@code FactoryBean}.
	 */
	public static final class Setup implements BeanRegistrar {

		@Override
		public void register(BeanRegistry registry, Environment environment) {
			add(registry, "timingWheelAnnotatedBeans", AnnotatedBeans.class, (context) -> new AnnotatedBeans());
			// Comes after other post-processors, which may change definitions.
			add(registry, "timingWheelDefinitionReader", BeanFactoryPostProcessor.class,
					(context) -> beans(context)::readDefinitions);
			add(registry, "timingWheelTaskMethods", TaskMethodRegistry.class,
					(context) -> new TaskMethodRegistry(beans(context)));
			add(registry, "timingWheelOutermostAdvice", Outermost.class, (context) -> new Outermost());
			add(registry, "timingWheelCancelDelayedProcessor", CancelDelayedBeanPostProcessor.class,
					(context) -> new CancelDelayedBeanPostProcessor(beans(context),
							context.bean("timingWheelTaskMethods", TaskMethodRegistry.class)));
			add(registry, "timingWheelTimeoutMethods", TimeoutMethodRegistry.class,
					(context) -> new TimeoutMethodRegistry(beans(context),
							context.bean("timingWheelTimeoutOverrides", Overrides.class)));
		}

		private static <T> void add(BeanRegistry registry, String name, Class<T> type,
				Function<SupplierContext, T> supplier) {
			registry.registerBean(name, type, (bean) -> bean.infrastructure().supplier(supplier));
		}

		private static AnnotatedBeans beans(SupplierContext context) {
			return context.bean("timingWheelAnnotatedBeans", AnnotatedBeans.class);
		}

	}

}
