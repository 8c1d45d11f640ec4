package io.timingwheel.spring.durable.jdbc;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Qualifies the {@code DataSource} with which nodes claim, begin and settle durable
 * tasks. It leads to the same database as the application's, but has its own connections,
 * which the application cannot use up. Tasks are still stored, cancelled and rescheduled
 * in the application's transactions.
 *
 * @since 0.1
 */
@Target({ ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier
public @interface TimingWheelDataSource {

}
