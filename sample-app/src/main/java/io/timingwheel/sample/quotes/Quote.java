package io.timingwheel.sample.quotes;

/**
 * A price.
 *
 * @param item the item
 * @param cents its price
 */
record Quote(String item, int cents) {
}
