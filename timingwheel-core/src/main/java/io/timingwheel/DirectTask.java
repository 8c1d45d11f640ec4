package io.timingwheel;

/**
 * A task that the wheel runs on its own thread instead of handing it over to the
 * executor. No other timer of the wheel fires while the task runs, so the task must be
 * short and must never block. This type is meant for libraries, not for application code.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface DirectTask extends Runnable {

}
