package io.timingwheel.spring.autoconfigure;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;
import org.springframework.util.StringUtils;

/** Comes before the analyzers of causes, which do not know the method. */
@Order(0)
class InvalidAnnotatedMethodFailureAnalyzer extends AbstractFailureAnalyzer<InvalidAnnotatedMethodException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidAnnotatedMethodException cause) {
		String description = "An annotation on the method %s cannot take effect:%n%n    %s".formatted(
				InvalidAnnotatedMethodException.describe(cause.getMethod()),
				StringUtils.capitalize(cause.getProblem()));
		String remedy = StringUtils.capitalize(cause.getRemedy());
		return new FailureAnalysis(description + ".", remedy.endsWith("?") ? remedy : remedy + ".", cause);
	}

}
