package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.TreeMap;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * A SpEL expression on the arguments of a method, which have their names in the class, in
 * a superclass or in an interface, or <code>#p0</code> and <code>#a0</code>. Parsed and
 * checked once. Thread-safe.
 */
final class ArgumentExpression {

	private static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

	private final String subject;

	private final Method method;

	private final Map<String, Integer> positions = new TreeMap<>();

	private final SpelExpression expression;

	private final StandardEvaluationContext shared = new StandardEvaluationContext();

	/** The position of the argument if the whole expression is one argument, else -1. */
	private final int argument;

	/**
	 * @param attribute the attribute, for messages
	 * @throws InvalidAnnotatedMethodException if the expression can never be evaluated
	 */
	ArgumentExpression(String attribute, String text, Method method, ConfigurableBeanFactory beanFactory) {
		this.subject = "the expression \"%s\" of %s".formatted(text, attribute);
		this.method = method;
		addNames();
		String names = String.join(", #", this.positions.keySet());
		for (int i = 0; i < method.getParameterCount(); i++) {
			this.positions.put("p" + i, i);
			this.positions.put("a" + i, i);
		}
		this.expression = parse(text);
		SpelNode tree = this.expression.getAST();
		check(tree, names, false);
		this.argument = (tree instanceof VariableReference) ? this.positions.get(variable(tree)) : -1;
		this.shared.setBeanResolver(new BeanFactoryResolver(beanFactory));
		this.shared.setTypeLocator(new StandardTypeLocator(beanFactory.getBeanClassLoader()));
	}

	private SpelExpression parse(String text) {
		try {
			return new SpelExpressionParser().parseRaw(text);
		}
		catch (ParseException | IllegalStateException | IllegalArgumentException ex) {
			throw new InvalidAnnotatedMethodException(this.method,
					"%s cannot be parsed (%s)".formatted(this.subject, ex.getMessage()),
					"correct the SpEL expression on the arguments, such as #id, without braces", ex);
		}
	}

	/** The names in the method precede those in the methods that it overrides. */
	private void addNames() {
		Class<?> type = this.method.getDeclaringClass();
		for (Method declared : AnnotatedMethods.declared(type)) {
			@Nullable String @Nullable [] names = (declared.getName().equals(this.method.getName())
					&& AnnotatedMethods.mostSpecific(declared, type).equals(this.method))
							? PARAMETER_NAMES.getParameterNames(declared) : null;
			for (int i = 0; names != null && i < names.length; i++) {
				if (names[i] != null) {
					this.positions.putIfAbsent(names[i], i);
				}
			}
		}
	}

	/**
	 * Finds names that no parameter has, and a part at the beginning that has no object,
	 * since there is no root object.
	 * @param names the names in the code, without those by position
	 * @param hasObject whether the node reads from a node before it
	 */
	private void check(SpelNode node, String names, boolean hasObject) {
		if (node instanceof VariableReference) {
			String name = variable(node);
			Refusal.when(!this.positions.containsKey(name) && !(hasObject && name.equals("this")), this.method,
					"%s names #%s, which is no parameter of the method".formatted(this.subject, name),
					names.isEmpty() ? "compile with -parameters, or use #p0, #p1 and so on"
							: "use the name of a parameter: #" + names);
		}
		String start = node.toStringAST();
		Refusal.when(
				!hasObject && (node instanceof PropertyOrFieldReference || node instanceof MethodReference
						|| node instanceof Indexer),
				this.method, "%s begins with %s, which is no argument without a #".formatted(this.subject, start),
				this.positions.containsKey(start) ? "did you mean #%s?".formatted(start)
						: "begin with an argument or a bean, such as #p0 or @bean");
		for (int i = 0; i < node.getChildCount(); i++) {
			SpelNode child = node.getChild(i);
			// A map may have keys without quotes.
			boolean isText = node instanceof InlineMap && i % 2 == 0 && child instanceof PropertyOrFieldReference;
			check(child, names, hasObject || isText || (i > 0 && node instanceof CompoundExpression));
		}
	}

	private static String variable(SpelNode node) {
		return node.toStringAST().substring(1);
	}

	@Nullable Object evaluate(@Nullable Object[] arguments) {
		if (this.argument >= 0) {
			return arguments[this.argument];
		}
		try {
			return this.expression.getValue(context(arguments));
		}
		catch (EvaluationException ex) {
			throw failure("cannot be evaluated", ex);
		}
	}

	/**
	 * The key of a call: a number, or a text.
	 * @throws IllegalArgumentException if the expression gives {@code null} or a key
	 * without a text of its own
	 */
	Object key(@Nullable Object[] arguments) {
		Object key = evaluate(arguments);
		try {
			if (key == null) {
				throw new IllegalArgumentException("it must not be null");
			}
			return ClassUtils.isPrimitiveWrapper(key.getClass()) ? key : TaskId.textOf(key);
		}
		catch (IllegalArgumentException ex) {
			throw failure("gives no key", ex);
		}
	}

	/**
	 * An exception for a call whose arguments give no useful value.
	 * @param problem what is wrong, as a clause that begins with a verb
	 */
	IllegalArgumentException failure(String problem, Exception cause) {
		return new IllegalArgumentException("%s on %s %s: %s".formatted(StringUtils.capitalize(this.subject),
				InvalidAnnotatedMethodException.describe(this.method), problem, cause.getMessage()), cause);
	}

	/** Calls share all but the arguments, so that SpEL can reuse the accessors. */
	private EvaluationContext context(@Nullable Object[] arguments) {
		StandardEvaluationContext context = new StandardEvaluationContext() {

			@Override
			public @Nullable Object lookupVariable(String name) {
				Integer position = ArgumentExpression.this.positions.get(name);
				return (position != null) ? arguments[position] : null;
			}

			@Override
			public boolean isAssignmentEnabled() {
				return false;
			}

		};
		this.shared.applyDelegatesTo(context);
		return context;
	}

	/** Whether the whole expression is one argument, which needs no reflection. */
	boolean isArgument() {
		return this.argument >= 0;
	}

	SpelNode syntaxTree() {
		return this.expression.getAST();
	}

}
