package io.timingwheel.spring.console;

import java.util.Locale;

import org.jspecify.annotations.Nullable;

/** Which figures a view of the page needs. */
record LiveQuery(@Nullable String view, @Nullable String name, @Nullable String filter, @Nullable String sort,
		@Nullable String range, @Nullable String find, @Nullable String cursor, @Nullable String from) {

	boolean isFor(String view) {
		return view.equals(this.view);
	}

	/** How many names are before the page of names. */
	int first() {
		return (this.from != null && this.from.matches("\\d{1,9}")) ? Integer.parseInt(this.from) : 0;
	}

	boolean matches(String name) {
		return this.filter == null || name.toLowerCase(Locale.ROOT).contains(this.filter.toLowerCase(Locale.ROOT));
	}

}
