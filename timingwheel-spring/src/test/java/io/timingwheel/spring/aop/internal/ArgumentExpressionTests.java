package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;
import java.util.Map;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ArgumentExpressionTests {

	@Test
	void missingParameterNamesFailWithARemedy() {
		// The JDK is not compiled with -parameters.
		Method unnamed = ReflectionUtils.findMethod(CharSequence.class, "charAt", int.class);
		assertThatExceptionOfType(InvalidAnnotatedMethodException.class)
			.isThrownBy(() -> new ArgumentExpression("@Test(key)", "#index", unnamed, new DefaultListableBeanFactory()))
			.withMessageEndingWith("compile with -parameters, or use #p0, #p1 and so on");
	}

	@Test
	void theKeysOfAMapNeedNoQuotes() {
		Method method = ReflectionUtils.findMethod(CharSequence.class, "charAt", int.class);
		ArgumentExpression map = new ArgumentExpression("@Test(key)", "{index: #p0}", method,
				new DefaultListableBeanFactory());
		assertThat(map.evaluate(new Object[] { 1 })).isEqualTo(Map.of("index", 1));
	}

	@Test
	void noExpressionChangesAnArgument() {
		Method method = ReflectionUtils.findMethod(StringBuilder.class, "append", StringBuffer.class);
		StringBuffer argument = new StringBuffer("text");
		ArgumentExpression assignment = new ArgumentExpression("@Test(key)", "#p0.length = 1", method,
				new DefaultListableBeanFactory());
		assertThatException().isThrownBy(() -> assignment.evaluate(new Object[] { argument }));
		assertThat(argument).hasToString("text");
	}

}
