package io.timingwheel.spring.durable.payload;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Compares an argument with what was read back: the fields of objects, or elements and
 * their order. The class of a collection does not count, that of another object does. For
 * one call.
 */
final class PayloadReadBack {

	private final PayloadCodec codec;

	private final Map<Object, Object> entered = new IdentityHashMap<>();

	private @Nullable String difference;

	PayloadReadBack(PayloadCodec codec) {
		this.codec = codec;
	}

	/** Where the first difference is, if it is inside an object. */
	String difference() {
		return (this.difference != null) ? ": the first difference is at " + this.difference : "";
	}

	boolean isSame(@Nullable Object before, @Nullable Object after) {
		if (before == null || after == null || before == after) {
			return before == after;
		}
		if (before instanceof Optional<?> one && after instanceof Optional<?> other) {
			return isSame(one.orElse(null), other.orElse(null));
		}
		if (before instanceof Object[] one && after instanceof Object[] other) {
			return before.getClass() == after.getClass()
					&& areSameCollections(Arrays.asList(one), Arrays.asList(other));
		}
		if (before instanceof Map<?, ?> one && after instanceof Map<?, ?> other) {
			return areSameCollections(one.keySet(), other.keySet())
					&& one.entrySet().stream().allMatch((entry) -> isSame(entry.getValue(), other.get(entry.getKey())));
		}
		if (before instanceof Iterable<?> one && after instanceof Collection<?> other) {
			return areSameCollections(one, other);
		}
		if (isPlatform(before.getClass()) || before instanceof CharSequence || before instanceof JsonNode) {
			return isSameValue(before, after);
		}
		return areSameObjects(before, after);
	}

	/** A hash set may come back in another order. JSON keeps no comparator. */
	private boolean areSameCollections(Iterable<?> before, Collection<?> after) {
		if (before instanceof Set && !(before instanceof SortedSet) && before.equals(after)) {
			return true;
		}
		Iterator<?> one = before.iterator();
		Iterator<?> other = after.iterator();
		boolean same = Objects.equals(comparator(before), comparator(after));
		while (same && one.hasNext() && other.hasNext()) {
			same = isSame(one.next(), other.next());
		}
		return same && one.hasNext() == other.hasNext();
	}

	/** {@code null} for the natural order. */
	private static @Nullable Comparator<?> comparator(Iterable<?> collection) {
		Comparator<?> comparator = (collection instanceof SortedSet<?> set) ? set.comparator() : null;
		return (comparator != Comparator.naturalOrder()) ? comparator : null;
	}

	/** Compares texts, JSON and objects of the platform, whose fields cannot be seen. */
	private boolean isSameValue(Object before, Object after) {
		if (before instanceof CharSequence || before instanceof URL) {
			// The method equals of a URL asks a name server.
			return before.toString().equals(after.toString());
		}
		return Objects.deepEquals(before, after)
				|| ((before instanceof Number || before instanceof JsonNode || !hasEquals(before))
						&& this.codec.isSameJson(before, after));
	}

	private boolean areSameObjects(Object before, Object after) {
		Class<?> type = before.getClass();
		if (type != after.getClass() || before instanceof Enum) {
			return false;
		}
		if (this.entered.put(before, after) == after) {
			return true;
		}
		// A field may be a cache, which the class does not count as its value.
		return (!type.isRecord() && hasEquals(before) && before.equals(after)) || haveSameFields(before, after);
	}

	private boolean haveSameFields(Object before, Object after) {
		List<String> different = new ArrayList<>();
		ReflectionUtils.doWithFields(before.getClass(), (field) -> {
			if (!isSame(field.get(before), field.get(after))) {
				different.add(field.getDeclaringClass().getSimpleName() + "." + field.getName());
			}
		}, (field) -> different.isEmpty() && isStored(before.getClass(), field) && field.trySetAccessible());
		if (this.difference == null && !different.isEmpty()) {
			this.difference = different.get(0);
		}
		return different.isEmpty();
	}

	private boolean isStored(Class<?> type, Field field) {
		return !Modifier.isStatic(field.getModifiers()) && !field.isSynthetic()
				&& !isPlatform(field.getDeclaringClass())
				&& (type.isRecord() || (!Modifier.isTransient(field.getModifiers())
						&& !this.codec.ignoredProperties(type).contains(field.getName())));
	}

	private static boolean isPlatform(Class<?> type) {
		ClassLoader loader = type.getClassLoader();
		return loader == null || loader == ClassLoader.getPlatformClassLoader();
	}

	private static boolean hasEquals(Object value) {
		return ClassUtils.getMethod(value.getClass(), "equals", Object.class).getDeclaringClass() != Object.class;
	}

}
