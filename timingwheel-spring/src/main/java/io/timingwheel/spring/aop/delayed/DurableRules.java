package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.task.DelayedTask;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.ResolvableType;

/**
 * What a durable {@code @Delayed} method must keep to, beyond what all have to.
 */
final class DurableRules {

	private final ConfigurableListableBeanFactory beanFactory;

	DurableRules(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Whether tasks can be stored; no store is instantiated for that.
	 */
	boolean isStoreConfigured() {
		return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, DelayedTaskStore.class, true,
				false).length > 0;
	}

	/**
	 * Checks a method.
	 * @throws InvalidAnnotatedMethodException if its calls cannot be stored
	 */
	void check(Method method, Class<?> beanClass, String name, List<String> aliases) {
		if (!isStoreConfigured()) {
			throw new InvalidAnnotatedMethodException(method,
					"@Delayed is durable, but there is no store to keep its tasks in",
					"set timingwheel.store.type to jdbc or redis, or remove durable = true");
		}
		checkReturnType(method, beanClass);
		checkName(method, "name", name);
		aliases.forEach((alias) -> checkName(method, "alias", alias));
	}

	private static void checkReturnType(Method method, Class<?> beanClass) {
		ResolvableType type = ResolvableType.forMethodReturnType(method, beanClass);
		if (method.getReturnType() != void.class && !(method.getReturnType() == DelayedTask.class
				&& type.as(DelayedTask.class).getGeneric(0).resolve() == Void.class)) {
			throw new InvalidAnnotatedMethodException(method,
					"@Delayed is durable and on a method that returns %s, while any node may run the body"
						.formatted(type),
					"return void or DelayedTask<Void>");
		}
	}

	private static void checkName(Method method, String what, String name) {
		int bytes = name.getBytes(StandardCharsets.UTF_8).length;
		if (bytes > DelayedTaskStore.MAX_NAME_BYTES || name.indexOf('\0') >= 0) {
			throw new InvalidAnnotatedMethodException(
					method, "the %s \"%s\" of the durable @Delayed has %d bytes of UTF-8, or holds the character NUL"
						.formatted(what, name, bytes),
					"use at most %d bytes".formatted(DelayedTaskStore.MAX_NAME_BYTES));
		}
	}

}
