package io.timingwheel;

/**
 * A task that the wheel runs on its own thread. No other timer of the wheel fires
 * meanwhile, so the task must be short and must never block. For libraries, not for
 * application code.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface DirectTask extends Runnable {

}
