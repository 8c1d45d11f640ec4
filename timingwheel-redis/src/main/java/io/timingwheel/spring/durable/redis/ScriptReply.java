package io.timingwheel.spring.durable.redis;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * How it went with a call of a script.
 *
 * @param values what it has returned, {@code null} if it failed
 * @param failure why it failed, {@code null} if it did not
 */
record ScriptReply(@Nullable Fields values, @Nullable RuntimeException failure) {

	/**
	 * What it has returned.
	 * @throws RuntimeException if it failed
	 */
	Fields fields() {
		if (this.failure != null) {
			throw this.failure;
		}
		Assert.state(this.values != null, "No reply");
		return this.values;
	}

}
