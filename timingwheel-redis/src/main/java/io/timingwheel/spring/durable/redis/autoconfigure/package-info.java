/** Auto-configuration of the Redis store. Applications use the properties. */
@NullMarked
package io.timingwheel.spring.durable.redis.autoconfigure;

import org.jspecify.annotations.NullMarked;
