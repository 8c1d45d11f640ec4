package io.timingwheel.spring.durable.node;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/** What this node can run, by names and aliases. Thread-safe. */
public final class DurableHandlers {

	private final Map<String, DurableHandler> handlers = new ConcurrentHashMap<>();

	/**
	 * Adds the handler of a method, or gives the one that the method has already.
	 * @throws IllegalStateException if another method has one of its names
	 */
	public DurableHandler register(DurableHandler handler) {
		for (String name : handler.names()) {
			DurableHandler known = this.handlers.putIfAbsent(name, handler);
			Assert.state(known == null || known.names().equals(handler.names()),
					() -> "Another method has the name \"%s\"".formatted(name));
		}
		return get(handler.name());
	}

	/** For a name of a handler. */
	DurableHandler get(String name) {
		return Objects.requireNonNull(find(name));
	}

	public @Nullable DurableHandler find(String nameOrAlias) {
		return this.handlers.get(nameOrAlias);
	}

	public Set<String> names() {
		return Collections.unmodifiableSet(this.handlers.keySet());
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
