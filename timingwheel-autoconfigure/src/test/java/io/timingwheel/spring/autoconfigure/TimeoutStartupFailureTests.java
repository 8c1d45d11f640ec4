package io.timingwheel.spring.autoconfigure;

import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.ConnectableFlux;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.ParallelFlux;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.ResponseEntity;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import static org.assertj.core.api.Assertions.assertThat;

class TimeoutStartupFailureTests {

	private final AtomicBoolean instantiated = new AtomicBoolean();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class))
		.withUserConfiguration(TimeoutConfiguration.class)
		.withBean("timingWheel", TimingWheel.class, () -> {
			this.instantiated.set(true);
			return TimingWheel.builder(Runnable::run).build();
		});

	@ParameterizedTest(name = "{0}")
	@MethodSource("invalidBeans")
	<T> void invalidAnnotationFailsBeforeAnyBeanIsCreated(Class<T> bean, String problem, String remedy) {
		this.runner.withBean(bean).run((context) -> {
			assertThat(context).getFailure().isExactlyInstanceOf(InvalidAnnotatedMethodException.class);
			FailureAnalysis analysis = new InvalidAnnotatedMethodFailureAnalyzer().analyze(context.getStartupFailure());
			assertThat(analysis).isNotNull();
			assertThat(analysis.getDescription()).contains(bean.getName() + "#limited(").containsIgnoringCase(problem);
			assertThat(analysis.getAction()).containsIgnoringCase(remedy);
			assertThat(this.instantiated).isFalse();
		});
	}

	static Stream<Arguments> invalidBeans() {
		return Stream.of(Arguments.of(OnPrivate.class, "@Timeout is on a private method", "make the method public"),
				Arguments.of(OnStatic.class, "@Timeout is on a static method", "make it an instance method"),
				Arguments.of(OnFinal.class, "@Timeout is on a final method", "remove the final modifier"),
				Arguments.of(OnFinalClass.class,
						"on a method of the final class " + OnFinalClass.class.getName() + ", which cannot be proxied",
						"remove the final modifier from the class"),
				Arguments.of(Unparsable.class, "\"banana\" is not a duration such as 500ms", "such as 800ms"),
				Arguments.of(Zero.class, "the limit \"0s\" of @Timeout is not positive", "set a positive duration"),
				Arguments.of(Negative.class, "the limit \"-1s\" of @Timeout is not positive",
						"set a positive duration"),
				Arguments.of(Nothing.class, "@Timeout has no limit", "set its value"),
				Arguments.of(Both.class, "@Timeout has both a timeout and a timeoutExpression", "remove one"),
				Arguments.of(Contradiction.class, "attribute 'timeout' and its alias 'value'", "set only one"),
				Arguments.of(BrokenExpression.class,
						"the expression \"#a +\" of @Timeout(timeoutExpression) cannot be parsed",
						"correct the SpEL expression"),
				Arguments.of(UnknownArgument.class, "names #b, which is no parameter", "use the name of a parameter"),
				Arguments.of(MissingFallback.class,
						"the fallback \"absent\" of @Timeout is no method of " + MissingFallback.class.getName(),
						"declare java.lang.String absent(int, List) in the class, optionally with a "
								+ "MethodTimeoutException as the last parameter"),
				Arguments.of(OtherParameters.class, "the fallback \"fallback\" of @Timeout has other parameters",
						"declare int fallback(int) in the class"),
				Arguments.of(OtherException.class, "the fallback \"fallback\" of @Timeout has other parameters",
						"declare int fallback(int) in the class"),
				Arguments.of(OtherReturnType.class, "the fallback \"fallback\" of @Timeout returns java.lang.String",
						"declare int fallback() in the class"),
				Arguments.of(OtherFuture.class, "returns java.util.concurrent.CompletableFuture<java.lang.Integer>",
						"declare java.util.concurrent.CompletableFuture<java.lang.String> fallback()"),
				Arguments.of(FallbackOfVoid.class, "the fallback \"fallback\" of @Timeout returns int",
						"declare void fallback() in the class"),
				Arguments.of(FallbackOfItself.class, "the fallback of @Timeout is the method itself",
						"name another method with the same parameters"),
				Arguments.of(FallbackOfTask.class, "a FutureTask cannot be completed from outside",
						"return a CompletableFuture or a Future"),
				Arguments.of(FinalClass.class, "of the final class " + FinalClass.class.getName(),
						"remove the final modifier from the class"),
				Arguments.of(AllFinal.class, "@Timeout is on a final method", "remove the final modifier"),
				Arguments.of(UnparsableClass.class, "\"banana\" is not a duration such as 500ms", "such as 800ms"));
	}

	@ParameterizedTest(name = "{0}")
	@ValueSource(classes = { OfSupplier.class, OfLongSupplier.class, OfStream.class, OfIterator.class, OfOptional.class,
			OfEntity.class, OfCallableEntity.class, OfStreamingBody.class, OfEmitter.class, OfMonoOfEntity.class,
			OfArray.class, OfConnectable.class, OfParallelFlux.class, OfOwnCallable.class, OfProvider.class,
			OfTypeVariable.class, OfClass.class })
	<T> void aResultThatComesLaterAndCannotBeLimitedStopsTheStart(Class<T> bean) {
		this.runner.withBean(bean).run((context) -> {
			assertThat(context).getFailure()
				.isExactlyInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("#limited(): @Timeout is on a method that returns ")
				.hasMessageContaining("; return ");
			assertThat(this.instantiated).isFalse();
		});
	}

	@Test
	void whatHoldsWhatItSuppliesIsAResult() {
		this.runner.withBean(OfPage.class).withBean(OfValues.class).run((context) -> {
			assertThat(context).hasNotFailed();
			OfValues values = context.getBean(OfValues.class);
			assertThat(values.any(new OfValues.Email("a@b"))).isEqualTo(new OfValues.Email("a@b"));
			assertThat(values.any(OfValues.Level.HIGH)).isSameAs(OfValues.Level.HIGH);
		});
	}

	@Test
	void textsThatCannotBeResolvedFailOnceTheBeansExist() {
		this.runner.withBean(Unresolvable.class)
			.run((context) -> assertThat(context).getFailure()
				.isExactlyInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("\"${nowhere}\" cannot be resolved"));
		this.runner.withBean(BrokenBeanExpression.class)
			.run((context) -> assertThat(context).getFailure()
				.isExactlyInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("\"#{1 +}\" cannot be parsed"));
		this.runner.withBean(AbsentBean.class)
			.run((context) -> assertThat(context).getFailure()
				.isExactlyInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("AbsentBean#limited(): ")
				.hasMessageContaining("\"#{nobody.limit}\" cannot be evaluated"));
		this.runner.withBean(NotPositiveBean.class)
			.run((context) -> assertThat(context).getFailure()
				.isExactlyInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("the limit \"#{0}\" of @Timeout is not positive"));
	}

	@Test
	void methodThatIsInNoInterfaceFailsWithInterfaceBasedProxies() {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean(NotInInterface.class)
			.run((context) -> assertThat(context).getFailure()
				.isExactlyInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("NotInInterface#limited(): @Timeout is on a method that is in no interface"));
		this.runner.withBean(NotInInterface.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void finalMethodIsValidWithInterfaceBasedProxies() {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean(FinalBehindInterface.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void annotationHiddenByABeanMethodFailsWhenTheBeanIsCreated() {
		this.runner.withUserConfiguration(HiddenConfiguration.class)
			.run((context) -> assertThat(context).getFailure()
				.hasRootCauseExactlyInstanceOf(InvalidAnnotatedMethodException.class)
				.hasRootCauseMessage(HiddenPrivate.class.getName()
						+ "#limited(): @Timeout is on a private method, which a proxy cannot intercept; "
						+ "make the method public, protected or package-private"));
	}

	static class OnPrivate {

		@Timeout("1s")
		private void limited() {
		}

		void call() {
			limited();
		}

	}

	static class OnStatic {

		@Timeout("1s")
		static void limited() {
		}

	}

	static class OnFinal {

		@Timeout("1s")
		public final void limited() {
		}

	}

	static final class OnFinalClass {

		@Timeout("1s")
		public void limited() {
		}

	}

	static class Unparsable {

		@Timeout("banana")
		public void limited() {
		}

	}

	static class Unresolvable {

		@Timeout("${nowhere}")
		public void limited() {
		}

	}

	static class Zero {

		@Timeout("0s")
		public void limited() {
		}

	}

	static class Negative {

		@Timeout("-1s")
		public void limited() {
		}

	}

	static class Nothing {

		@Timeout
		public void limited() {
		}

	}

	static class Both {

		@Timeout(timeout = "1s", timeoutExpression = "#limit")
		public void limited(Duration limit) {
		}

	}

	static class Contradiction {

		@Timeout(value = "1s", timeout = "2s")
		public void limited() {
		}

	}

	static class BrokenExpression {

		@Timeout(timeoutExpression = "#a +")
		public void limited(int a) {
		}

	}

	static class UnknownArgument {

		@Timeout(timeoutExpression = "#b")
		public void limited(int a) {
		}

	}

	static class BrokenBeanExpression {

		@Timeout("#{1 +}")
		public void limited() {
		}

	}

	static class MissingFallback {

		@Timeout(timeout = "1s", fallback = "absent")
		public String limited(int a, List<String> b) {
			return "";
		}

	}

	static class OtherParameters {

		@Timeout(timeout = "1s", fallback = "fallback")
		public int limited(int a) {
			return a;
		}

		int fallback(long a) {
			return 1;
		}

	}

	static class OtherException {

		@Timeout(timeout = "1s", fallback = "fallback")
		public int limited(int a) {
			return a;
		}

		int fallback(int a, TimeoutException timeout) {
			return 1;
		}

	}

	static class OtherReturnType {

		@Timeout(timeout = "1s", fallback = "fallback")
		public int limited() {
			return 1;
		}

		String fallback() {
			return "";
		}

	}

	static class OtherFuture {

		@Timeout(timeout = "1s", fallback = "fallback")
		public CompletableFuture<String> limited() {
			return new CompletableFuture<>();
		}

		CompletableFuture<Integer> fallback() {
			return new CompletableFuture<>();
		}

	}

	static class FallbackOfVoid {

		@Timeout(timeout = "1s", fallback = "fallback")
		public void limited() {
		}

		int fallback() {
			return 1;
		}

	}

	static class FallbackOfItself {

		@Timeout(timeout = "1s", fallback = "limited")
		public void limited() {
		}

	}

	static class FallbackOfTask {

		@Timeout(timeout = "1s", fallback = "fallback")
		public FutureTask<String> limited() {
			return new FutureTask<>(() -> "");
		}

		FutureTask<String> fallback() {
			return new FutureTask<>(() -> "");
		}

	}

	@Timeout("1s")
	static final class FinalClass {

		public void limited() {
		}

	}

	@Timeout("1s")
	static class AllFinal {

		public final void limited() {
		}

	}

	@Timeout("banana")
	static class UnparsableClass {

		public void limited() {
		}

	}

	static class AbsentBean {

		@Timeout("#{nobody.limit}")
		public void limited() {
		}

	}

	static class NotPositiveBean {

		@Timeout("#{0}")
		public void limited() {
		}

	}

	interface Other {

		void other();

	}

	static class NotInInterface implements Other {

		@Override
		public void other() {
		}

		@Timeout("1s")
		public void limited() {
		}

	}

	static final class FinalBehindInterface implements Other {

		@Override
		@Timeout("1s")
		public void other() {
		}

	}

	static class HiddenPrivate implements Other {

		@Override
		public void other() {
			limited();
		}

		@Timeout("1s")
		private void limited() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HiddenConfiguration {

		@Bean
		Other other() {
			return new HiddenPrivate();
		}

	}

	interface Page<T> extends Iterable<T>, Supplier<Stream<T>> {

	}

	static class OfPage {

		@Timeout("1s")
		public Page<String> limited() {
			throw new UnsupportedOperationException();
		}

	}

	static class OfValues {

		@Timeout("1s")
		public Email email() {
			throw new UnsupportedOperationException();
		}

		@Timeout("1s")
		public Set<Level> levels() {
			throw new UnsupportedOperationException();
		}

		@Timeout("1s")
		public Object any(Object value) {
			return value;
		}

		record Email(String get) implements Supplier<String> {

		}

		enum Level implements LongSupplier {

			LOW {

				@Override
				public long getAsLong() {
					return 1;
				}

			},
			HIGH {

				@Override
				public long getAsLong() {
					return 2;
				}

			}

		}

	}

	interface OwnCallable extends Callable<String> {

	}

	interface Loader<T> {

		@Timeout("1s")
		T limited();

	}

	static class OfTypeVariable implements Loader<Supplier<String>> {

		@Override
		public Supplier<String> limited() {
			return () -> "";
		}

	}

	@Timeout("1s")
	static class OfClass {

		public Supplier<String> limited() {
			return () -> "";
		}

	}

	static class OfSupplier {

		@Timeout("1s")
		public Supplier<String> limited() {
			throw new UnsupportedOperationException();
		}

	}

	static class OfLongSupplier {

		@Timeout("1s")
		public LongSupplier limited() {
			throw new UnsupportedOperationException();
		}

	}

	static class OfStream {

		@Timeout("1s")
		public Stream<String> limited() {
			throw new UnsupportedOperationException();
		}

	}

	static class OfIterator {

		@Timeout("1s")
		public Iterator<String> limited() {
			throw new UnsupportedOperationException();
		}

	}

	static class OfOptional {

		@Timeout("1s")
		public Optional<CompletableFuture<String>> limited() {
			throw new UnsupportedOperationException();
		}

	}

	static class OfEntity {

		@Timeout("1s")
		public ResponseEntity<Mono<String>> limited() {
			throw new UnsupportedOperationException();
		}

	}

	static class OfCallableEntity {

		@Timeout("1s")
		public ResponseEntity<Callable<String>> limited() {
			throw new UnsupportedOperationException();
		}

	}

	static class OfStreamingBody {

		@Timeout("1s")
		public StreamingResponseBody limited() {
			throw new UnsupportedOperationException();
		}

	}

	static class OfEmitter {

		@Timeout("1s")
		public SseEmitter limited() {
			throw new UnsupportedOperationException();
		}

	}

	static class OfMonoOfEntity {

		@Timeout("1s")
		public Mono<ResponseEntity<Flux<String>>> limited() {
			throw new UnsupportedOperationException();
		}

	}

	static class OfArray {

		@Timeout("1s")
		public Future<?>[] limited() {
			throw new UnsupportedOperationException();
		}

	}

	static class OfConnectable {

		@Timeout("1s")
		public ConnectableFlux<String> limited() {
			throw new UnsupportedOperationException();
		}

	}

	static class OfParallelFlux {

		@Timeout("1s")
		public ParallelFlux<String> limited() {
			throw new UnsupportedOperationException();
		}

	}

	static class OfOwnCallable {

		@Timeout("1s")
		public OwnCallable limited() {
			throw new UnsupportedOperationException();
		}

	}

	static class OfProvider {

		@Timeout("1s")
		public ObjectProvider<String> limited() {
			throw new UnsupportedOperationException();
		}

	}

}
