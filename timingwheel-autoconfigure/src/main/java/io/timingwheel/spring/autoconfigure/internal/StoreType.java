package io.timingwheel.spring.autoconfigure.internal;

/**
 * The stores of durable tasks: the values of {@code timingwheel.store.type}. Conditions
 * read this property, so no field of a class holds it.
 */
public enum StoreType {

	NONE, JDBC, REDIS;

	public static final String PROPERTY = "timingwheel.store.type";

}
