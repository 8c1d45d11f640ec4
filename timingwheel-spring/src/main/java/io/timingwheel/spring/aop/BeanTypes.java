package io.timingwheel.spring.aop;

import java.util.function.BiConsumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * The types of all beans, as far as they are known before any bean is made. Lazy beans
 * stay so.
 */
public final class BeanTypes {

	private static final Log logger = LogFactory.getLog(BeanTypes.class);

	private BeanTypes() {
	}

	/**
	 * Visits all bean definitions whose type is known. Of a scoped proxy only the target
	 * is visited, which has a definition of its own. None is visited during ahead-of-time
	 * processing, but all at the start of the processed application.
	 * @param beanFactory where the definitions are
	 * @param visitor takes the class, without generated subclasses, and the bean's name
	 */
	public static void forEach(ConfigurableListableBeanFactory beanFactory,
			BiConsumer<? super Class<?>, ? super String> visitor) {
		if (AotProcessing.isActive()) {
			return;
		}
		for (String name : beanFactory.getBeanDefinitionNames()) {
			if (!beanFactory.getBeanDefinition(name).isAbstract()
					&& !beanFactory.containsBeanDefinition(ScopedProxyUtils.getTargetBeanName(name))) {
				Class<?> type = type(beanFactory, name);
				if (type != null) {
					visitor.accept(type, name);
				}
			}
		}
	}

	private static @Nullable Class<?> type(ConfigurableListableBeanFactory beanFactory, String name) {
		try {
			Class<?> type = beanFactory.getType(name, false);
			return (type != null) ? ClassUtils.getUserClass(type) : null;
		}
		catch (RuntimeException | LinkageError ex) {
			// A class that cannot be loaded fails, if it is needed, where it is needed.
			logger.debug("Cannot tell the type of bean '" + name + "'", ex);
			return null;
		}
	}

}
