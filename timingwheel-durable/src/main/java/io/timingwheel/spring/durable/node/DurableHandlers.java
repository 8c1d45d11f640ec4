package io.timingwheel.spring.durable.node;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * What this node can run, by names and aliases. Thread-safe.
 */
public final class DurableHandlers {

	private volatile Map<String, DurableHandler> handlers = Map.of();

	/**
	 * Adds a handler, or gives the one that the method has already.
	 * @throws IllegalStateException if a name belongs to another method; nothing is added
	 */
	public synchronized DurableHandler register(DurableHandler handler) {
		Method method = handler.method().method();
		DurableHandler known = this.handlers.get(handler.name());
		if (known != null && known.method().method().equals(method)) {
			return known;
		}
		Map<String, DurableHandler> extended = new HashMap<>(this.handlers);
		for (String name : handler.names()) {
			DurableHandler holder = extended.putIfAbsent(name, handler);
			if (holder != null) {
				throw new IllegalStateException("The name \"%s\" of durable tasks belongs to both %s and %s"
					.formatted(name, holder.method().method(), method));
			}
		}
		this.handlers = Map.copyOf(extended);
		return handler;
	}

	public @Nullable DurableHandler find(String nameOrAlias) {
		return this.handlers.get(nameOrAlias);
	}

	Map<String, DurableHandler> all() {
		return this.handlers;
	}

	public Set<String> names() {
		return this.handlers.keySet();
	}

	/** The name of the handler, or the name itself without a handler. */
	public String canonicalName(String nameOrAlias) {
		DurableHandler handler = find(nameOrAlias);
		return (handler != null) ? handler.name() : nameOrAlias;
	}

	/** The current name, then the aliases; the name alone without a handler. */
	public List<String> allNames(String nameOrAlias) {
		DurableHandler handler = find(nameOrAlias);
		return (handler != null) ? handler.names() : List.of(nameOrAlias);
	}

}
