package io.timingwheel.spring.autoconfigure;

import java.lang.reflect.Method;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

class InvalidAnnotatedMethodFailureAnalyzerTests {

	private final Method method = ReflectionUtils.findMethod(CharSequence.class, "charAt", int.class);

	private final InvalidAnnotatedMethodException failure = new InvalidAnnotatedMethodException(this.method,
			"@Timeout is on a private method", "make it public");

	@Test
	void isRegistered() {
		// Some of Boot's analyzers need a bean factory.
		FailureHandler ignore = (type, name, failure) -> {
		};
		assertThat(SpringFactoriesLoader.forDefaultResourceLocation().load(FailureAnalyzer.class, ignore))
			.hasAtLeastOneElementOfType(InvalidAnnotatedMethodFailureAnalyzer.class);
	}

	@Test
	void namesMethodProblemAndRemedy() {
		FailureAnalysis analysis = new InvalidAnnotatedMethodFailureAnalyzer()
			.analyze(new BeanCreationException("wrapped", this.failure));
		assertThat(analysis).isNotNull();
		assertThat(analysis.getDescription()).contains("java.lang.CharSequence#charAt(int)")
			.endsWith("@Timeout is on a private method.");
		assertThat(analysis.getAction()).isEqualTo("Make it public.");
		assertThat(analysis.getCause()).isSameAs(this.failure);
	}

	@Test
	void theMessageNamesMethodProblemAndRemedy() {
		assertThat(this.failure)
			.hasMessage("java.lang.CharSequence#charAt(int): @Timeout is on a private method; make it public");
	}

}
