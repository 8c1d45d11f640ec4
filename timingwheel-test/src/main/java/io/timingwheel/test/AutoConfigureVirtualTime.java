package io.timingwheel.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Gives an application under test a {@link VirtualTime}: its delayed tasks, in memory and
 * in a store, its {@code @Timeout} methods and its {@code TaskScheduler} on the wheel go
 * by one clock, which stands still until the test moves it.
 *
 * <pre class="code">
 * &#64;SpringBootTest
 * &#64;AutoConfigureVirtualTime
 * class OrderTests {
 *
 *     &#64;Autowired VirtualTime time;
 *
 *     &#64;Autowired Orders orders;
 *
 *     &#64;Test
 *     void unpaidOrdersClose() {
 *         orders.create(42);
 *         time.advance(Duration.ofMinutes(30));
 *         assertThat(orders.get(42)).isClosed();
 *     }
 *
 * }
 * </pre>
 *
 * <p>
 * Each test method begins with nothing pending, so <b>all tasks in the store are
 * deleted</b> before and after it. The annotation also brings the auto-configuration of
 * timingwheel into a slice, such as {@code @WebMvcTest}.
 *
 * @since 0.1
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
public @interface AutoConfigureVirtualTime {

}
