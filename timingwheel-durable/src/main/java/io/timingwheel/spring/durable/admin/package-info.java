/**
 * What operators see of durable tasks, and do with them. Applications use this package
 * through {@link io.timingwheel.spring.durable.DurableTaskAdmin} and the endpoints: its
 * types may change in any release.
 */
@NullMarked
package io.timingwheel.spring.durable.admin;

import org.jspecify.annotations.NullMarked;
