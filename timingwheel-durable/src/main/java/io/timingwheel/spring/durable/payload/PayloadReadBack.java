package io.timingwheel.spring.durable.payload;

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
import java.util.function.Function;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

import org.springframework.util.ClassUtils;

/**
 * Compares an argument with what was read back from its JSON, by the values: the fields
 * of objects, and the elements of collections in their order. The class of a collection
 * does not count, the class of another object does. Values that cannot be seen count as
 * the same: the caller compares the JSON too. For one comparison.
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

	private @Nullable String difference;

	/**
	 * Creates a check.
	 */
	PayloadReadBack(Function<Class<?>, Set<String>> ignoredProperties) {
		this.ignoredProperties = ignoredProperties;
	}

	/**
	 * Whether the method {@code equals} of a value says all about it.
	 */
	static boolean isPlainValue(Object value) {
		return ClassUtils.isSimpleValueType(value.getClass()) && !(value instanceof Date) && !(value instanceof URL);
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
		boolean same = before == after || (before != null && after != null && haveSameContent(before, after));
		if (!same && this.difference == null) {
			Object value = (before != null) ? before : Objects.requireNonNull(after);
			this.difference = String.join("", this.path) + " (" + value.getClass().getTypeName() + ")";
		}
		return same;
	}

	private boolean isSameAt(String step, @Nullable Object before, @Nullable Object after) {
		this.path.addLast(step);
		boolean same = isSame(before, after);
		this.path.removeLast();
		return same;
	}

	private boolean haveSameContent(Object before, Object after) {
		if (before instanceof Optional<?> one && after instanceof Optional<?> other) {
			return isSame(one.orElse(null), other.orElse(null));
		}
		if (before instanceof Map.Entry<?, ?> one && after instanceof Map.Entry<?, ?> other) {
			return isSame(one.getKey(), other.getKey()) && isSame(one.getValue(), other.getValue());
		}
		if (before.getClass().isArray()) {
			return before.getClass() == after.getClass() && ((before instanceof Object[] elements)
					? areSameElements(Arrays.asList(elements), Arrays.asList((Object[]) after))
					: Objects.deepEquals(before, after));
		}
		if (before instanceof Map<?, ?> one && after instanceof Map<?, ?> other) {
			return areSorted(before, after) && areSameMaps(one, other) && haveSameExtras(before, after);
		}
		if (before instanceof Iterable<?> one && after instanceof Collection<?> other) {
			return areSorted(before, after) && areSameCollections(one, other) && haveSameExtras(before, after);
		}
		if (before instanceof CharSequence one && after instanceof CharSequence other) {
			return one.toString().contentEquals(other);
		}
		if (before instanceof CharSequence || after instanceof CharSequence) {
			// The caller gave what can be converted to the declared type.
			return true;
		}
		if (before instanceof JsonNode one && after instanceof JsonNode other) {
			return one.equals(PayloadReadBack::compareLeaves, other);
		}
		return isPlatform(before.getClass()) ? isSameValue(before, after) : isSameObject(before, after);
	}

	private boolean areSameElements(List<?> before, List<?> after) {
		boolean same = before.size() == after.size();
		for (int i = 0; same && i < before.size(); i++) {
			same = isSameAt("[]", before.get(i), after.get(i));
		}
		return same;
	}

	private boolean areSameCollections(Iterable<?> before, Collection<?> after) {
		List<Object> elements = new ArrayList<>();
		before.forEach(elements::add);
		if (areSameElements(elements, new ArrayList<>(after))) {
			return true;
		}
		// The elements of a set may come back in another order.
		return before instanceof Set && !(before instanceof LinkedHashSet) && !(before instanceof SortedSet)
				&& elements.size() == after.size() && after.containsAll(elements) && forgive();
	}

	private boolean areSameMaps(Map<?, ?> before, Map<?, ?> after) {
		boolean unordered = !(before instanceof LinkedHashMap) && !(before instanceof SortedMap);
		if (unordered && before.keySet().equals(after.keySet())) {
			return before.keySet().stream().allMatch((key) -> isSameAt("[]", before.get(key), after.get(key)));
		}
		return areSameElements(new ArrayList<>(before.entrySet()), new ArrayList<>(after.entrySet()));
	}

	private boolean forgive() {
		this.difference = null;
		return true;
	}

	/**
	 * Whether a sorted collection is sorted as before.
	 */
	private static boolean areSorted(Object before, Object after) {
		Comparator<?> comparator = comparator(before);
		return comparator == null || comparator.equals(comparator(after));
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

	/**
	 * Compares the fields that a class adds to a collection of the platform. JSON has
	 * only the elements.
	 */
	private boolean haveSameExtras(Object before, Object after) {
		Class<?> base = before.getClass();
		while (!isPlatform(base)) {
			base = base.getSuperclass();
		}
		List<Field> extras = storedFields(before.getClass());
		return extras.isEmpty() || base == Object.class || Modifier.isAbstract(base.getModifiers())
				|| (before.getClass() == after.getClass() && haveSameFields(extras, before, after));
	}

	/**
	 * Compares objects of the platform, whose fields cannot be seen.
	 */
	private static boolean isSameValue(Object before, Object after) {
		if (before instanceof Number && after instanceof Number) {
			return areSameNumbers(before.toString(), after.toString());
		}
		if (before instanceof Pattern one && after instanceof Pattern other) {
			return one.pattern().equals(other.pattern()) && one.flags() == other.flags();
		}
		if (before instanceof URL) {
			// The method equals of a URL asks a name server.
			return before.toString().equals(after.toString());
		}
		if (before instanceof Date one && after instanceof Date other && one.getTime() == other.getTime()) {
			return before.equals(after) || !hasNanos(one);
		}
		return before.equals(after) || (before.getClass() == after.getClass() && !hasEquals(before.getClass()));
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
		if (before.getClass().isRecord()) {
			return haveSameFields(FIELDS.get(before.getClass()), before, after);
		}
		// A field may be a cache, which the class does not count as its value.
		return haveSameFields(storedFields(before.getClass()), before, after)
				|| (hasEquals(before.getClass()) && before.equals(after) && forgive());
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
			try {
				field.setAccessible(true);
				if (!isSameAt("." + field.getName(), field.get(before), field.get(after))) {
					return false;
				}
			}
			catch (IllegalAccessException | InaccessibleObjectException ex) {
				// The JSON has to show the difference.
			}
		}
		return true;
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
