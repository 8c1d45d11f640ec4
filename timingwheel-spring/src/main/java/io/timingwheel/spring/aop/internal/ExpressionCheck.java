package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.timingwheel.spring.task.memory.RelaxedNames;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpAnd;
import org.springframework.expression.spel.ast.OpDec;
import org.springframework.expression.spel.ast.OpEQ;
import org.springframework.expression.spel.ast.OpGE;
import org.springframework.expression.spel.ast.OpGT;
import org.springframework.expression.spel.ast.OpInc;
import org.springframework.expression.spel.ast.OpLE;
import org.springframework.expression.spel.ast.OpLT;
import org.springframework.expression.spel.ast.OpNE;
import org.springframework.expression.spel.ast.OpOr;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.OperatorInstanceof;
import org.springframework.expression.spel.ast.OperatorMatches;
import org.springframework.expression.spel.ast.OperatorNot;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.TypeCode;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.ClassUtils;

/**
 * Finds the parts of an expression that fail at each evaluation: names that no parameter
 * has, names without a {@code #} (there is no root object), members that a final type
 * does not have, types that do not exist, assignments. Also finds the type of the result,
 * as far as the code shows it.
 */
final class ExpressionCheck {

	private static final List<Class<?>> BOOLEAN = List.of(OpAnd.class, OpOr.class, OpEQ.class, OpNE.class, OpGE.class,
			OpGT.class, OpLE.class, OpLT.class, OperatorNot.class, OperatorInstanceof.class, OperatorMatches.class);

	private static final Properties PROPERTIES = new Properties();

	private final Map<String, Integer> positions;

	private final Collection<String> names;

	private final Class<?>[] parameterTypes;

	private final StandardTypeLocator types;

	ExpressionCheck(Method method, Map<String, Integer> positions, Collection<String> names,
			@Nullable ClassLoader classLoader) {
		this.positions = positions;
		this.names = names;
		this.parameterTypes = method.getParameterTypes();
		this.types = new StandardTypeLocator(classLoader);
	}

	/**
	 * Checks a node and those below it.
	 * @return the type of its value, {@code Void} for {@code null}; {@code null} if it is
	 * unknown
	 */
	@Nullable Class<?> check(SpelNode node, boolean inElement) {
		if (node instanceof CompoundExpression) {
			Class<?> type = first(node.getChild(0), inElement);
			for (int i = 1; i < node.getChildCount(); i++) {
				SpelNode child = node.getChild(i);
				type = (i == 1 && node.getChild(0) instanceof TypeReference reference) ? staticMember(reference, child)
						: member(type, child);
				checkChildren(child, inElement);
			}
			return type;
		}
		return first(node, inElement);
	}

	private @Nullable Class<?> first(SpelNode node, boolean inElement) {
		if (!inElement) {
			if (node instanceof PropertyOrFieldReference property) {
				String name = property.getName();
				throw new Failure("names %s, which is no argument without a #".formatted(name), suggestion(name));
			}
			if (node instanceof MethodReference method) {
				throw new Failure("calls %s() on no object".formatted(method.getName()),
						"call it on an argument or a bean, such as #p0.%1$s() or @bean.%1$s()"
							.formatted(method.getName()));
			}
			if (node instanceof Indexer || node instanceof Projection || node instanceof Selection) {
				throw new Failure("begins with %s, which needs an object before it".formatted(node.toStringAST()),
						"put an argument before it, such as #p0");
			}
		}
		if (node instanceof Assign || node instanceof OpInc || node instanceof OpDec) {
			throw new Failure("assigns a value", "remove the assignment");
		}
		Class<?> type = null;
		if (node instanceof VariableReference) {
			type = variable(node.toStringAST().substring(1), inElement);
		}
		else if (node instanceof FunctionReference) {
			String text = node.toStringAST();
			variable(text.substring(1, text.indexOf('(')), inElement);
		}
		else if (node instanceof TypeReference) {
			resolve(node.getChild(0).toStringAST());
			return Class.class;
		}
		else if (node instanceof ConstructorReference && !node.toStringAST().contains("[")) {
			type = resolve(node.getChild(0).toStringAST());
		}
		else if (node instanceof Literal literal) {
			Object value = literal.getLiteralValue().getValue();
			return (value != null) ? value.getClass() : Void.class;
		}
		Class<?> operator = checkChildren(node, inElement);
		if (node instanceof OpPlus && operator == String.class) {
			return String.class;
		}
		return BOOLEAN.contains(node.getClass()) ? Boolean.class : type;
	}

	/**
	 * Checks the nodes below a node.
	 * @return {@code String} if one of them is one, else {@code null}
	 */
	private @Nullable Class<?> checkChildren(SpelNode node, boolean inElement) {
		Class<?> found = null;
		boolean elements = inElement || node instanceof Projection || node instanceof Selection;
		for (int i = 0; i < node.getChildCount(); i++) {
			SpelNode child = node.getChild(i);
			boolean isText = child instanceof PropertyOrFieldReference
					&& (node instanceof Indexer || (node instanceof InlineMap && i % 2 == 0));
			if (!isText && check(child, elements) == String.class) {
				found = String.class;
			}
		}
		return found;
	}

	private @Nullable Class<?> variable(String name, boolean inElement) {
		Integer position = this.positions.get(name);
		if (position != null) {
			return ClassUtils.resolvePrimitiveIfNecessary(this.parameterTypes[position]);
		}
		if (name.equals("this") && inElement) {
			return null;
		}
		if (name.equals("this") || name.equals("root")) {
			throw new Failure("names #%s, but there is no root object".formatted(name),
					"use the name of a parameter, or #p0, #p1 and so on");
		}
		boolean named = this.parameterTypes.length == 0 || !this.names.isEmpty();
		throw new Failure("names #%s, which is no parameter of the method".formatted(name),
				named ? suggestion(name) : "compile with -parameters, or use #p0, #p1 and so on");
	}

	private String suggestion(String name) {
		if (this.positions.containsKey(name)) {
			return "did you mean #%s?".formatted(name);
		}
		List<String> nearest = RelaxedNames.nearest(this.names, name, 1);
		return nearest.isEmpty() ? "use the name of a parameter"
				: "use the name of a parameter: did you mean #%s?".formatted(nearest.get(0));
	}

	private Class<?> resolve(String name) {
		if (TypeCode.forName(name) != TypeCode.OBJECT) {
			return Object.class;
		}
		try {
			return this.types.findType(name);
		}
		catch (EvaluationException ex) {
			throw new Failure("names the type %s, which does not exist".formatted(name),
					"use the full name of a class, such as T(java.time.Duration)");
		}
	}

	private @Nullable Class<?> staticMember(TypeReference reference, SpelNode node) {
		Class<?> type = resolve(reference.getChild(0).toStringAST());
		if (node instanceof MethodReference method && type != Object.class && !hasMethod(type, method.getName())
				&& !hasMethod(Class.class, method.getName())) {
			throw unknown(type, method.getName() + "()");
		}
		return null;
	}

	/**
	 * Checks a member of a value. A subclass of a type that is not final may have members
	 * that the type does not have.
	 */
	private static @Nullable Class<?> member(@Nullable Class<?> type, SpelNode node) {
		if (type == null || type.isArray() || type == Optional.class || !Modifier.isFinal(type.getModifiers())) {
			return null;
		}
		if (node instanceof PropertyOrFieldReference property && type != Class.class) {
			Class<?> found = PROPERTIES.typeOf(property.getName(), type);
			if (found == null) {
				throw unknown(type, property.getName());
			}
			return ClassUtils.resolvePrimitiveIfNecessary(found);
		}
		if (node instanceof MethodReference method && type != Class.class) {
			List<? extends Class<?>> found = Arrays.stream(type.getMethods())
				.filter((candidate) -> candidate.getName().equals(method.getName()))
				.map(Method::getReturnType)
				.distinct()
				.toList();
			if (found.isEmpty()) {
				throw unknown(type, method.getName() + "()");
			}
			return (found.size() == 1) ? ClassUtils.resolvePrimitiveIfNecessary(found.get(0)) : null;
		}
		return null;
	}

	private static boolean hasMethod(Class<?> type, String name) {
		return Arrays.stream(type.getMethods()).anyMatch((method) -> method.getName().equals(name));
	}

	private static Failure unknown(Class<?> type, String member) {
		return new Failure("names %s, which %s does not have".formatted(member, type.getSimpleName()),
				"use a public property or method of " + type.getName());
	}

	private static final class Properties extends ReflectivePropertyAccessor {

		@Nullable Class<?> typeOf(String name, Class<?> type) {
			Method getter = findGetterForProperty(name, type, false);
			if (getter != null) {
				return getter.getReturnType();
			}
			Field field = findField(name, type, false);
			return (field != null) ? field.getType() : null;
		}

	}

	static final class Failure extends RuntimeException {

		private final String problem;

		private final String remedy;

		Failure(String problem, String remedy) {
			super(problem, null, false, false);
			this.problem = problem;
			this.remedy = remedy;
		}

		String problem() {
			return this.problem;
		}

		String remedy() {
			return this.remedy;
		}

	}

}
