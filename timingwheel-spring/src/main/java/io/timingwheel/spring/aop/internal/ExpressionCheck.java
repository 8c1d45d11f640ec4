package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpDec;
import org.springframework.expression.spel.ast.OpInc;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.TypeCode;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.support.StandardTypeLocator;

/**
 * Finds the parts of an expression that fail at each evaluation: names that no parameter
 * has, names without a {@code #} (there is no root object), types that do not exist,
 * assignments.
 */
final class ExpressionCheck {

	private final Method method;

	private final String subject;

	private final Map<String, Integer> positions;

	private final List<String> names;

	private final StandardTypeLocator types;

	/**
	 * Creates a check.
	 * @param subject the expression, for messages
	 * @param names the names of the parameters, without those by position
	 */
	ExpressionCheck(Method method, String subject, Map<String, Integer> positions, List<String> names,
			@Nullable ClassLoader classLoader) {
		this.method = method;
		this.subject = subject;
		this.positions = positions;
		this.names = names;
		this.types = new StandardTypeLocator(classLoader);
	}

	void check(SpelNode node) {
		check(node, false, false);
	}

	/**
	 * Checks a node and those below it.
	 * @param inElement whether an element of a collection takes the place of the root
	 * @param follows whether the node reads from the node before it
	 */
	private void check(SpelNode node, boolean inElement, boolean follows) {
		if (!inElement && !follows) {
			checkNeedsNoObject(node);
		}
		if (node instanceof Assign || node instanceof OpInc || node instanceof OpDec) {
			throw failure("assigns a value", "remove the assignment");
		}
		if (node instanceof VariableReference || node instanceof FunctionReference) {
			checkVariable(node.toStringAST().substring(1).replaceFirst("\\(.*", ""), inElement);
		}
		if (node instanceof TypeReference
				|| (node instanceof ConstructorReference && !node.toStringAST().contains("["))) {
			checkType(node.getChild(0).toStringAST());
		}
		boolean elements = inElement || node instanceof Projection || node instanceof Selection;
		for (int i = 0; i < node.getChildCount(); i++) {
			SpelNode child = node.getChild(i);
			boolean isText = child instanceof PropertyOrFieldReference
					&& (node instanceof Indexer || (node instanceof InlineMap && i % 2 == 0));
			if (!isText) {
				check(child, elements, i > 0 && node instanceof CompoundExpression);
			}
		}
	}

	private void checkNeedsNoObject(SpelNode node) {
		if (node instanceof PropertyOrFieldReference property) {
			throw failure("names %s, which is no argument without a #".formatted(property.getName()),
					suggestion(property.getName()));
		}
		if (node instanceof MethodReference || node instanceof Indexer || node instanceof Projection
				|| node instanceof Selection) {
			throw failure("begins with %s, which needs an object before it".formatted(node.toStringAST()),
					"put an argument or a bean before it, such as #p0 or @bean");
		}
	}

	private void checkVariable(String name, boolean inElement) {
		if (!this.positions.containsKey(name) && !(inElement && name.equals("this"))) {
			throw failure("names #%s, which is no parameter of the method".formatted(name),
					(!this.names.isEmpty() || this.positions.isEmpty()) ? suggestion(name)
							: "compile with -parameters, or use #p0, #p1 and so on");
		}
	}

	private String suggestion(String name) {
		if (this.positions.containsKey(name)) {
			return "did you mean #%s?".formatted(name);
		}
		List<String> nearest = RelaxedNames.nearest(this.names, name, 1);
		return nearest.isEmpty() ? "use the name of a parameter"
				: "use the name of a parameter: did you mean #%s?".formatted(nearest.get(0));
	}

	private void checkType(String name) {
		if (TypeCode.forName(name) != TypeCode.OBJECT) {
			return;
		}
		try {
			this.types.findType(name);
		}
		catch (EvaluationException ex) {
			throw failure("names the type %s, which does not exist".formatted(name),
					"use the full name of a class, such as T(java.time.Duration)");
		}
	}

	private InvalidAnnotatedMethodException failure(String problem, String remedy) {
		return new InvalidAnnotatedMethodException(this.method, this.subject + " " + problem, remedy);
	}

}
