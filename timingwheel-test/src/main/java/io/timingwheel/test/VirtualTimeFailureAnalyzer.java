package io.timingwheel.test;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains a {@link VirtualTimeException}.
 */
class VirtualTimeFailureAnalyzer extends AbstractFailureAnalyzer<VirtualTimeException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, VirtualTimeException cause) {
		return new FailureAnalysis("The application cannot have virtual time:%n%n    %s".formatted(cause.getProblem()),
				cause.getRemedy(), cause);
	}

}
