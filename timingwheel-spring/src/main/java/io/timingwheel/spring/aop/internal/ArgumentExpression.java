package io.timingwheel.spring.aop.internal;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
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
import org.springframework.expression.spel.ast.Literal;
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

	private final @Nullable Class<?> resultType;

	private final StandardEvaluationContext shared = new StandardEvaluationContext();

	/** The position of the argument if the whole expression is one argument, else -1. */
	private final int argument;

	private ArgumentExpression(SpelExpression expression, Method method, Map<String, Integer> positions,
			@Nullable Class<?> resultType, ConfigurableBeanFactory beanFactory) {
		this.expression = expression;
		this.method = method;
		this.positions = positions;
		this.resultType = resultType;
		this.shared.setBeanResolver(new BeanFactoryResolver(beanFactory));
		this.shared.setTypeLocator(new StandardTypeLocator(beanFactory.getBeanClassLoader()));
		this.argument = (expression.getAST() instanceof VariableReference variable) ? position(variable) : -1;
	}

	/**
	 * Parses an expression and checks that nothing in it fails at each call.
	 */
	public static ArgumentExpression parse(String attribute, String text, Method method,
			ConfigurableBeanFactory beanFactory) {
		try {
			SpelExpression expression = new SpelExpressionParser().parseRaw(text);
			Map<String, Integer> names = names(method);
			Map<String, Integer> positions = positions(method, names);
			ExpressionCheck check = new ExpressionCheck(method, positions, names.keySet(),
					beanFactory.getBeanClassLoader());
			Class<?> resultType = check.check(expression.getAST(), false);
			return new ArgumentExpression(expression, method, positions, resultType, beanFactory);
		}
		catch (ExpressionCheck.Failure ex) {
			throw new InvalidAnnotatedMethodException(method,
					"the expression \"%s\" of %s %s".formatted(text, attribute, ex.problem()), ex.remedy());
		}
		catch (ParseException | IllegalStateException | IllegalArgumentException ex) {
			throw new InvalidAnnotatedMethodException(method,
					"the expression \"%s\" of %s cannot be parsed (%s)".formatted(text, attribute, ex.getMessage()),
					text.startsWith("#{") || text.startsWith("${")
							? "use an expression on the arguments, such as #id, without braces"
							: "correct the SpEL expression",
					ex);
		}
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
	 * The context of one evaluation. All calls share everything but the arguments, so
	 * that SpEL can reuse the accessors that it has found.
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
		return this.positions.getOrDefault(name(variable), -1);
	}

	@Override
	public String toString() {
		return this.expression.getExpressionString();
	}

	private static Map<String, Integer> positions(Method method, Map<String, Integer> names) {
		Map<String, Integer> positions = new HashMap<>(names);
		for (int i = 0; i < method.getParameterCount(); i++) {
			positions.put("p" + i, i);
			positions.put("a" + i, i);
		}
		return positions;
	}

	private static Map<String, Integer> names(Method method) {
		Map<String, Integer> positions = new TreeMap<>();
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
		// The names in the method itself precede those in the methods that it overrides.
		addNames(positions, method);
		return positions;
	}

	private static void addNames(Map<String, Integer> positions, Method method) {
		@Nullable String @Nullable [] names = PARAMETER_NAMES.getParameterNames(method);
		if (names != null) {
			for (int i = 0; i < names.length; i++) {
				if (names[i] != null) {
					positions.put(names[i], i);
				}
			}
		}
	}

	/**
	 * Checks the type of the values of an expression, as far as it is known before a
	 * call.
	 */
	public void requireResult(String attribute, String expected, Class<?>... types) {
		Class<?> found = this.resultType;
		if (found != null && Arrays.stream(types).noneMatch((type) -> isPossible(found, type))) {
			boolean none = found == Void.class || found == void.class;
			throw new InvalidAnnotatedMethodException(this.method, "the expression \"%s\" of %s gives %s"
				.formatted(this, attribute, none ? "null" : "a " + found.getSimpleName()), "let it give " + expected);
		}
	}

	/**
	 * Whether an object can be of two types. An object of an interface type, or a
	 * subclass of a class that is not final, may be of another interface, too.
	 */
	private static boolean isPossible(Class<?> found, Class<?> wanted) {
		if (found == Void.class || found == void.class) {
			return false;
		}
		return wanted.isAssignableFrom(found) || found.isAssignableFrom(wanted)
				|| (found.isInterface() && !Modifier.isFinal(wanted.getModifiers()))
				|| (wanted.isInterface() && !Modifier.isFinal(found.getModifiers()));
	}

	/**
	 * Returns the value of an expression that is the same for all calls.
	 */
	public Optional<Object> constant() {
		return (this.expression.getAST() instanceof Literal literal)
				? Optional.ofNullable(literal.getLiteralValue().getValue()) : Optional.empty();
	}

	private static String name(SpelNode variable) {
		return variable.toStringAST().substring(1);
	}

}
