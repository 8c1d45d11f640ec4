package io.timingwheel.spring.aop.internal;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.ClassUtils;

/**
 * A SpEL expression on the arguments of a method: <code>#name</code>, <code>#p0</code>
 * and <code>#a0</code> are arguments, <code>@name</code> is a bean. The name of a
 * parameter may be the one in the class, in a superclass or in an interface. The
 * expression is parsed and checked once. Thread-safe.
 */
public final class ArgumentExpression {

	private static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

	private final SpelExpression expression;

	private final Method method;

	private final Map<String, Integer> positions;

	private final StandardEvaluationContext shared = new StandardEvaluationContext();

	/** The position of the argument if the whole expression is one argument, else -1. */
	private final int argument;

	private ArgumentExpression(SpelExpression expression, Method method, Map<String, Integer> positions,
			ConfigurableBeanFactory beanFactory) {
		this.expression = expression;
		this.method = method;
		this.positions = positions;
		this.shared.setBeanResolver(new BeanFactoryResolver(beanFactory));
		this.shared.setTypeLocator(new StandardTypeLocator(beanFactory.getBeanClassLoader()));
		this.argument = (expression.getAST() instanceof VariableReference variable) ? position(variable) : -1;
	}

	public static ArgumentExpression parse(String attribute, String text, Method method,
			ConfigurableBeanFactory beanFactory) {
		String subject = "the expression \"%s\" of %s".formatted(text, attribute);
		SpelExpression expression;
		try {
			expression = new SpelExpressionParser().parseRaw(text);
		}
		catch (ParseException | IllegalStateException | IllegalArgumentException ex) {
			throw new InvalidAnnotatedMethodException(method,
					"%s cannot be parsed (%s)".formatted(subject, ex.getMessage()),
					"correct the SpEL expression on the arguments, such as #id, without braces", ex);
		}
		Map<String, Integer> positions = names(method);
		List<String> names = List.copyOf(positions.keySet());
		for (int i = 0; i < method.getParameterCount(); i++) {
			positions.put("p" + i, i);
			positions.put("a" + i, i);
		}
		new ExpressionCheck(method, subject, positions, names, beanFactory.getBeanClassLoader())
			.check(expression.getAST());
		return new ArgumentExpression(expression, method, positions, beanFactory);
	}

	public @Nullable Object evaluate(@Nullable Object[] arguments) {
		if (this.argument >= 0) {
			return arguments[this.argument];
		}
		try {
			return this.expression.getValue(context(arguments));
		}
		catch (EvaluationException ex) {
			throw new IllegalArgumentException("The expression \"%s\" of %s cannot be evaluated: %s".formatted(
					this.expression.getExpressionString(), InvalidAnnotatedMethodException.describe(this.method),
					ex.getMessage()), ex);
		}
	}

	/**
	 * All calls share everything but the arguments, so that SpEL can reuse the accessors
	 * that it has found.
	 */
	private EvaluationContext context(@Nullable Object[] arguments) {
		StandardEvaluationContext context = new StandardEvaluationContext() {

			@Override
			public @Nullable Object lookupVariable(String name) {
				Integer position = ArgumentExpression.this.positions.get(name);
				return (position != null) ? arguments[position] : null;
			}

		};
		this.shared.applyDelegatesTo(context);
		return context;
	}

	/**
	 * Whether the whole expression is one argument, and is evaluated without reflection.
	 */
	boolean isArgument() {
		return this.argument >= 0;
	}

	SpelNode syntaxTree() {
		return this.expression.getAST();
	}

	int position(VariableReference variable) {
		return this.positions.getOrDefault(variable.toStringAST().substring(1), -1);
	}

	@Override
	public String toString() {
		return this.expression.getExpressionString();
	}

	/**
	 * The names of the parameters, also those in the methods that the method overrides.
	 * The names in the method itself come first.
	 */
	private static Map<String, Integer> names(Method method) {
		Map<String, Integer> positions = new TreeMap<>();
		addNames(positions, method);
		Class<?> implementor = method.getDeclaringClass();
		Set<Class<?>> types = ClassUtils.getAllInterfacesForClassAsSet(implementor);
		for (Class<?> type = implementor.getSuperclass(); type != null; type = type.getSuperclass()) {
			types.add(type);
		}
		for (Class<?> type : types) {
			for (Method declared : type.getDeclaredMethods()) {
				if (declared.getName().equals(method.getName())
						&& AopUtils.getMostSpecificMethod(declared, implementor).equals(method)) {
					addNames(positions, declared);
				}
			}
		}
		return positions;
	}

	private static void addNames(Map<String, Integer> positions, Method method) {
		@Nullable String @Nullable [] names = PARAMETER_NAMES.getParameterNames(method);
		for (int i = 0; names != null && i < names.length; i++) {
			if (names[i] != null) {
				positions.putIfAbsent(names[i], i);
			}
		}
	}

}
