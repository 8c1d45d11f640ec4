package io.timingwheel.spring.aop.internal;

import java.util.Arrays;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Passes the types of all beans to the readers of annotated methods, before any bean is
 * created. An invalid annotation therefore stops the application before its first bean,
 * and lazy beans stay lazy. An application that was processed ahead of time scans when it
 * starts.
 */
public final class AnnotatedMethodScanner implements BeanFactoryPostProcessor, SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(AnnotatedMethodScanner.class);

	private final CreatedBeans beans;

	private List<Reader> readers = List.of();

	public AnnotatedMethodScanner(CreatedBeans beans) {
		this.beans = beans;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		if (AnnotatedMethodAotProcessor.isActive()) {
			return;
		}
		this.readers = readers(beanFactory);
		this.beans.passTo(this.readers);
		for (String name : beanFactory.getBeanDefinitionNames()) {
			if (isInstance(beanFactory, name)) {
				Class<?> type = type(beanFactory, name);
				if (type != null) {
					this.readers.forEach((reader) -> reader.read(type, name));
				}
			}
		}
	}

	/**
	 * Finds the readers without instantiating any {@code FactoryBean}.
	 */
	private static List<Reader> readers(ConfigurableListableBeanFactory beanFactory) {
		return Arrays.stream(beanFactory.getBeanNamesForType(Reader.class, true, false))
			.map((name) -> beanFactory.getBean(name, Reader.class))
			.toList();
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.readers.forEach(Reader::resolveWithBeans);
		this.beans.createHidden();
	}

	/**
	 * Excludes scoped proxies, since their target has a definition of its own.
	 */
	private static boolean isInstance(ConfigurableListableBeanFactory beanFactory, String name) {
		return !beanFactory.getBeanDefinition(name).isAbstract()
				&& !beanFactory.containsBeanDefinition(ScopedProxyUtils.getTargetBeanName(name));
	}

	/**
	 * The name by which users know a bean. For the target of a scoped proxy, this is the
	 * name of the proxy.
	 */
	public static String publicName(String beanName) {
		return ScopedProxyUtils.isScopedTarget(beanName) ? ScopedProxyUtils.getOriginalBeanName(beanName) : beanName;
	}

	private static @Nullable Class<?> type(ConfigurableListableBeanFactory beanFactory, String name) {
		try {
			Class<?> type = beanFactory.getType(name, false);
			return (type != null) ? ClassUtils.getUserClass(type) : null;
		}
		catch (RuntimeException | LinkageError ex) {
			// If the bean is needed, creating it reports this error.
			logger.debug("Cannot determine the type of bean '" + name + "'", ex);
			return null;
		}
	}

	/**
	 * Reads and checks the methods with one or more annotations.
	 */
	public interface Reader {

		/**
		 * Reads and checks the annotated methods of a bean, by the type of its definition
		 * and then by its class.
		 */
		void read(Class<?> beanClass, String beanName);

		/**
		 * Resolves and checks what depends on other beans, when all singletons exist.
		 */
		void resolveWithBeans();

	}

}
