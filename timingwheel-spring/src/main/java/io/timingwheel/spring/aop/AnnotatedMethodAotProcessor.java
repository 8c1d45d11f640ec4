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
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.task.internal.SecurityContextExecutors;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * Registers the hints that timingwheel needs in a native image. For each annotated method
 * these are the method itself and its fallback, the types that its SpEL expressions use,
 * and the types of arguments that are stored as JSON. There are also hints for the
 * optional libraries that timingwheel looks up by name. The annotations are
 * {@code @Reflective}, so Spring registers the methods that declare the annotations.
 * Spring also registers the proxies.
 */
class AnnotatedMethodAotProcessor implements BeanRegistrationAotProcessor, RuntimeHintsRegistrar {

	private static final List<String> OPTIONAL_TYPES = List.of("reactor.core.publisher.Flux",
			"reactor.core.publisher.Mono", "kotlinx.coroutines.reactor.MonoKt",
			"org.springframework.transaction.support.TransactionSynchronizationManager",
			"org.springframework.transaction.reactive.TransactionSynchronizationManager",
			"org.springframework.web.context.request.async.DeferredResult",
			"org.springframework.web.context.request.async.WebAsyncTask");

	private static final BindingReflectionHintsRegistrar BINDING = new BindingReflectionHintsRegistrar();

	private final List<Reader<?>> readers = List.of(
			new Reader<>(Delayed.class, (delayed) -> Stream.of(delayed.key(), delayed.delayExpression())),
			new Reader<>(CancelDelayed.class, (cancelDelayed) -> Stream.of(cancelDelayed.key())),
			new Reader<>(Recurring.class, (recurring) -> Stream.empty()),
			new Reader<>(Timeout.class, (timeout) -> Stream.of(timeout.timeoutExpression())));

	/**
	 * Whether the application is being processed ahead of time. During this processing
	 * Spring creates proxy classes but no beans, and the properties of the running
	 * application are unknown.
	 */
	static boolean isActive() {
		return Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING);
	}

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		OPTIONAL_TYPES.forEach((type) -> hints.reflection().registerTypeIfPresent(classLoader, type));
		hints.reflection()
			.registerTypeIfPresent(classLoader, SecurityContextExecutors.BASE_TYPE,
					MemberCategory.INVOKE_DECLARED_METHODS, MemberCategory.ACCESS_DECLARED_FIELDS);
	}

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
			.forEach((method) -> method.registerHints(generationContext.getRuntimeHints(), beanFactory));
	}

	/**
	 * Finds the methods with one annotation.
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
								storedTypes(method, annotation, beanClass), fallbacks(annotation, beanClass))));
		}

		private static List<Type> storedTypes(Method method, Annotation annotation, Class<?> beanClass) {
			return (annotation instanceof Delayed delayed && delayed.durable())
					? AnnotatedMethods.argumentTypes(method, beanClass) : List.of();
		}

		/**
		 * Returns all methods with the name of the fallback. Which of them is called
		 * depends on their parameters.
		 */
		private static List<Method> fallbacks(Annotation annotation, Class<?> beanClass) {
			List<Method> methods = new ArrayList<>();
			if (annotation instanceof Timeout timeout && StringUtils.hasText(timeout.fallback())) {
				ReflectionUtils.doWithMethods(beanClass, methods::add,
						(method) -> method.getName().equals(timeout.fallback()));
			}
			return methods;
		}

	}

	private record AnnotatedMethod(String annotation, Method method, List<String> expressions, List<Type> storedTypes,
			List<Method> fallbacks) {

		void registerHints(RuntimeHints hints, ConfigurableListableBeanFactory beanFactory) {
			hints.reflection().registerMethod(this.method, ExecutableMode.INVOKE);
			this.fallbacks.forEach((fallback) -> hints.reflection().registerMethod(fallback, ExecutableMode.INVOKE));
			BINDING.registerReflectionHints(hints.reflection(), this.storedTypes.toArray(Type[]::new));
			for (String text : this.expressions) {
				ArgumentExpression expression = ArgumentExpression.parse(this.annotation, text, this.method,
						beanFactory);
				if (!expression.isArgument()) {
					new ExpressionHints(hints.reflection(), this.method, expression, beanFactory)
						.register(expression.syntaxTree());
				}
			}
		}

	}

	/**
	 * Registers what an expression uses by reflection: the public methods of the
	 * arguments, beans and types that the expression names, and the properties of the
	 * arguments with the types of these properties.
	 */
	private record ExpressionHints(ReflectionHints hints, Method method, ArgumentExpression expression,
			ConfigurableListableBeanFactory beanFactory) {

		void register(SpelNode node) {
			if (node instanceof VariableReference variable) {
				int position = this.expression.position(variable);
				if (position >= 0) {
					register(this.method.getParameterTypes()[position]);
					BINDING.registerReflectionHints(this.hints, this.method.getGenericParameterTypes()[position]);
				}
			}
			else if (node instanceof BeanReference) {
				String name = node.toStringAST().substring(1).replace("'", "");
				register(this.beanFactory.containsBean(name) ? this.beanFactory.getType(name) : null);
			}
			else if (node instanceof TypeReference) {
				String name = node.getChild(0).toStringAST();
				ClassLoader classLoader = this.beanFactory.getBeanClassLoader();
				register(ClassUtils.isPresent(name, classLoader) ? ClassUtils.resolveClassName(name, classLoader)
						: null);
			}
			for (int i = 0; i < node.getChildCount(); i++) {
				register(node.getChild(i));
			}
		}

		private void register(@Nullable Class<?> type) {
			if (type != null && !type.isPrimitive()) {
				this.hints.registerType(ClassUtils.getUserClass(type), MemberCategory.INVOKE_PUBLIC_METHODS,
						MemberCategory.ACCESS_PUBLIC_FIELDS);
			}
		}

	}

}
