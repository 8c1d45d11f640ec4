package io.timingwheel.spring.actuate.internal;

import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * Limits how many names of tasks become tags, since an application may make up names at
 * run time. The first names have tags of their own. All later names share the tag
 * {@code other}. Thread-safe.
 *
 * @since 0.1
 */
public final class NameTags {

	private static final String OTHER = "other";

	private final int limit;

	private final BiConsumer<String, Collection<String>> binder;

	private final Set<String> others = ConcurrentHashMap.newKeySet();

	private int count;

	/**
	 * Creates tags without a name.
	 * @param limit the number of tags, including {@code other}
	 * @param binder takes each new tag with its names; the names of {@code other} may
	 * become more
	 */
	public NameTags(int limit, BiConsumer<String, Collection<String>> binder) {
		this.limit = limit;
		this.binder = binder;
	}

	/**
	 * Adds a name. Each name must be added only once.
	 * @param name the name
	 * @return its tag
	 */
	public synchronized String add(String name) {
		if (!name.equals(OTHER) && this.count < this.limit - 1) {
			this.count++;
			this.binder.accept(name, Set.of(name));
			return name;
		}
		if (this.others.add(name) && this.others.size() == 1) {
			this.binder.accept(OTHER, this.others);
		}
		return OTHER;
	}

}
