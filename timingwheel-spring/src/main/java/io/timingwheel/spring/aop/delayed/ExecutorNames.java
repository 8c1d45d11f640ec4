package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;

import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Checks that a named executor exists, without instantiating it.
 */
final class ExecutorNames {

	private final ConfigurableListableBeanFactory beanFactory;

	ExecutorNames(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	void check(Method method, String nameOrQualifier) {
		if (isExecutor(nameOrQualifier)) {
			return;
		}
		List<String> qualified = Arrays.stream(this.beanFactory.getBeanNamesForType(Executor.class, true, false))
			.filter((name) -> BeanFactoryAnnotationUtils.isQualifierMatch(nameOrQualifier::equals, name,
					this.beanFactory))
			.toList();
		if (qualified.isEmpty()) {
			throw new InvalidAnnotatedMethodException(method,
					"@Delayed names the executor \"%s\", but no Executor bean has this name or qualifier"
						.formatted(nameOrQualifier),
					"define the bean, or name one of "
							+ List.of(this.beanFactory.getBeanNamesForType(Executor.class, true, false)));
		}
		if (qualified.size() > 1) {
			throw new InvalidAnnotatedMethodException(method,
					"@Delayed names the executor \"%s\", but several beans have this qualifier: %s"
						.formatted(nameOrQualifier, qualified),
					"use the name of one of them");
		}
	}

	private boolean isExecutor(String name) {
		if (!this.beanFactory.containsBean(name)) {
			return false;
		}
		Class<?> type = this.beanFactory.getType(name, false);
		return type == null || Executor.class.isAssignableFrom(type);
	}

}
