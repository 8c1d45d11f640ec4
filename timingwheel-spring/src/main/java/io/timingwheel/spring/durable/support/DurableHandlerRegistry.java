package io.timingwheel.spring.durable.support;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The handlers of this node, by their names and aliases. Only what is here is ever
 * invoked for a stored task. Filled at startup. Thread-safe.
 */
public final class DurableHandlerRegistry {

	private volatile Map<String, DurableHandler> handlers = Map.of();

	/**
	 * Adds a handler, unless there is one of the same method already.
	 * @param handler the handler
	 * @return the handler that is there from now on
	 * @throws IllegalStateException if its name or an alias belongs to the handler of
	 * another method; nothing is added then
	 */
	public synchronized DurableHandler register(DurableHandler handler) {
		DurableHandler known = this.handlers.get(handler.name());
		if (known != null && known.method().equals(handler.method())) {
			return known;
		}
		Map<String, DurableHandler> extended = new HashMap<>(this.handlers);
		Stream.concat(Stream.of(handler.name()), handler.aliases().stream()).forEach((name) -> {
			DurableHandler holder = extended.putIfAbsent(name, handler);
			if (holder != null) {
				throw new IllegalStateException("The name \"%s\" of durable tasks belongs to both %s and %s"
					.formatted(name, holder.method(), handler.method()));
			}
		});
		this.handlers = Map.copyOf(extended);
		return handler;
	}

	/**
	 * Finds a handler.
	 * @param nameOrAlias the name of a stored task
	 * @return the handler, {@code null} if this node has none
	 */
	public @Nullable DurableHandler find(String nameOrAlias) {
		return this.handlers.get(nameOrAlias);
	}

	/**
	 * What this node can run.
	 * @return names and aliases, an immutable snapshot
	 */
	public Set<String> names() {
		return this.handlers.keySet();
	}

}
