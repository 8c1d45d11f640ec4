package io.timingwheel.spring.aop;

import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.annotation.AnnotationDescription;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.implementation.StubMethod;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An expression that fails at each call stops the start. An expression that may work does
 * not.
 */
class ImpossibleExpressionTests {

	private static final AtomicInteger number = new AtomicInteger();

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class));

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '^', value = {
			"id | names id, which is no argument without a #; did you mean #id?", "order.id | did you mean #order?",
			"'x' + id | did you mean #id?", "#id > 5 ? id : 1 | did you mean #id?",
			"#order.plus(id) | did you mean #id?", "{id, 2} | did you mean #id?", "ordr | did you mean #order?",
			"toString() | calls toString() on no object", "[0] | needs an object before it",
			"#idd | use the name of a parameter: did you mean #id?", "#root.args[0] | there is no root object",
			"#this | there is no root object", "#order.idd | names idd, which Order does not have",
			"#order.customer.nam | names nam, which Customer does not have",
			"#order.clos() | names clos(), which Order does not have", "#name.lenght() | which String does not have",
			"#id.value | which Long does not have", "T(java.time.Duratoin).ofDays(1) | which does not exist",
			"T(java.time.Duration).ofDayz(#id) | which Duration does not have", "null | gives null",
			"#order.close() | gives null", "#id = 5 | assigns a value", "#id++ | assigns a value",
			"#{id} | without braces", "#unknown(#id) | names #unknown" })
	void aKeyThatCanNeverBeComputedStopsTheStart(String text, String problem) {
		for (Object annotation : List.of(delayed("10s", "", text), cancelDelayed(text))) {
			assertFails(annotation, problem);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "#id", "'all'", "5", "#order.id", "#order.customer.name", "#order.customer()",
			"#order?.id", "#open.anything", "#open.anything()", "#any.thing", "#lines.![id]",
			"#lines.?[price > 3].size()", "#lines[0].id", "#map[id]", "#map['id']", "#optional?.id", "#array.length",
			"{id: #id}", "@bean.key(#id)", "@later.key", "T(java.lang.Math).max(#id, 3)", "#name?:'none'",
			"new java.util.Date(#id)", "#id + ':' + #name", "#p0 == 1 ? 'a' : 'b'", "#name.length()", "#name.bytes",
			"#open", "T(int)" })
	void aKeyThatMayBeComputedStarts(String text) {
		assertStarts(delayed("10s", "", text));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '^',
			value = { "ttl | did you mean #ttl?", "'30s' | gives a String", "#name | gives a String",
					"#open | gives a Open", "#date | gives a Date", "#id > 5 | gives a Boolean",
					"#id + 'ms' | gives a String", "#order.customer.name | gives a String", "null | gives null" })
	void aDelayThatCanNeverBeComputedStopsTheStart(String text, String problem) {
		assertFails(delayed("", text, ""), problem);
	}

	@ParameterizedTest
	@ValueSource(strings = { "#ttl", "#id", "#instant", "#any", "5000", "#order.ttl", "#id * 1000",
			"T(java.time.Duration).ofDays(#id)" })
	void aDelayThatMayBeComputedStarts(String text) {
		assertStarts(delayed("", text, ""));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '^', value = { "ttl | did you mean #ttl?", "'soon' | is unusable",
			"#instant | gives a Instant", "#order.tll | which Order does not have" })
	void aLimitThatCanNeverBeComputedStopsTheStart(String text, String problem) {
		assertFails(timeout(text), problem);
	}

	@ParameterizedTest
	@ValueSource(strings = { "#ttl", "#name", "'800ms'", "#any", "#id" })
	void aLimitThatMayBeComputedStarts(String text) {
		assertStarts(timeout(text));
	}

	private void assertFails(Object annotation, String problem) {
		this.runner.withBean("bean", beanClass(annotation))
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining(problem.strip()));
	}

	private void assertStarts(Object annotation) {
		Class<?> beanClass = beanClass(annotation);
		this.runner.withClassLoader(beanClass.getClassLoader())
			.withBean("bean", beanClass)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private static AnnotationDescription delayed(String delay, String expression, String key) {
		return AnnotationDescription.Builder.ofType(Delayed.class)
			.define("delay", delay)
			.define("delayExpression", expression)
			.define("key", key)
			.build();
	}

	private static AnnotationDescription cancelDelayed(String key) {
		return AnnotationDescription.Builder.ofType(CancelDelayed.class)
			.define("name", "any")
			.define("key", key)
			.build();
	}

	private static AnnotationDescription timeout(String expression) {
		return AnnotationDescription.Builder.ofType(Timeout.class).define("timeoutExpression", expression).build();
	}

	/**
	 * A class with an annotated method.
	 */
	private static Class<?> beanClass(Object annotation) {
		return new ByteBuddy().subclass(Object.class)
			.name("generated.Bean" + number.incrementAndGet())
			.defineMethod("call", void.class, Visibility.PUBLIC)
			.withParameter(long.class, "id")
			.withParameter(String.class, "name")
			.withParameter(Order.class, "order")
			.withParameter(Open.class, "open")
			.withParameter(Object.class, "any")
			.withParameter(List.class, "lines")
			.withParameter(Map.class, "map")
			.withParameter(Optional.class, "optional")
			.withParameter(String[].class, "array")
			.withParameter(Duration.class, "ttl")
			.withParameter(Instant.class, "instant")
			.withParameter(Date.class, "date")
			.intercept(StubMethod.INSTANCE)
			.annotateMethod((AnnotationDescription) annotation)
			.make()
			.load(ImpossibleExpressionTests.class.getClassLoader(), ClassLoadingStrategy.Default.WRAPPER)
			.getLoaded();
	}

	public record Order(long id, Duration ttl, Customer customer) {

		public void close() {
		}

		public Order plus(long other) {
			return this;
		}

	}

	public record Customer(String name) {
	}

	public static class Open {

	}

}
