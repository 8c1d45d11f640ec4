package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.AnnotatedMethods;
import io.timingwheel.spring.aop.ArgumentExpression;
import io.timingwheel.spring.aop.AttributeResolver;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.ProxyRules;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.StringUtils;

/**
 * Reads and checks one {@link Delayed} annotation.
 */
final class DelayedMethodReader {

	private final ConfigurableListableBeanFactory beanFactory;

	private final ProxyRules proxyRules;

	private final AttributeResolver attributes;

	private final DelayedMethodRules rules;

	DelayedMethodReader(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.proxyRules = new ProxyRules(beanFactory);
		this.attributes = new AttributeResolver(beanFactory);
		this.rules = new DelayedMethodRules(beanFactory);
	}

	/**
	 * Reads an annotation.
	 * @param method the most specific method
	 * @param annotation its annotation
	 * @param beanClass the class of the bean
	 * @param beanName the name of the bean, as the bean factory knows it
	 * @throws InvalidAnnotatedMethodException if the annotation cannot take effect
	 */
	DelayedMethod read(Method method, Delayed annotation, Class<?> beanClass, String beanName) {
		this.proxyRules.check("@Delayed", method, beanClass, beanName);
		this.rules.checkReturnType(method);
		this.rules.checkNotAsync(method, beanClass);
		String publicName = publicName(beanName);
		String name = readName(method, annotation, publicName);
		List<String> aliases = readAliases(method, annotation);
		if (annotation.durable()) {
			this.rules.checkDurable(method, beanClass, name, aliases);
		}
		if (annotation.transactional()) {
			this.rules.checkTransactional(method, beanClass, annotation.durable());
		}
		return new DelayedMethod(publicName, method, name, aliases, annotation.durable(), annotation.transactional(),
				AnnotatedMethods.argumentTypes(method, beanClass), readDelay(method, annotation),
				readKey(method, annotation), annotation.ifPending(), readExecutor(method, annotation),
				readExpireAfter(method, annotation), annotation.afterCommit(), method.getReturnType() != void.class,
				isShared(beanName));
	}

	/**
	 * The name by which users know a bean. For the target of a scoped proxy, this is the
	 * name of the proxy.
	 */
	private static String publicName(String beanName) {
		return ScopedProxyUtils.isScopedTarget(beanName) ? ScopedProxyUtils.getOriginalBeanName(beanName) : beanName;
	}

	/**
	 * Whether all calls go to the same object. Reads this from the bean definition, since
	 * a question to the bean factory could instantiate a factory bean.
	 */
	private boolean isShared(String beanName) {
		return this.beanFactory.containsBeanDefinition(beanName)
				&& this.beanFactory.getMergedBeanDefinition(beanName).isSingleton();
	}

	private String readName(Method method, Delayed annotation, String publicName) {
		String name = this.attributes.resolve(method, "the name of @Delayed", annotation.name());
		return StringUtils.hasText(name) ? name : publicName + "." + method.getName();
	}

	private List<String> readAliases(Method method, Delayed annotation) {
		List<String> aliases = Arrays.stream(annotation.aliases())
			.map((alias) -> this.attributes.resolve(method, "an alias of @Delayed", alias))
			.filter(StringUtils::hasText)
			.toList();
		if (!aliases.isEmpty() && !annotation.durable()) {
			throw new InvalidAnnotatedMethodException(method, "@Delayed has aliases, but is not durable",
					"set durable = true, or remove the aliases");
		}
		return aliases;
	}

	private DelaySource readDelay(Method method, Delayed annotation) {
		boolean fixed = StringUtils.hasText(annotation.delay());
		boolean computed = StringUtils.hasText(annotation.delayExpression());
		if (fixed == computed) {
			throw new InvalidAnnotatedMethodException(method,
					fixed ? "@Delayed has both a delay and a delayExpression" : "@Delayed has no delay",
					fixed ? "remove one of them" : "set a delay such as 30s, or a delayExpression");
		}
		return fixed ? new DelaySource.Fixed(method, annotation.delay(), this.attributes)
				: new DelaySource.Computed(method, ArgumentExpression.parse("@Delayed(delayExpression)",
						annotation.delayExpression(), method, this.beanFactory));
	}

	private @Nullable KeySource readKey(Method method, Delayed annotation) {
		return StringUtils.hasText(annotation.key())
				? new KeySource("@Delayed(key)", annotation.key(), method, this.beanFactory) : null;
	}

	private String readExecutor(Method method, Delayed annotation) {
		String executor = this.attributes.resolve(method, "the executor of @Delayed", annotation.executor());
		if (StringUtils.hasText(executor)) {
			this.rules.checkExecutor(method, executor);
		}
		return executor;
	}

	private @Nullable Duration readExpireAfter(Method method, Delayed annotation) {
		if (!StringUtils.hasText(annotation.expireAfter())) {
			return null;
		}
		try {
			Duration expireAfter = this.attributes.resolveDuration(annotation.expireAfter());
			if (!expireAfter.isNegative()) {
				return expireAfter;
			}
		}
		catch (IllegalArgumentException ex) {
			throw invalidExpireAfter(method, String.valueOf(ex.getMessage()), ex);
		}
		throw invalidExpireAfter(method, "\"" + annotation.expireAfter() + "\" is negative", null);
	}

	private static InvalidAnnotatedMethodException invalidExpireAfter(Method method, String reason,
			@Nullable Exception cause) {
		return new InvalidAnnotatedMethodException(method, "the expireAfter of @Delayed is unusable (" + reason + ")",
				"set a duration such as 5m, or remove it", cause);
	}

}
