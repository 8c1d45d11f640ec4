package io.timingwheel.spring.durable.payload;

import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.net.URL;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Date;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.function.Function;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds where an argument differs from what was read back: in the fields of objects, or
 * in elements and their order. The class of a collection does not count, that of another
 * object does. What cannot be seen counts as the same: the caller compares the JSON too.
 * For one comparison.
 */
final class PayloadReadBack {

	private static final ClassValue<List<Field>> FIELDS = new ClassValue<>() {
		@Override
		protected List<Field> computeValue(Class<?> type) {
			List<Field> fields = new ArrayList<>();
			ReflectionUtils.doWithFields(type, fields::add, (field) -> !isPlatform(field.getDeclaringClass())
					&& !Modifier.isStatic(field.getModifiers()) && !field.isSynthetic());
			return fields;
		}
	};

	private final Function<Class<?>, Set<String>> ignoredProperties;

	private final Map<Object, Object> entered = new IdentityHashMap<>();

	/** The way to the difference, and its class. */
	private final StringBuilder place = new StringBuilder();

	PayloadReadBack(Function<Class<?>, Set<String>> ignoredProperties) {
		this.ignoredProperties = ignoredProperties;
	}

	/** Whether the method {@code equals} of a value says all about it. */
	static boolean isPlainValue(Object value) {
		return ClassUtils.isSimpleValueType(value.getClass()) && !(value instanceof Date) && !(value instanceof URL);
	}

	/**
	 * A path of fields and the class of the value; {@code null} if there is no
	 * difference.
	 */
	@Nullable String difference(@Nullable Object before, @Nullable Object after) {
		return isSame(before, after) ? null : this.place.toString();
	}

	private boolean isSame(@Nullable Object before, @Nullable Object after) {
		boolean same = before == after || (before != null && after != null && areSame(before, after));
		if (!same && this.place.isEmpty()) {
			Object value = (before != null) ? before : Objects.requireNonNull(after);
			this.place.append(" (" + value.getClass().getTypeName() + ")");
		}
		return same;
	}

	private boolean isSame(String place, @Nullable Object before, @Nullable Object after) {
		boolean same = isSame(before, after);
		if (!same) {
			this.place.insert(0, place);
		}
		return same;
	}

	private boolean areSame(Object before, Object after) {
		if (before instanceof Optional<?> one && after instanceof Optional<?> other) {
			return isSame(one.orElse(null), other.orElse(null));
		}
		if (before instanceof Object[] one && before.getClass() == after.getClass()) {
			return haveSameElements(Arrays.asList(one), Arrays.asList((Object[]) after));
		}
		if (before instanceof Map<?, ?> one && after instanceof Map<?, ?> other) {
			return areSameMaps(one, other) && haveSameExtras(before, after);
		}
		if (before instanceof Iterable<?> one && after instanceof Collection<?> other) {
			return areSameCollections(one, other) && haveSameExtras(before, after);
		}
		if (isPlatform(before.getClass()) || before instanceof CharSequence || before instanceof JsonNode) {
			return isSameValue(before, after);
		}
		return areSameObjects(before, after);
	}

	private boolean haveSameElements(List<?> before, List<?> after) {
		boolean same = before.size() == after.size();
		for (int i = 0; same && i < before.size(); i++) {
			same = isSame("[]", before.get(i), after.get(i));
		}
		return same;
	}

	private boolean areSameCollections(Iterable<?> before, Collection<?> after) {
		List<Object> elements = new ArrayList<>();
		before.forEach(elements::add);
		// The elements of a set may come back in another order.
		boolean unordered = before instanceof Set && !(before instanceof LinkedHashSet)
				&& !(before instanceof SortedSet);
		return (unordered && elements.size() == after.size() && after.containsAll(elements))
				|| haveSameElements(elements, new ArrayList<>(after));
	}

	private boolean areSameMaps(Map<?, ?> before, Map<?, ?> after) {
		boolean ordered = before instanceof LinkedHashMap || before instanceof SortedMap;
		List<?> keys = new ArrayList<>(before.keySet());
		boolean sameKeys = ordered ? haveSameElements(keys, new ArrayList<>(after.keySet()))
				: before.keySet().equals(after.keySet());
		return sameKeys
				&& haveSameElements(keys.stream().map(before::get).toList(), keys.stream().map(after::get).toList());
	}

	/**
	 * JSON has no comparator, and no fields that a class adds to a collection of the
	 * platform.
	 */
	private boolean haveSameExtras(Object before, Object after) {
		Class<?> base = before.getClass();
		while (!isPlatform(base)) {
			base = base.getSuperclass();
		}
		List<Field> extras = storedFields(before.getClass());
		boolean none = extras.isEmpty() || base == Object.class || Modifier.isAbstract(base.getModifiers());
		return Objects.equals(comparator(before), comparator(after))
				&& (none || (before.getClass() == after.getClass() && haveSameFields(extras, before, after)));
	}

	/** {@code null} for the natural order. */
	private static @Nullable Comparator<?> comparator(Object collection) {
		Comparator<?> comparator = (collection instanceof SortedSet<?> set) ? set.comparator()
				: (collection instanceof SortedMap<?, ?> map) ? map.comparator() : null;
		return (comparator != Comparator.naturalOrder()) ? comparator : null;
	}

	/** Compares texts, JSON and objects of the platform, whose fields cannot be seen. */
	private static boolean isSameValue(Object before, Object after) {
		if (before instanceof JsonNode one && after instanceof JsonNode other) {
			return one.equals((leaf, read) -> leaf.getNodeType() == read.getNodeType()
					&& areSameNumbers(leaf.toString(), read.toString()) ? 0 : 1, other);
		}
		if (before instanceof Number && after instanceof Number) {
			return areSameNumbers(before.toString(), after.toString());
		}
		if (before instanceof Pattern one && after instanceof Pattern other) {
			return one.pattern().equals(other.pattern()) && one.flags() == other.flags();
		}
		if (before instanceof URL || before instanceof CharSequence) {
			// The method equals of a URL asks a name server.
			return before.toString().equals(after.toString());
		}
		if (before instanceof Date one && after instanceof Date other && one.getTime() == other.getTime()) {
			return before.equals(after) || !hasNanos(one);
		}
		return Objects.deepEquals(before, after)
				|| (before.getClass() == after.getClass() && !before.getClass().isArray() && !hasEquals(before));
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

	private boolean areSameObjects(Object before, Object after) {
		Class<?> type = before.getClass();
		if (type != after.getClass() || before instanceof Enum) {
			return false;
		}
		if (this.entered.put(before, after) == after) {
			return true;
		}
		if (type.isRecord()) {
			return haveSameFields(FIELDS.get(type), before, after);
		}
		// A field may be a cache, which the class does not count as its value.
		return (hasEquals(before) && before.equals(after)) || haveSameFields(storedFields(type), before, after);
	}

	private List<Field> storedFields(Class<?> type) {
		Set<String> ignored = this.ignoredProperties.apply(type);
		return FIELDS.get(type)
			.stream()
			.filter((field) -> !Modifier.isTransient(field.getModifiers()) && !ignored.contains(field.getName()))
			.toList();
	}

	private boolean haveSameFields(List<Field> fields, Object before, Object after) {
		boolean same = true;
		for (Field field : fields) {
			try {
				field.setAccessible(true);
				same = same && isSame("." + field.getName(), field.get(before), field.get(after));
			}
			catch (IllegalAccessException | InaccessibleObjectException ex) {
				// The JSON has to show the difference.
			}
		}
		return same;
	}

	private static boolean isPlatform(Class<?> type) {
		ClassLoader loader = type.getClassLoader();
		return loader == null || loader == ClassLoader.getPlatformClassLoader();
	}

	private static boolean hasEquals(Object value) {
		return ClassUtils.getMethod(value.getClass(), "equals", Object.class).getDeclaringClass() != Object.class;
	}

}
