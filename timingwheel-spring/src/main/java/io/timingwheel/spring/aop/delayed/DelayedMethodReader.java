package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.lang.reflect.TypeVariable;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.AnnotatedMethodScanner;
import io.timingwheel.spring.aop.AnnotatedMethods;
import io.timingwheel.spring.aop.ArgumentExpression;
import io.timingwheel.spring.aop.AttributeResolver;
import io.timingwheel.spring.aop.FixedAttribute;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.PolicyAttribute;
import io.timingwheel.spring.aop.ProxyRules;
import io.timingwheel.spring.aop.delayed.DelayedMethod.TaskNames;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.ResolvableType;
import org.springframework.util.StringUtils;

/**
 * Reads and checks one {@link Delayed} annotation.
 */
final class DelayedMethodReader {

	private final ConfigurableListableBeanFactory beanFactory;

	private final ProxyRules proxyRules;

	private final AttributeResolver attributes;

	private final DelayedMethodRules rules;

	private final TaskAttributes common;

	DelayedMethodReader(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.proxyRules = new ProxyRules(beanFactory);
		this.attributes = new AttributeResolver(beanFactory);
		this.rules = new DelayedMethodRules(beanFactory, Delayed.class);
		this.common = new TaskAttributes(Delayed.class, this.attributes, this.rules);
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
		ResolvableType returnType = returnType(method, beanClass, beanName);
		this.rules.checkReturnType(method, returnType);
		this.rules.checkNotAsync(method, beanClass);
		String publicName = AnnotatedMethodScanner.publicName(beanName);
		if (annotation.durable()) {
			this.rules.checkDurable(method, returnType);
		}
		else if (annotation.afterCommit()) {
			this.rules.warnOfReactiveTransactions(method);
		}
		if (annotation.transactional()) {
			this.rules.checkTransactional(method, beanClass, annotation.durable());
		}
		TaskNames names = new TaskNames(this.common.name(method, annotation.name(), publicName),
				readAliases(method, annotation));
		return new DelayedMethod(publicName, method, names, annotation.durable(), annotation.transactional(),
				AnnotatedMethods.argumentTypes(method, beanClass), readDelay(method, annotation),
				readKey(method, annotation), annotation.ifPending(), readMaxWait(method, annotation),
				this.common.executor(method, annotation.executor()),
				this.common.duration(method, "expireAfter", annotation.expireAfter()), annotation.afterCommit(),
				method.getReturnType() != void.class, readPolicy(method, annotation), isShared(beanName));
	}

	/**
	 * The type that callers expect. Where the class of the bean leaves it open, such as
	 * that of a lambda expression, the definition of the bean may know it.
	 */
	private ResolvableType returnType(Method method, Class<?> beanClass, String beanName) {
		ResolvableType type = ResolvableType.forMethodReturnType(method, beanClass);
		if (!(type.getType() instanceof TypeVariable<?>) || !this.beanFactory.containsBeanDefinition(beanName)) {
			return type;
		}
		ResolvableType beanType = this.beanFactory.getMergedBeanDefinition(beanName).getResolvableType();
		return ResolvableType.forType(method.getGenericReturnType(), beanType.as(method.getDeclaringClass()));
	}

	/**
	 * Checks that the bean of a durable method exists without a caller.
	 */
	void checkScope(DelayedMethod method) {
		this.rules.checkScope(method.method(), method.beanName());
	}

	/**
	 * Whether all calls go to the same object. Reads this from the bean definition, since
	 * a question to the bean factory could instantiate a factory bean.
	 */
	private boolean isShared(String beanName) {
		return this.beanFactory.containsBeanDefinition(beanName)
				&& this.beanFactory.getMergedBeanDefinition(beanName).isSingleton();
	}

	private List<FixedAttribute<String>> readAliases(Method method, Delayed annotation) {
		return Arrays.stream(annotation.aliases())
			.map((alias) -> this.attributes.text(method, "an alias of @Delayed", alias, (text) -> {
				if (!annotation.durable() && StringUtils.hasText(text)) {
					throw new InvalidAnnotatedMethodException(method, "@Delayed has aliases, but is not durable",
							"set durable = true, or remove the aliases");
				}
				TaskAttributes.checkName(method, "an alias of @Delayed", text);
				return text;
			}))
			.toList();
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

	private PolicyAttribute readPolicy(Method method, Delayed annotation) {
		PolicyAttribute policy = this.common.policy(method, annotation.policy());
		if (annotation.policy().maxConcurrentPerKey() > 0 && !StringUtils.hasText(annotation.key())) {
			throw new InvalidAnnotatedMethodException(method,
					"the policy of @Delayed limits the runs of a key, but there is no key",
					"set the key to an expression on the arguments, or remove maxConcurrentPerKey");
		}
		return policy;
	}

	private @Nullable FixedAttribute<Duration> readMaxWait(Method method, Delayed annotation) {
		if (!StringUtils.hasText(annotation.maxWait())) {
			return null;
		}
		if (!StringUtils.hasText(annotation.key())) {
			throw new InvalidAnnotatedMethodException(method, "@Delayed has a maxWait, but no key",
					"set the key to an expression on the arguments, such as #id, or remove maxWait");
		}
		if (annotation.ifPending() != IfPending.REPLACE) {
			throw new InvalidAnnotatedMethodException(method,
					"@Delayed has a maxWait, but ifPending = %s, which never puts a task off"
						.formatted(annotation.ifPending()),
					"remove maxWait, or set ifPending = REPLACE");
		}
		return this.common.duration(method, "maxWait", annotation.maxWait());
	}

}
