package io.timingwheel.spring.durable.node;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/** What this node can run, by names and aliases. Thread-safe. */
public final class DurableHandlers {

	private volatile Map<String, DurableHandler> handlers = Map.of();

	/**
	 * Adds the handler of a method, or gives the one that the method has already. No
	 * other method has one of its names.
	 */
	public synchronized DurableHandler register(DurableHandler handler) {
		DurableHandler known = find(handler.name());
		if (known != null) {
			return known;
		}
		Map<String, DurableHandler> extended = new HashMap<>(this.handlers);
		handler.names().forEach((name) -> extended.put(name, handler));
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
