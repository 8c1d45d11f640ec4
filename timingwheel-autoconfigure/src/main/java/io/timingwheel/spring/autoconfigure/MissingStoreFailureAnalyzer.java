package io.timingwheel.spring.autoconfigure;

import io.timingwheel.spring.autoconfigure.internal.AbstractStoreFailureAnalyzer;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;

/**
 * Explains a {@link MissingStoreException}.
 */
class MissingStoreFailureAnalyzer extends AbstractStoreFailureAnalyzer<MissingStoreException> {

	MissingStoreFailureAnalyzer(Environment environment) {
		super(environment);
	}

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, MissingStoreException cause) {
		return analysis(cause.problem(), cause.remedy(), cause);
	}

}
