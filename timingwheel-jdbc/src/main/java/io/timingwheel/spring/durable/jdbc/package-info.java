/**
 * The store of durable tasks in a relational database, through Spring JDBC.
 */
@NullMarked
package io.timingwheel.spring.durable.jdbc;

import org.jspecify.annotations.NullMarked;
