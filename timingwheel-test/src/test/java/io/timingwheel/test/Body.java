package io.timingwheel.test;

/**
 * What a task of a test does.
 */
@FunctionalInterface
interface Body {

	Body NOTHING = (key) -> {
	};

	void run(String key) throws Exception;

}
