package io.timingwheel.spring.console;

/**
 * Adds the token against forged requests to the response of the current request, if the
 * application asks for such a token. Only a page of the same origin can read the header.
 */
@FunctionalInterface
interface CsrfTokenHeader {

	/** The name of the header. Its value is the name that requests use, and the token. */
	String NAME = "Timingwheel-Csrf";

	/** For applications without such tokens. */
	CsrfTokenHeader NONE = () -> {
	};

	void add();

	static String value(String name, String token) {
		return name + " " + token;
	}

}
