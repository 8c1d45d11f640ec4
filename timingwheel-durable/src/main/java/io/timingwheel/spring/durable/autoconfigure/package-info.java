/**
 * Auto-configuration of durable tasks for Spring Boot. Applications use the properties.
 */
@NullMarked
package io.timingwheel.spring.durable.autoconfigure;

import org.jspecify.annotations.NullMarked;
