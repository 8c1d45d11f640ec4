package io.timingwheel;

/**
 * Space before the fields of a subclass, against false sharing in a cache line and in the
 * neighbouring one that the processor fetches with it. The garbage collector may put any
 * object next to this one, so a subclass of the subclass declares the same space after
 * the fields. The JVM puts the fields of a class after those of its superclass.
 */
@SuppressWarnings("unused")
abstract class Padding {

	/** The JVM could otherwise put a field of the subclass here. */
	private int gap;

	private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14;

}
