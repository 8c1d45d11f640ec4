package io.timingwheel.spring.durable.support;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.net.URL;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Date;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

import org.springframework.util.ClassUtils;

/**
 * Compares an argument with what was read back from its JSON, by the values: the fields
 * of objects, and the elements of collections in their order. The class of a collection
 * does not count, the class of another object does. Where the values cannot be seen, the
 * check is not {@link #isCertain() certain}, and the JSON has to be compared. For one
 * comparison.
 */
final class PayloadReadBack {

	private static final ClassValue<List<Field>> FIELDS = new ClassValue<>() {
		@Override
		protected List<Field> computeValue(Class<?> type) {
			return fields(type);
		}
	};

	private final Function<Class<?>, Set<String>> ignoredProperties;

	private final Map<Object, Object> entered = new IdentityHashMap<>();

	private final Deque<String> path = new ArrayDeque<>();

	private boolean certain = true;

	private @Nullable String difference;

	/**
	 * Creates a check.
	 * @param ignoredProperties gives what a class excludes from its JSON
	 */
	PayloadReadBack(Function<Class<?>, Set<String>> ignoredProperties) {
		this.ignoredProperties = ignoredProperties;
	}

	/**
	 * Whether {@link #isSame} has seen all values.
	 */
	boolean isCertain() {
		return this.certain;
	}

	/**
	 * Where the first difference is, a path of fields and the class of the value;
	 * {@code null} if there is none.
	 */
	@Nullable String difference() {
		return this.difference;
	}

	/**
	 * Whether two values are the same.
	 */
	boolean isSame(@Nullable Object before, @Nullable Object after) {
		if (before == after) {
			return true;
		}
		if (before == null) {
			return differs(Objects.requireNonNull(after));
		}
		if (after == null) {
			return differs(before);
		}
		if (before instanceof Optional<?> one && after instanceof Optional<?> other) {
			return isSame(one.orElse(null), other.orElse(null));
		}
		if (before instanceof AtomicReference<?> one && after instanceof AtomicReference<?> other) {
			return isSame(one.get(), other.get());
		}
		if (before instanceof Map.Entry<?, ?> one && after instanceof Map.Entry<?, ?> other) {
			return isSame(one.getKey(), other.getKey()) && isSame(one.getValue(), other.getValue());
		}
		if (before.getClass().isArray()) {
			return before.getClass() == after.getClass() ? areSameArrays(before, after) : differs(before);
		}
		if (before instanceof Map<?, ?> one && after instanceof Map<?, ?> other) {
			return areSameMaps(one, other) && haveSameExtras(before, after);
		}
		if (before instanceof Iterable<?> one && after instanceof Collection<?> other) {
			return areSameElements(one, other) && haveSameExtras(before, after);
		}
		if (before instanceof CharSequence || after instanceof CharSequence) {
			return areSameTexts(before, after) || differs(before);
		}
		if (before instanceof JsonNode one && after instanceof JsonNode other) {
			return one.equals(PayloadReadBack::compareLeaves, other) || differs(before);
		}
		if (isPlatform(before.getClass())) {
			return isSameValue(before, after) || differs(before);
		}
		return isSameObject(before, after) || differs(before);
	}

	private boolean differs(Object value) {
		if (this.difference == null) {
			this.difference = String.join("", this.path) + " (" + value.getClass().getTypeName() + ")";
		}
		return false;
	}

	private boolean uncertain() {
		this.certain = false;
		return true;
	}

	/**
	 * A text that was read as another type, or another type that was read as a text: the
	 * caller gave what can be converted to the declared type.
	 */
	private boolean areSameTexts(Object before, Object after) {
		return (before instanceof CharSequence one && after instanceof CharSequence other)
				? one.toString().contentEquals(other) : uncertain();
	}

	private boolean areSameArrays(Object before, Object after) {
		if (before.getClass().getComponentType().isPrimitive()) {
			return Objects.deepEquals(before, after) || differs(before);
		}
		int length = Array.getLength(before);
		if (length != Array.getLength(after)) {
			return differs(before);
		}
		for (int i = 0; i < length; i++) {
			if (!isSameAt("[]", Array.get(before, i), Array.get(after, i))) {
				return false;
			}
		}
		return true;
	}

	private boolean areSameElements(Iterable<?> before, Collection<?> after) {
		Iterator<?> others = after.iterator();
		boolean inOrder = haveSameOrder(comparator(before), comparator(after));
		for (Iterator<?> elements = before.iterator(); inOrder && elements.hasNext();) {
			inOrder = others.hasNext() && isSameAt("[]", elements.next(), others.next());
		}
		if (inOrder && !others.hasNext()) {
			return true;
		}
		// The elements of a set may come back in another order.
		boolean unordered = before instanceof Set && !(before instanceof LinkedHashSet)
				&& !(before instanceof SortedSet);
		if (unordered && ((Set<?>) before).size() == after.size() && after.containsAll((Set<?>) before)) {
			this.difference = null;
			return uncertain();
		}
		return differs(before);
	}

	private boolean areSameMaps(Map<?, ?> before, Map<?, ?> after) {
		boolean same = haveSameOrder(comparator(before), comparator(after)) && before.size() == after.size();
		if (!same) {
			return differs(before);
		}
		boolean inOrder = areSameElements(new ArrayList<>(before.keySet()), new ArrayList<>(after.keySet()));
		if (!inOrder) {
			if (before instanceof LinkedHashMap || before instanceof SortedMap) {
				return false;
			}
			this.difference = null;
		}
		Iterator<?> values = after.values().iterator();
		for (Map.Entry<?, ?> entry : before.entrySet()) {
			Object key = Objects.requireNonNull(entry.getKey());
			if (!inOrder && !after.containsKey(key)) {
				return differs(before);
			}
			if (!isSameAt("[]", entry.getValue(), inOrder ? values.next() : after.get(key))) {
				return false;
			}
		}
		return inOrder || uncertain();
	}

	/**
	 * The comparator of a sorted collection, {@code null} for the natural order.
	 */
	private static @Nullable Comparator<?> comparator(Object collection) {
		Comparator<?> comparator = (collection instanceof SortedSet<?> set) ? set.comparator()
				: (collection instanceof SortedMap<?, ?> map) ? map.comparator()
						: (collection instanceof PriorityQueue<?> queue) ? queue.comparator() : null;
		return (comparator != Comparator.naturalOrder()) ? comparator : null;
	}

	private static boolean haveSameOrder(@Nullable Comparator<?> before, @Nullable Comparator<?> after) {
		return before == null || before.equals(after);
	}

	/**
	 * Compares the fields that a class adds to a collection of the platform. JSON has
	 * only the elements.
	 */
	private boolean haveSameExtras(Object before, Object after) {
		Class<?> base = before.getClass();
		while (base != null && !isPlatform(base)) {
			base = base.getSuperclass();
		}
		if (base == before.getClass() || base == null || base == Object.class
				|| Modifier.isAbstract(base.getModifiers())) {
			return true;
		}
		List<Field> extras = storedFields(before.getClass());
		return extras.isEmpty()
				|| ((before.getClass() == after.getClass()) ? haveSameFields(extras, before, after) : differs(before));
	}

	/**
	 * Compares objects of the platform, whose fields cannot be seen.
	 */
	private boolean isSameValue(Object before, Object after) {
		if (before instanceof Number && after instanceof Number) {
			return before.equals(after) || areSameNumbers(before.toString(), after.toString());
		}
		if (before instanceof Date one && after instanceof Date other) {
			return one.getTime() == other.getTime()
					&& (one.getClass() == other.getClass() ? one.equals(other) : !hasNanos(one));
		}
		if (before instanceof Pattern one && after instanceof Pattern other) {
			return one.pattern().equals(other.pattern()) && one.flags() == other.flags();
		}
		if (before instanceof URL && after instanceof URL) {
			// The method equals of a URL asks a name server.
			return before.toString().equals(after.toString());
		}
		if (before.getClass() == after.getClass() && !hasEquals(before.getClass())) {
			return uncertain();
		}
		return before.equals(after) && after.equals(before);
	}

	private static int compareLeaves(JsonNode before, JsonNode after) {
		return before.getNodeType() == after.getNodeType() && areSameNumbers(before.toString(), after.toString()) ? 0
				: 1;
	}

	private static boolean areSameNumbers(String before, String after) {
		try {
			return before.equals(after) || new BigDecimal(before).equals(new BigDecimal(after));
		}
		catch (NumberFormatException ex) {
			return false;
		}
	}

	private static boolean hasNanos(Date date) {
		return date.getClass().getName().equals("java.sql.Timestamp") && date.toInstant().getNano() % 1_000_000 != 0;
	}

	private boolean isSameObject(Object before, Object after) {
		if (before.getClass() != after.getClass() || before instanceof Enum) {
			return false;
		}
		if (this.entered.put(before, after) == after) {
			return true;
		}
		boolean record = before.getClass().isRecord();
		List<Field> fields = record ? FIELDS.get(before.getClass()) : storedFields(before.getClass());
		if (!haveSameFields(fields, before, after)) {
			// A field may be a cache, which the class does not count as its value.
			if (record || !hasEquals(before.getClass()) || !before.equals(after)) {
				return false;
			}
			this.difference = null;
			return uncertain();
		}
		return (!fields.isEmpty() && hasOnlyOwnFields(before.getClass())) || uncertain();
	}

	/**
	 * The fields of a class, unless the class excludes them from its JSON.
	 */
	private List<Field> storedFields(Class<?> type) {
		Set<String> ignored = this.ignoredProperties.apply(type);
		return FIELDS.get(type)
			.stream()
			.filter((field) -> !Modifier.isTransient(field.getModifiers()) && !ignored.contains(field.getName()))
			.toList();
	}

	private boolean haveSameFields(List<Field> fields, Object before, Object after) {
		for (Field field : fields) {
			Object one;
			Object other;
			try {
				field.setAccessible(true);
				one = field.get(before);
				other = field.get(after);
			}
			catch (IllegalAccessException | InaccessibleObjectException ex) {
				uncertain();
				continue;
			}
			if (!isSameAt("." + field.getName(), one, other)) {
				return false;
			}
		}
		return true;
	}

	private boolean isSameAt(String step, @Nullable Object before, @Nullable Object after) {
		this.path.addLast(step);
		boolean same = isSame(before, after);
		this.path.removeLast();
		return same;
	}

	private static List<Field> fields(Class<?> type) {
		List<Field> fields = new ArrayList<>();
		for (Class<?> each = type; each != null && !isPlatform(each); each = each.getSuperclass()) {
			Arrays.stream(each.getDeclaredFields())
				.filter((field) -> !Modifier.isStatic(field.getModifiers()) && !field.isSynthetic())
				.forEach(fields::add);
		}
		return fields;
	}

	private static boolean hasOnlyOwnFields(Class<?> type) {
		Class<?> each = type;
		while (!isPlatform(each)) {
			each = each.getSuperclass();
		}
		return each == Object.class || each == Record.class;
	}

	/**
	 * Whether a class belongs to the Java platform.
	 */
	private static boolean isPlatform(Class<?> type) {
		ClassLoader loader = type.getClassLoader();
		return loader == null || loader == ClassLoader.getPlatformClassLoader();
	}

	private static boolean hasEquals(Class<?> type) {
		return ClassUtils.getMethod(type, "equals", Object.class).getDeclaringClass() != Object.class;
	}

}
