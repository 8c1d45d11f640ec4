package io.timingwheel.spring.durable.autoconfigure;

import io.timingwheel.spring.durable.store.UnusableTaskStoreException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;
import org.springframework.util.StringUtils;

/** Explains why durable tasks cannot be stored. */
@Order(0)
class UnusableTaskStoreFailureAnalyzer extends AbstractFailureAnalyzer<UnusableTaskStoreException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, UnusableTaskStoreException cause) {
		return new FailureAnalysis(
				"Durable tasks cannot be stored:%n%n    %s.".formatted(StringUtils.capitalize(cause.getProblem())),
				StringUtils.capitalize(cause.getRemedy()) + ".", cause);
	}

}
