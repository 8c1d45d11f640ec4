package io.timingwheel.spring.aop;

import org.springframework.context.aot.AbstractAotProcessor;

/**
 * Ahead-of-time processing: it makes proxy classes, but no beans, and does not know the
 * properties of the environment in which the application will be started. Annotations are
 * checked then.
 */
final class AotProcessing {

	private AotProcessing() {
	}

	static boolean isActive() {
		return Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING);
	}

}
