/** Auto-configuration of the JDBC store. Applications use the properties. */
@NullMarked
package io.timingwheel.spring.durable.jdbc.autoconfigure;

import org.jspecify.annotations.NullMarked;
