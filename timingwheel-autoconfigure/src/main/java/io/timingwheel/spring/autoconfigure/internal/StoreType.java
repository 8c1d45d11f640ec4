package io.timingwheel.spring.autoconfigure.internal;

/**
 * The stores of durable tasks: the values of {@code timingwheel.store.type}. Conditions
 * read this property, so no field of a class holds it.
 */
public enum StoreType {

	/** No store. There are no durable tasks. */
	NONE,

	/** The application's relational database. */
	JDBC,

	/** Redis, through Lettuce. */
	REDIS;

	/** The name of the property. */
	public static final String PROPERTY = "timingwheel.store.type";

}
