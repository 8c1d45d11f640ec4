package io.timingwheel.spring.durable.support;

/**
 * Objects of a type cannot be stored. Not one of Jackson's exceptions, nor one that these
 * would wrap without a trace.
 */
final class UnsupportedTypeException extends RuntimeException {

	private final String remedy;

	UnsupportedTypeException(Class<?> type, String problem, String remedy) {
		super(type.getTypeName() + " " + problem);
		this.remedy = remedy;
	}

	/**
	 * What to change, in the imperative.
	 */
	String remedy() {
		return this.remedy;
	}

}
