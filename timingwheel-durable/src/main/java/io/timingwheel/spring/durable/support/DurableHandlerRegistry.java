package io.timingwheel.spring.durable.support;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The handlers of this node, by their names and aliases. This node runs only the stored
 * tasks that have a handler here. The application registers its handlers at startup.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class DurableHandlerRegistry {

	private volatile Map<String, DurableHandler> handlers = Map.of();

	/**
	 * Adds a handler, unless there is one for the same method.
	 * @param handler the handler
	 * @return the handler that is registered from now on
	 * @throws IllegalStateException if its name or an alias belongs to the handler of
	 * another method; nothing is added then
	 */
	public synchronized DurableHandler register(DurableHandler handler) {
		DurableHandler known = this.handlers.get(handler.name());
		if (known != null && known.method().equals(handler.method())) {
			return known;
		}
		Map<String, DurableHandler> extended = new HashMap<>(this.handlers);
		namesOf(handler).forEach((name) -> {
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
	 * Removes a handler. This node runs no more tasks with its names.
	 * @param handler the handler
	 */
	public synchronized void unregister(DurableHandler handler) {
		Map<String, DurableHandler> reduced = new HashMap<>(this.handlers);
		reduced.values().removeIf((known) -> known == handler);
		this.handlers = Map.copyOf(reduced);
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
	 * All names of tasks that this node can run.
	 * @return names and aliases, an immutable snapshot
	 */
	public Set<String> names() {
		return this.handlers.keySet();
	}

	/**
	 * The current name of the tasks that have a name.
	 * @return the name of its handler, or the name itself if this node has no handler
	 */
	String canonicalName(String nameOrAlias) {
		DurableHandler handler = find(nameOrAlias);
		return (handler != null) ? handler.name() : nameOrAlias;
	}

	/**
	 * All names of the tasks that have a name.
	 * @return the current name, then the aliases; the name alone if this node has no
	 * handler
	 */
	List<String> allNames(String nameOrAlias) {
		DurableHandler handler = find(nameOrAlias);
		return (handler != null && !handler.aliases().isEmpty()) ? namesOf(handler).toList() : List.of(nameOrAlias);
	}

	private static Stream<String> namesOf(DurableHandler handler) {
		return Stream.concat(Stream.of(handler.name()), handler.aliases().stream());
	}

}
