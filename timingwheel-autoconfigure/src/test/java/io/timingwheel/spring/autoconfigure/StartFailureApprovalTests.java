package io.timingwheel.spring.autoconfigure;

import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.support.Approved;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.test.tools.SourceFile;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * An annotation or a property that cannot take effect stops the start, and a user reads
 * what is wrong and how to mend it. The approved files have the texts.
 */
@ExtendWith(OutputCaptureExtension.class)
class StartFailureApprovalTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, AopAutoConfiguration.class,
				TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class));

	private final StartFailureLines lines = new StartFailureLines();

	@Test
	void eachDelayedMethodThatCannotTakeEffectStopsTheStart() {
		verify("start-failures-delayed",
				"""
						private | @Delayed("1s") private void run() { }
						private, with lazy beans [spring.main.lazy-initialization=true] | @Delayed("1s") private void run() { }
						static | @Delayed("1s") static void run() { }
						final | @Delayed("1s") public final void run() { }
						of a final class | public final class Bean { @Delayed("1s") public void run() { } }
						returns int | @Delayed("1s") public int run() { return 1; }
						returns Mono | @Delayed("1s") public Mono<String> run() { return null; }
						final class without an interface | @Proxyable(ProxyType.INTERFACES) public final class Bean {
						| @Delayed("1s") public void run() { } }
						final class with a class proxy | @Proxyable(ProxyType.TARGET_CLASS) public final class Bean implements Runnable {
						| @Delayed("1s") public void run() { } }
						cancel at the completion of a hot publisher | @Delayed(delay = "1s", name = "hot") public void run() { }
						| @CancelDelayed(name = "hot", key = "#id") public ConnectableFlux<String> pay(long id) { return null; }
						async | @Async @Delayed("1s") public Future<String> run() { return null; }
						async class | @Async public class Bean { @Delayed("1s") public void run() { } }
						unknown executor | @Delayed(delay = "1s", executor = "nobody") public void run() { }
						executor that is none | @Delayed(delay = "1s", executor = "text") public void run() { }
						| @Bean String text() { return ""; }
						delay that is none | @Delayed("banana") public void run() { }
						delay of a property that is none [fruit=banana] | @Delayed("${fruit}") public void run() { }
						delay of an absent property | @Delayed("${fruit}") public void run() { }
						broken delay of a bean | @Delayed("#{1 +}") public void run() { }
						name of a bean that is null | @Delayed(delay = "1s", name = "#{null}") public void run() { }
						broken name of a bean to cancel | @CancelDelayed(name = "#{1 +}", key = "#id") public void run(long id) { }
						negative expiry | @Delayed(delay = "1s", expireAfter = "-5s") public void run() { }
						two delays | @Delayed(delay = "1s", delayExpression = "#id") public void run(long id) { }
						no delay | @Delayed public void run() { }
						value and delay | @Delayed(value = "1s", delay = "2s") public void run() { }
						broken key | @Delayed(delay = "1s", key = "#id.(") public void run(long id) { }
						unknown argument | @Delayed(delay = "1s", key = "#orderId") public void run(long id) { }
						one name | @Delayed(delay = "1s", name = "same") public void first() { }
						| @Delayed(delay = "1s", name = "same") public void second() { }
						one name in two beans | @Delayed(delay = "1s", name = "same") public void first() { }
						| public static class Other { @Delayed(delay = "1s", name = "same") public void second() { } }
						overloads | @Delayed("1s") public void run(long id) { } @Delayed("1s") public void run(String id) { }
						slash in the name [team=a/] | @Delayed(delay = "1s", name = "${team}b") public void run() { }
						slash in the name of the bean | @Bean("/orders") Orders orders() { return new Orders(); }
						| static class Orders { @Delayed("1s") public void run() { } }
						durable | @Delayed(delay = "1h", durable = true) public void run() { }
						cancel of an unknown name | @CancelDelayed(name = "unknown", key = "#id") public void cancel(long id) { }
						| public static class Other { @Delayed(delay = "1s", name = "good") public void run() { } }
						cancel of an unknown name beside a lazy bean | @CancelDelayed(name = "unknown", key = "#id") public void cancel(long id) { }
						| public static class Other { @Delayed(delay = "1s", name = "good") public void run() { } }
						| @Bean @Lazy Runnable later() { return () -> { }; }
						name of a recurring method | @Delayed(delay = "1s", name = "report") public void later() { }
						| public static class Other { @Recurring(every = "1h", name = "report") public void run() { } }
						cancel without a key | @CancelDelayed(name = "unknown", key = "") public void cancel() { }
						cancel by an unknown argument | @CancelDelayed(name = "unknown", key = "#orderId") public void cancel(long id) { }
						private cancel | @CancelDelayed(name = "unknown", key = "#id") private void cancel(long id) { }
						""");
	}

	@Test
	void eachRecurringMethodThatCannotTakeEffectStopsTheStart() {
		verify("start-failures-recurring", """
				cron that is none | @Recurring(cron = "every morning") public void run() { }
				cron that never matches | @Recurring(cron = "0 0 0 30 2 *") public void run() { }
				cron of an absent property | @Recurring(cron = "${report.cron}") public void run() { }
				period that is none | @Recurring(every = "soon") public void run() { }
				pause of nothing | @Recurring(fixedDelay = "0") public void run() { }
				negative initial delay | @Recurring(every = "5s", initialDelay = "-1s") public void run() { }
				no time | @Recurring public void run() { }
				two times | @Recurring(cron = "@daily", every = "1h") public void run() { }
				zone without cron | @Recurring(every = "1h", zone = "Europe/Berlin") public void run() { }
				zone that is none | @Recurring(cron = "@daily", zone = "Berlin") public void run() { }
				cron with an initial delay | @Recurring(cron = "@daily", initialDelay = "1m") public void run() { }
				with arguments | @Recurring(every = "1h") public void run(String text) { }
				returns text | @Recurring(every = "1h") public String run() { return ""; }
				async | @Async @Recurring(every = "1h") public void run() { }
				delayed too | @Delayed("1s") @Recurring(every = "1h") public void run() { }
				one name in two beans | @Recurring(every = "1h", name = "report") public void run() { }
				| public static class Other { @Recurring(every = "1h", name = "report") public void run() { } }
				name of a delayed method | @Recurring(every = "1h", name = "report") public void run() { }
				| public static class Other { @Delayed(delay = "1s", name = "report") public void later() { } }
				behind an interface | @Bean Runnable hidden() { return new Hidden(); }
				| static class Hidden implements Runnable { @Recurring public void run() { } }
				durable | @Recurring(every = "1h", durable = true) public void run() { }
				""");
	}

	@Test
	void eachTimeoutThatCannotTakeEffectStopsTheStart() {
		verify("start-failures-timeout",
				"""
						private | @Timeout("1s") private void run() { }
						private, behind a @Bean method | @Bean Runnable hidden() { return new Hidden(); }
						| static class Hidden implements Runnable { public void run() { limited(); } @Timeout("1s") private void limited() { } }
						static | @Timeout("1s") static void run() { }
						final | @Timeout("1s") public final void run() { }
						final, behind an interface [spring.aop.proxy-target-class=false] | public final class Bean implements Runnable {
						| @Timeout("1s") public void run() { } }
						of a final class | public final class Bean { @Timeout("1s") public void run() { } }
						on a final class | @Timeout("1s") public final class Bean { public void run() { } }
						on a class of final methods | @Timeout("1s") public class Bean { public final void run() { } }
						limit that is none | @Timeout("banana") public void run() { }
						limit of a class that is none | @Timeout("banana") public class Bean { public void run() { } }
						limit of an absent property | @Timeout("${nowhere}") public void run() { }
						limit of a lazy bean that is none | @Bean @Lazy Late bean() { throw new IllegalStateException(); }
						| static class Late { @Timeout("banana") public void run() { } }
						limit of a bean, broken | @Timeout("#{1 +}") public void run() { }
						limit of an absent bean | @Timeout("#{nobody.limit}") public void run() { }
						limit of a bean, zero | @Timeout("#{0}") public void run() { }
						zero | @Timeout("0s") public void run() { }
						negative | @Timeout("-1s") public void run() { }
						no limit | @Timeout public void run() { }
						limit and expression | @Timeout(timeout = "1s", timeoutExpression = "#a") public void run(Duration a) { }
						value and timeout | @Timeout(value = "1s", timeout = "2s") public void run() { }
						broken expression | @Timeout(timeoutExpression = "#a +") public void run(int a) { }
						unknown argument | @Timeout(timeoutExpression = "#b") public void run(int a) { }
						unknown fallback | @Timeout(timeout = "1s", fallback = "absent") public String run(int a, List<String> b) { return ""; }
						fallback with other parameters | @Timeout(timeout = "1s", fallback = "instead") public int run(int a) { return a; }
						| int instead(long a) { return 1; }
						fallback with another exception | @Timeout(timeout = "1s", fallback = "instead") public int run(int a) { return a; }
						| int instead(int a, TimeoutException timeout) { return 1; }
						fallback of another type | @Timeout(timeout = "1s", fallback = "instead") public int run() { return 1; }
						| String instead() { return ""; }
						fallback of another future | @Timeout(timeout = "1s", fallback = "instead")
						| public CompletableFuture<String> run() { return null; } CompletableFuture<Integer> instead() { return null; }
						fallback of void with a result | @Timeout(timeout = "1s", fallback = "instead") public void run() { }
						| int instead() { return 1; }
						fallback to itself | @Timeout(timeout = "1s", fallback = "run") public void run() { }
						""");
	}

	@Test
	void eachTimeoutWhoseWorkComesAfterTheReturnAndCannotBeLimitedStopsTheStart() {
		verify("start-failures-later-results",
				"""
						Supplier | @Timeout("1s") public Supplier<String> run() { return null; }
						Supplier, on the class | @Timeout("1s") public class Bean { public Supplier<String> run() { return null; } }
						Supplier, as a type variable | interface Loader<T> { @Timeout("1s") T run(); }
						| public static class Nested implements Loader<Supplier<String>> { public Supplier<String> run() { return null; } }
						Stream | @Timeout("1s") public Stream<String> run() { return null; }
						Iterator | @Timeout("1s") public Iterator<String> run() { return null; }
						Callable | @Timeout("1s") public Callable<String> run() { return null; }
						DeferredResult | @Timeout("1s") public DeferredResult<String> run() { return null; }
						own future | @Timeout("1s") public Own run() { return null; } class Own extends CompletableFuture<String> { }
						own stage | @Timeout("1s") public Own run() { return null; } interface Own extends CompletionStage<String> { }
						streaming body | @Timeout("1s") public StreamingResponseBody run() { return null; }
						emitter | @Timeout("1s") public SseEmitter run() { return null; }
						ConnectableFlux | @Timeout("1s") public ConnectableFlux<String> run() { return null; }
						ParallelFlux | @Timeout("1s") public ParallelFlux<String> run() { return null; }
						FutureTask | @Timeout("1s") public FutureTask<String> run() { return null; }
						page that is a Supplier | @Timeout("1s") public Page run() { return null; }
						| interface Page extends Iterable<String>, Supplier<Stream<String>> { }
						record that is a Supplier | @Timeout("1s") public Email run() { return null; }
						| record Email(String get) implements Supplier<String> { }
						enum that is a Supplier | @Timeout("1s") public Level run() { return null; }
						| enum Level implements Supplier<String> { LOW; public String get() { return "low"; } }
						""");
	}

	@Test
	void eachPolicyThatMakesNoSenseStopsTheStart() {
		verify("start-failures-policies",
				"""
						negative limit | @Delayed(delay = "1s", policy = @TaskPolicy(maxConcurrent = -1)) public void run() { }
						rate that is none | @Delayed(delay = "1s", policy = @TaskPolicy(rate = "fast")) public void run() { }
						short longest backoff | @Delayed(delay = "1s", policy = @TaskPolicy(maxAttempts = 2,
						| backoff = @Backoff(initial = "2s", max = "1s"))) public void run() { }
						multiplier below one | @Delayed(delay = "1s", policy = @TaskPolicy(maxAttempts = 2,
						| backoff = @Backoff(multiplier = 0.5))) public void run() { }
						backoff without attempts | @Delayed(delay = "1s", policy = @TaskPolicy(backoff = @Backoff(initial = "2s")))
						| public void run() { }
						backoff of one attempt | @Delayed(delay = "1s", policy = @TaskPolicy(maxAttempts = 1,
						| backoff = @Backoff(initial = "2s"))) public void run() { }
						limit per key without a key | @Delayed(delay = "1s", policy = @TaskPolicy(maxConcurrentPerKey = 1))
						| public void run() { }
						limit per key of a property [timingwheel.tasks.clean.max-concurrent-per-key=1]
						| | @Delayed(delay = "1s", name = "clean") public void run() { }
						limit per key of a schedule [timingwheel.tasks.clean.max-concurrent-per-key=1]
						| | @Recurring(every = "1h", name = "clean") public void run() { }
						backoff of a property [timingwheel.tasks.clean.backoff.initial=2s]
						| | @Recurring(every = "1h", name = "clean") public void run() { }
						jitter of a property [timingwheel.tasks.clean.backoff.jitter=0]
						| | @Recurring(every = "1h", name = "clean") public void run() { }
						backoff of a property, and attempts [timingwheel.tasks.clean.backoff.initial=2s timingwheel.tasks.clean.max-attempts=2]
						| | @Recurring(every = "1h", name = "clean") public void run() { }
						backoff of a property, and attempts switched off [timingwheel.tasks.clean.backoff.initial=2s timingwheel.tasks.clean.max-attempts=1]
						| | @Recurring(every = "1h", name = "clean") public void run() { }
						longest wait without a key | @Delayed(delay = "1s", maxWait = "5s") public void run() { }
						longest wait of an update | @Delayed(delay = "1s", maxWait = "5s", key = "'k'",
						| ifPending = io.timingwheel.spring.task.IfPending.UPDATE) public void run() { }
						negative longest wait | @Delayed(delay = "1s", maxWait = "-5s", key = "'k'") public void run() { }
						""");
	}

	/** Such a bean would silently have no advice. */
	@Test
	void eachBeanThatIsCreatedBeforeItsAdviceStopsTheStart() {
		verify("start-failures-early-beans",
				"""
						needed by a post-processor | EARLY NEEDY @Bean static Needy needy(Runnable early) { return new Needy(); }
						needed by a prior one | EARLY @Bean static First needy(Runnable early) { return new First(); }
						| static class First extends Needy implements PriorityOrdered { } NEEDY
						needed through another bean | EARLY NEEDY @Bean static Object between(Runnable early) { return new Object(); }
						| @Bean static Needy needy(@Qualifier("between") Object between) { return new Needy(); }
						needed by a factory post-processor | EARLY
						| @Bean static BeanFactoryPostProcessor needy(Runnable early) { return (factory) -> { }; }
						fetched by a factory post-processor | EARLY
						| @Bean static BeanFactoryPostProcessor needy() { return (factory) -> factory.getBean("early"); }
						made a prototype | EARLY NEEDY @Bean static Needy needy(Runnable early) { return new Needy(); }
						| @Bean static BeanFactoryPostProcessor prototypes() {
						| return (factory) -> factory.getBeanDefinition("early").setScope("prototype"); }
						with a limit | LIMITED NEEDY @Bean static Needy needy(Runnable early) { return new Needy(); }
						with a cancel | CANCELLING NEEDY @Bean static Needy needy(Runnable early) { return new Needy(); }
						with a schedule | RECURRING NEEDY @Bean static Needy needy(Runnable early) { return new Needy(); }
						configuration of a post-processor that is not static | @Configuration public class Bean {
						| @Delayed("1s") public void run() { } NEEDY @Bean Needy needy() { return new Needy(); } }
						post-processor | public class Bean implements BeanPostProcessor, Ordered {
						| @Delayed("1s") public void run() { } public int getOrder() { return 0; } }
						factory post-processor | public class Bean implements BeanFactoryPostProcessor { @Delayed("1s") public void run() { }
						| public void postProcessBeanFactory(ConfigurableListableBeanFactory factory) { } }
						"""
					.replace("EARLY", early("@Delayed(\"1s\")"))
					.replace("LIMITED", early("@Timeout(\"1s\")"))
					.replace("CANCELLING", early("@CancelDelayed(name = \"a\", key = \"1\")"))
					.replace("RECURRING", early("@Recurring(every = \"1h\")"))
					.replace("NEEDY", "static class Needy implements BeanPostProcessor, Ordered {"
							+ " public int getOrder() { return 0; } }"));
	}

	private static String early(String annotation) {
		return "@Bean static Runnable early() { return new Early(); }"
				+ " static class Early implements Runnable { %s public void run() { } }".formatted(annotation);
	}

	/**
	 * An expression that fails at each call stops the start, and one that may work does
	 * not.
	 */
	@Test
	void eachExpressionThatCanNeverBeComputedStopsTheStart() {
		List<Case> cases = new ArrayList<>();
		cases.addAll(Case.expressions("@Delayed(delay = \"10s\", key = \"%s\")", """
				id
				order.id
				'x' + id
				{id, 2}
				ordr
				toString()
				[0]
				#root.args[0]
				#this
				#{id}
				'all'
				#order?.id
				#lines.?[price > 3].![id]
				#lines[0].id
				#map[id]
				@bean.key(#id)
				T(java.lang.Math).max(#a0, 3)
				new java.util.Date(#id)
				"""));
		cases.addAll(Case.expressions("@CancelDelayed(name = \"any\", key = \"%s\")", """
				id
				"""));
		cases.addAll(Case.expressions("@Delayed(delayExpression = \"%s\")", """
				ttl
				#order.ttl
				"""));
		cases.addAll(Case.expressions("@Timeout(timeoutExpression = \"%s\")", """
				ttl
				#ttl
				"""));
		verify("start-failures-expressions", cases);
	}

	@Test
	void eachPropertyThatMakesNoSenseStopsTheStart() {
		for (String property : List.of("timingwheel.tick=0", "timingwheel.tick=25h", "timingwheel.tick=banana",
				"timingwheel.max-pending=0", "timingwheel.max-pending=banana", "timingwheel.shutdown.pending=banana",
				"timingwheel.shutdown.await-termination-period=-1s", "timingwheel.health.max-lag=0",
				"timingwheel.timeout.limits.quotes.quote=0", "timingwheel.timeout.limits.quotes.quote=soon",
				"timingwheel.timeout.limits.quotes.quote=-1s", "timingwheel.timeout.limits.quotes.quote=",
				"timingwheel.timeout.order=banana", "timingwheel.timeout.problem-details=banana",
				"timingwheel.task-scheduler.enabled=banana", "timingwheel.store.type=banana",
				"timingwheel.store.type=jdbc", "timingwheel.store.type=redis",
				"timingwheel.tasks.[billing/close].rate=5/s", "timingwheel.tasks.order.max-attempts=0",
				"timingwheel.tasks.order.max-attempts=many", "timingwheel.tasks.order.max-concurrent=0",
				"timingwheel.tasks.order.max-concurrent-per-key=-1", "timingwheel.tasks.order.rate=5",
				"timingwheel.tasks.order.rate=0/s", "timingwheel.tasks.order.rate=5/y", "timingwheel.tasks.order.rate=",
				"timingwheel.tasks.order.backoff.initial=-1s", "timingwheel.tasks.order.backoff.initial=soon",
				"timingwheel.tasks.order.backoff.multiplier=0.5", "timingwheel.tasks.order.backoff.jitter=1.5",
				"timingwheel.tasks.order.backoff.max=-5s",
				"timingwheel.tasks.order.backoff.max=5s timingwheel.tasks.order.backoff.initial=10s",
				"timingwheel.tasks.order.paused=perhaps")) {
			this.lines.fail(property, this.runner.withPropertyValues(property.split(" ")));
		}
		this.lines.fail("timingwheel.health.max-lag=0, with a wheel of the application",
				this.runner.withPropertyValues("timingwheel.health.max-lag=0")
					.withBean(TimingWheel.class,
							() -> TimingWheel.builder(Runnable::run).timeSource(new ManualTimeSource()).build()));
		Approved.verify(getClass(), "start-failures-properties", this.lines.lines());
	}

	@ParameterizedTest
	@ValueSource(strings = { "max-pending", "maxPending" })
	void theLogNamesThePropertyAndItsOriginAndShowsNoStack(String spelling, CapturedOutput output) {
		assertThatException()
			.isThrownBy(() -> new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
				.run("--timingwheel." + spelling + "=0"));
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Invalid value '0' for configuration property 'timingwheel.max-pending'")
			.contains("commandLineArgs")
			.contains("leave it unset for no limit")
			.doesNotContain("\tat ");
	}

	@Test
	void theExceptionSaysTheSameInOneLine() {
		var method = ReflectionUtils.findMethod(CharSequence.class, "charAt", int.class);
		assertThat(new InvalidAnnotatedMethodException(method, "@Timeout is on a private method", "make it public"))
			.hasMessage("java.lang.CharSequence#charAt(int): @Timeout is on a private method; make it public");
	}

	/** Starts an application with each bean of a table. */
	private void verify(String approved, String table) {
		verify(approved, Case.read(table));
	}

	private void verify(String approved, List<Case> cases) {
		TestCompiler.forSystem()
			.withCompilerOptions("-parameters")
			.withSources(cases.stream().map(Case::source).toList())
			.compile((compiled) -> cases.forEach((start) -> this.lines.start(start.title(),
					this.runner.withClassLoader(compiled.getClassLoader()).withPropertyValues(start.properties()),
					start.beans(compiled.getClassLoader()))));
		Approved.verify(getClass(), approved, this.lines.lines());
	}

	@ImportAutoConfiguration({ TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class })
	static class Application {

	}

	/**
	 * A row of a table: a title, properties in brackets, and the members of a bean or its
	 * whole class. Public nested classes are beans, too.
	 */
	private record Case(String title, String name, String code, String... properties) {

		private static final AtomicInteger number = new AtomicInteger();

		private static final String IMPORTS = Stream
			.of("java.time.*", "java.util.*", "java.util.concurrent.*", "java.util.function.*", "java.util.stream.*",
					"io.timingwheel.spring.annotation.Backoff", "io.timingwheel.spring.annotation.CancelDelayed",
					"io.timingwheel.spring.annotation.Delayed", "io.timingwheel.spring.annotation.Recurring",
					"io.timingwheel.spring.annotation.TaskPolicy", "io.timingwheel.spring.annotation.Timeout",
					"reactor.core.publisher.*", "org.springframework.beans.factory.annotation.Qualifier",
					"org.springframework.beans.factory.config.*", "org.springframework.core.*",
					"org.springframework.context.annotation.*", "org.springframework.context.annotation.Scope",
					"org.springframework.scheduling.annotation.Async",
					"org.springframework.web.context.request.async.DeferredResult",
					"org.springframework.web.servlet.mvc.method.annotation.*")
			.map((type) -> "import " + type + ";\n")
			.reduce("", String::concat);

		static List<Case> read(String table) {
			return table.replace("\n| ", " ").lines().map((line) -> {
				String[] parts = line.split(" \\| ", 2);
				String title = parts[0].replaceFirst(" \\[.*", "");
				String properties = parts[0].replaceFirst(".* \\[(.*)]", "$1");
				StringBuilder name = new StringBuilder();
				Stream.of(title.split("\\W+"))
					.forEach((word) -> name.append(Character.toUpperCase(word.charAt(0))).append(word.substring(1)));
				return new Case(title, name + "Bean", parts[1],
						properties.equals(parts[0]) ? new String[0] : properties.split(" "));
			}).toList();
		}

		/** A method with each of the expressions. */
		static List<Case> expressions(String annotation, String expressions) {
			String method = " public void call(long id, Order order, List lines, Map map, Duration ttl) { }"
					+ " public record Order(long id, Duration ttl) { }";
			String kind = annotation.replaceAll("\\W", "");
			return expressions.lines()
				.map((text) -> new Case(annotation.formatted(text), kind + number.incrementAndGet(),
						annotation.formatted(text) + method))
				.toList();
		}

		SourceFile source() {
			String type = this.code.contains("class Bean")
					? this.code.replace("class Bean ", "class " + this.name + " ")
					: "public class " + this.name + " { " + this.code + " }";
			return SourceFile.of("app/" + this.name + ".java", "package app;\n" + IMPORTS + type);
		}

		Class<?>[] beans(ClassLoader classes) {
			Class<?> bean = ClassUtils.resolveClassName("app." + this.name, classes);
			return Stream.concat(Stream.of(bean), Stream.of(bean.getDeclaredClasses()))
				.filter((type) -> Modifier.isPublic(type.getModifiers()) && !type.isRecord())
				.toArray(Class<?>[]::new);
		}

	}

}
