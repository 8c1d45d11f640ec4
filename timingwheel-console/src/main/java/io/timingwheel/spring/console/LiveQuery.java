package io.timingwheel.spring.console;

import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * Which figures a view of the page needs.
 */
record LiveQuery(@Nullable String view, @Nullable String name, @Nullable String filter, @Nullable String sort,
		@Nullable String range, @Nullable String find, @Nullable String cursor, int from) {

	static LiveQuery of(@Nullable String view, @Nullable String name, @Nullable String filter, @Nullable String sort,
			@Nullable String range, @Nullable String find, @Nullable String cursor, @Nullable String from) {
		int names = (from != null && from.matches("\\d{1,9}")) ? Integer.parseInt(from) : 0;
		return new LiveQuery(view, name, filter, sort, range, find, cursor, names);
	}

	boolean isFor(String view) {
		return view.equals(this.view);
	}

	/**
	 * Whether a name contains the filter.
	 */
	boolean matches(String name) {
		return this.filter == null || name.toLowerCase(Locale.ROOT).contains(this.filter.toLowerCase(Locale.ROOT));
	}

}
