package io.timingwheel.spring.durable.jdbc;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Qualifies the store's data source: the {@code DataSource} through which the nodes
 * claim, begin, renew and acknowledge durable tasks. This data source leads to the same
 * database as the application's data source, but has its own connections, which the
 * application cannot use up. Tasks are still stored, cancelled and rescheduled through
 * the application's data source, in the application's transactions.
 *
 * @since 0.1
 */
@Target({ ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier
public @interface TimingWheelDataSource {

}
