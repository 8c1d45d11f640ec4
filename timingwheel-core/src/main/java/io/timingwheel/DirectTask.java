package io.timingwheel;

/**
 * A task that the wheel runs on its own thread instead of handing it over to the
 * executor. While it runs no other timer of the wheel fires: it has to be short and must
 * never block. Not for code of the application.
 */
@FunctionalInterface
public interface DirectTask extends Runnable {

}
