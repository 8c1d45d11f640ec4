package io.timingwheel.spring.aop;

import java.lang.reflect.Method;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.ClassUtils;

/**
 * What an expression reaches by reflection, which a native image has to be told: the
 * public methods and the properties, with theirs, of the arguments, beans and types that
 * it names.
 */
final class ExpressionHints {

	private static final BindingReflectionHintsRegistrar PROPERTIES = new BindingReflectionHintsRegistrar();

	private final ReflectionHints hints;

	private final Method method;

	private final Map<String, Integer> positions;

	private final ConfigurableBeanFactory beanFactory;

	ExpressionHints(ReflectionHints hints, Method method, Map<String, Integer> positions,
			ConfigurableBeanFactory beanFactory) {
		this.hints = hints;
		this.method = method;
		this.positions = positions;
		this.beanFactory = beanFactory;
	}

	void register(SpelNode node) {
		if (node instanceof VariableReference) {
			Integer position = this.positions.get(node.toStringAST().substring(1));
			if (position != null) {
				register(this.method.getParameterTypes()[position]);
				PROPERTIES.registerReflectionHints(this.hints, this.method.getGenericParameterTypes()[position]);
			}
		}
		else if (node instanceof BeanReference) {
			String name = node.toStringAST().substring(1).replace("'", "");
			register(this.beanFactory.containsBean(name) ? this.beanFactory.getType(name) : null);
		}
		else if (node instanceof TypeReference) {
			String name = node.getChild(0).toStringAST();
			register(ClassUtils.isPresent(name, this.beanFactory.getBeanClassLoader())
					? ClassUtils.resolveClassName(name, this.beanFactory.getBeanClassLoader()) : null);
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			register(node.getChild(i));
		}
	}

	private void register(@Nullable Class<?> type) {
		if (type != null && !type.isPrimitive()) {
			this.hints.registerType(ClassUtils.getUserClass(type), MemberCategory.INVOKE_PUBLIC_METHODS,
					MemberCategory.ACCESS_PUBLIC_FIELDS);
		}
	}

}
