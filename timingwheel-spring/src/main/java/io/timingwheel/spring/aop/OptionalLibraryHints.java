package io.timingwheel.spring.aop;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Lets a native image see, where we look for them by name, the libraries that an
 * application may do without.
 */
class OptionalLibraryHints implements RuntimeHintsRegistrar {

	private static final List<String> TYPES = List.of("reactor.core.publisher.Flux",
			"org.springframework.transaction.support.TransactionSynchronizationManager");

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		TYPES.forEach((type) -> hints.reflection().registerTypeIfPresent(classLoader, type));
	}

}
