package io.timingwheel.sample.orders;

import java.time.Instant;

/**
 * The orders as they were at one moment.
 *
 * @param createdAt when the report was made
 * @param total how many orders there were
 * @param paid how many of the newest orders were paid
 * @param closed how many of the newest orders were closed unpaid
 */
record OrderReport(Instant createdAt, int total, long paid, long closed) {
}
