package io.timingwheel.spring.aop.internal;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
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

	private final List<AnnotatedMethods<? extends Annotation>> annotated = List.of(
			new AnnotatedMethods<>(Delayed.class), new AnnotatedMethods<>(CancelDelayed.class),
			new AnnotatedMethods<>(Recurring.class), new AnnotatedMethods<>(Timeout.class));

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
		Class<?> beanClass = bean.getBeanClass();
		List<AnnotatedMethod> methods = new ArrayList<>();
		this.annotated.forEach((annotated) -> annotated.of(beanClass)
			.forEach((method, annotation) -> methods.add(new AnnotatedMethod(method, annotation, beanClass))));
		if (methods.isEmpty()) {
			return null;
		}
		ConfigurableListableBeanFactory beanFactory = bean.getBeanFactory();
		return (generationContext, code) -> methods
			.forEach((method) -> method.registerHints(generationContext.getRuntimeHints(), beanFactory));
	}

	private record AnnotatedMethod(Method method, Annotation annotation, Class<?> beanClass) {

		void registerHints(RuntimeHints hints, ConfigurableListableBeanFactory beanFactory) {
			hints.reflection().registerMethod(this.method, ExecutableMode.INVOKE);
			if (this.annotation instanceof Timeout timeout && StringUtils.hasText(timeout.fallback())) {
				// Which of the methods with this name is called depends on the
				// parameters.
				ReflectionUtils.doWithMethods(this.beanClass,
						(fallback) -> hints.reflection().registerMethod(fallback, ExecutableMode.INVOKE),
						(candidate) -> candidate.getName().equals(timeout.fallback()));
			}
			if (this.annotation instanceof Delayed delayed && delayed.durable()) {
				BINDING.registerReflectionHints(hints.reflection(),
						AnnotatedMethods.argumentTypes(this.method, this.beanClass).toArray(Type[]::new));
			}
			expressions().filter(StringUtils::hasText).forEach((text) -> {
				ArgumentExpression expression = ArgumentExpression
					.parse("@" + this.annotation.annotationType().getSimpleName(), text, this.method, beanFactory);
				if (!expression.isArgument()) {
					new ExpressionHints(hints.reflection(), this.method, expression, beanFactory)
						.register(expression.syntaxTree());
				}
			});
		}

		private Stream<String> expressions() {
			if (this.annotation instanceof Delayed delayed) {
				return Stream.of(delayed.key(), delayed.delayExpression());
			}
			if (this.annotation instanceof CancelDelayed cancelDelayed) {
				return Stream.of(cancelDelayed.key());
			}
			return (this.annotation instanceof Timeout timeout) ? Stream.of(timeout.timeoutExpression())
					: Stream.empty();
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
