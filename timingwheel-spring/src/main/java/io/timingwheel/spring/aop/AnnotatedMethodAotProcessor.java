package io.timingwheel.spring.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Timeout;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.util.StringUtils;

/**
 * Makes the methods with our annotations, what their SpEL expressions reach for, and the
 * arguments that are stored as JSON, accessible in a native image. The declarations that
 * bear the annotations are reachable as these are {@code @Reflective}; the proxies are
 * Spring's own care.
 */
class AnnotatedMethodAotProcessor implements BeanRegistrationAotProcessor {

	private final List<Reader<?>> readers = List.of(
			new Reader<>(Delayed.class, (delayed) -> Stream.of(delayed.key(), delayed.delayExpression())),
			new Reader<>(CancelDelayed.class, (cancelDelayed) -> Stream.of(cancelDelayed.key())),
			new Reader<>(Timeout.class, (timeout) -> Stream.of(timeout.timeoutExpression())));

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
		List<AnnotatedMethod> methods = new ArrayList<>();
		for (Reader<?> reader : this.readers) {
			reader.read(bean.getBeanClass(), methods);
		}
		if (methods.isEmpty()) {
			return null;
		}
		ConfigurableListableBeanFactory beanFactory = bean.getBeanFactory();
		return (generationContext, code) -> methods
			.forEach((method) -> method.contribute(generationContext.getRuntimeHints(), beanFactory));
	}

	/**
	 * Whether the application is being processed ahead of time. Proxy classes are created
	 * then, but no beans, and the properties of the running application are unknown.
	 */
	static boolean isActive() {
		return Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING);
	}

	/**
	 * Finds the methods with one of the annotations.
	 *
	 * @param <A> the annotation
	 */
	private static final class Reader<A extends Annotation> {

		private final String name;

		private final AnnotatedMethods<A> methods;

		private final Function<A, Stream<String>> expressions;

		Reader(Class<A> annotationType, Function<A, Stream<String>> expressions) {
			this.name = "@" + annotationType.getSimpleName();
			this.methods = new AnnotatedMethods<>(annotationType);
			this.expressions = expressions;
		}

		void read(Class<?> beanClass, List<AnnotatedMethod> result) {
			this.methods.of(beanClass)
				.forEach((method,
						annotation) -> result.add(new AnnotatedMethod(this.name, method,
								this.expressions.apply(annotation).filter(StringUtils::hasText).toList(),
								(annotation instanceof Delayed delayed && delayed.durable())
										? AnnotatedMethods.argumentTypes(method, beanClass) : List.of())));
		}

	}

	private record AnnotatedMethod(String annotation, Method method, List<String> expressions, List<Type> storedTypes) {

		void contribute(RuntimeHints hints, ConfigurableListableBeanFactory beanFactory) {
			hints.reflection().registerMethod(this.method, ExecutableMode.INVOKE);
			if (!this.storedTypes.isEmpty()) {
				new BindingReflectionHintsRegistrar().registerReflectionHints(hints.reflection(),
						this.storedTypes.toArray(Type[]::new));
			}
			this.expressions.forEach((text) -> ArgumentExpression.parse(this.annotation, text, this.method, beanFactory)
				.registerHints(hints, beanFactory));
		}

	}

}
