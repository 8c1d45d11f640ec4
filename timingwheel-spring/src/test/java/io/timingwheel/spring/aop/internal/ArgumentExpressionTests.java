package io.timingwheel.spring.aop.internal;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ArgumentExpressionTests {

	private final DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();

	private final Method method = ReflectionUtils.findMethod(Sample.class, "call", Order.class, List.class);

	@Test
	void findsAParameterByItsNameInTheInterface() {
		assertThat(evaluate("#purchase.id", new Order("42", Duration.ZERO), List.of())).isEqualTo("42");
	}

	@Test
	void evaluatesExpressions() {
		assertThat(evaluate("#order.ttl.plusSeconds(#lines[0])", new Order("42", Duration.ofSeconds(1)), List.of(2)))
			.isEqualTo(Duration.ofSeconds(3));
		assertThat(evaluate("#lines.?[#this > 1]", null, List.of(1, 2))).isEqualTo(List.of(2));
		assertThat(evaluate("T(java.time.Duration).ofMillis(5)", null, null)).isEqualTo(Duration.ofMillis(5));
	}

	@ParameterizedTest
	@ValueSource(strings = { "#oder", "#oder.id", "#order.id + #oder", "#lines.?[#oder == 1]", "{#oder}" })
	void unknownParameterFailsAndIsNamed(String text) {
		assertThatExceptionOfType(InvalidAnnotatedMethodException.class).isThrownBy(() -> parse(text))
			.satisfies((ex) -> {
				assertThat(ex.getProblem()).endsWith("names #oder, which is no parameter of the method");
				assertThat(ex.getRemedy()).isEqualTo("use the name of a parameter: did you mean #order?");
			});
	}

	@Test
	void missingParameterNamesFailWithARemedy() {
		// The JDK is not compiled with -parameters.
		Method unnamed = ReflectionUtils.findMethod(CharSequence.class, "charAt", int.class);
		assertThatExceptionOfType(InvalidAnnotatedMethodException.class)
			.isThrownBy(() -> ArgumentExpression.parse("@Test(key)", "#index", unnamed, this.beanFactory))
			.withMessageEndingWith("compile with -parameters, or use #p0, #p1 and so on");
	}

	@Test
	void failedEvaluationIsAnIllegalArgument() {
		assertThatIllegalArgumentException().isThrownBy(() -> evaluate("#order.id", null, null))
			.withMessageStartingWith("The expression \"#order.id\" of ")
			.withMessageContaining("Sample#call(Order, List) cannot be evaluated: ");
	}

	private Object evaluate(String text, Object... arguments) {
		return parse(text).evaluate(arguments);
	}

	private ArgumentExpression parse(String text) {
		return ArgumentExpression.parse("@Test(key)", text, this.method, this.beanFactory);
	}

	interface Samples<T> {

		void call(T purchase, List<Integer> items);

	}

	static class Sample implements Samples<Order> {

		@Override
		public void call(Order order, List<Integer> lines) {
		}

	}

	record Order(String id, Duration ttl) {

	}

}
