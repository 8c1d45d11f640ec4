package io.timingwheel.spring.durable.autoconfigure;

import io.timingwheel.spring.autoconfigure.internal.AbstractStoreFailureAnalyzer;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;

/** Explains an {@link UnusableTaskStoreException}. */
class UnusableTaskStoreFailureAnalyzer extends AbstractStoreFailureAnalyzer<UnusableTaskStoreException> {

	UnusableTaskStoreFailureAnalyzer(Environment environment) {
		super(environment);
	}

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, UnusableTaskStoreException cause) {
		return analysis(cause.getProblem(), cause.getRemedy(), cause);
	}

}
