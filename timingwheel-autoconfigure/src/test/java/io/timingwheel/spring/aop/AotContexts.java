package io.timingwheel.spring.aop;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.autoconfigure.TimingWheelEndpointAutoConfiguration;

import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.javapoet.ClassName;

/**
 * Processes application contexts ahead of time. Their wheels run in virtual time. A test
 * that starts such a context has to be annotated with
 * {@link CompileWithForkedClassLoader}, because the generated code is in the packages of
 * the configuration classes.
 */
final class AotContexts {

	private static final AtomicInteger STARTS = new AtomicInteger();

	private final Class<?>[] components;

	private final String[] properties;

	private AotContexts(Class<?>[] components, String[] properties) {
		this.components = components;
		this.properties = properties;
	}

	static AotContexts of(Class<?>... components) {
		return new AotContexts(components, new String[0]);
	}

	/**
	 * Returns contexts that have properties both at the processing and at the start.
	 */
	AotContexts withProperties(String... properties) {
		return new AotContexts(this.components, properties);
	}

	/**
	 * Processes the context.
	 * @return the hints for a native image
	 */
	RuntimeHints process() {
		TestGenerationContext generationContext = new TestGenerationContext();
		process(generationContext);
		return generationContext.getRuntimeHints();
	}

	/**
	 * Processes the context and starts it from the generated code.
	 * @param test uses the started context
	 * @param propertiesAtStart properties that are unknown during the processing
	 */
	void run(Consumer<ConfigurableApplicationContext> test, String... propertiesAtStart) {
		start((context, refresh) -> {
			refresh.run();
			test.accept(context);
		}, propertiesAtStart);
	}

	/**
	 * Processes the context and creates it from the generated code.
	 * @param test takes the context, and a callback that refreshes the context
	 * @param propertiesAtStart properties that are unknown during the processing
	 */
	void start(BiConsumer<ConfigurableApplicationContext, Runnable> test, String... propertiesAtStart) {
		// A class loader takes the classes of several contexts if their names differ.
		TestGenerationContext generationContext = new TestGenerationContext(
				new ClassNameGenerator(TestGenerationContext.TEST_TARGET, "Start" + STARTS.incrementAndGet()));
		ClassName initializerName = process(generationContext);
		generationContext.writeGeneratedContent();
		TestCompiler.forSystem().with(generationContext).compile((compiled) -> {
			try (GenericApplicationContext context = new GenericApplicationContext()) {
				TestPropertyValues.of(this.properties).and(propertiesAtStart).applyTo(context);
				initialize(context,
						compiled.getInstance(ApplicationContextInitializer.class, initializerName.canonicalName()));
				test.accept(context, context::refresh);
			}
		});
	}

	@SuppressWarnings("unchecked")
	private static void initialize(GenericApplicationContext context, ApplicationContextInitializer<?> initializer) {
		((ApplicationContextInitializer<GenericApplicationContext>) initializer).initialize(context);
	}

	private ClassName process(TestGenerationContext generationContext) {
		System.setProperty(AbstractAotProcessor.AOT_PROCESSING, "true");
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			TestPropertyValues.of(this.properties).applyTo(context);
			context.register(AutoConfigurations.class);
			for (Class<?> component : this.components) {
				context.register(component);
			}
			return new ApplicationContextAotGenerator().processAheadOfTime(context, generationContext);
		}
		finally {
			System.clearProperty(AbstractAotProcessor.AOT_PROCESSING);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ PropertyPlaceholderAutoConfiguration.class, AopAutoConfiguration.class,
			TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class,
			TimingWheelEndpointAutoConfiguration.class })
	static class AutoConfigurations {

		@Bean
		ManualTimeSource time() {
			return new ManualTimeSource();
		}

		@Bean
		TimingWheelBuilderCustomizer timeCustomizer(ManualTimeSource time) {
			return (builder) -> builder.timeSource(time);
		}

	}

}
