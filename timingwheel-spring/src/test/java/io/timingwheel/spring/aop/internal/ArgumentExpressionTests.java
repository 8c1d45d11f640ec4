package io.timingwheel.spring.aop.internal;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ArgumentExpressionTests {

	private final DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();

	private final Method method = ReflectionUtils.findMethod(Sample.class, "call", Order.class, List.class);

	@Test
	void evaluatesExpressions() {
		assertThat(evaluate("#order.ttl.plusSeconds(#lines[0])", new Order("42", Duration.ofSeconds(1)), List.of(2)))
			.isEqualTo(Duration.ofSeconds(3));
		assertThat(evaluate("#lines.?[#this > 1]", null, List.of(1, 2))).isEqualTo(List.of(2));
		assertThat(evaluate("T(java.time.Duration).ofMillis(5)", null, null)).isEqualTo(Duration.ofMillis(5));
	}

	@Test
	void missingParameterNamesFailWithARemedy() {
		// The JDK is not compiled with -parameters.
		Method unnamed = ReflectionUtils.findMethod(CharSequence.class, "charAt", int.class);
		assertThatExceptionOfType(InvalidAnnotatedMethodException.class)
			.isThrownBy(() -> new ArgumentExpression("@Test(key)", "#index", unnamed, this.beanFactory))
			.withMessageEndingWith("compile with -parameters, or use #p0, #p1 and so on");
	}

	@Test
	void failedEvaluationIsAnIllegalArgument() {
		assertThatIllegalArgumentException().isThrownBy(() -> evaluate("#order.id", null, null))
			.withMessageStartingWith("The expression \"#order.id\" of @Test(key) on ")
			.withMessageContaining("Sample#call(Order, List) cannot be evaluated: ");
	}

	private Object evaluate(String text, Object... arguments) {
		return parse(text).evaluate(arguments);
	}

	private ArgumentExpression parse(String text) {
		return new ArgumentExpression("@Test(key)", text, this.method, this.beanFactory);
	}

	static class Sample {

		public void call(Order order, List<Integer> lines) {
		}

	}

	record Order(String id, Duration ttl) {

	}

}
