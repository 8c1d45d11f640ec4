package io.timingwheel.spring.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.AbstractFactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ListFactoryBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.ProxyType;
import org.springframework.context.annotation.Proxyable;
import org.springframework.context.annotation.Role;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AliasFor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * The annotations take effect wherever they are, and however a bean is made and proxied.
 */
class AnnotatedBeansTests {

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication
		.of(PackagePrivate.class, OfNamelessBeans.class, TwinJob.class, InheritedJob.class, GenericJobs.class)
		.with("spring.aop.proxy-target-class=false");

	@ParameterizedTest
	@MethodSource
	void theAnnotationsWork(Class<?> beans, String property) {
		try (VirtualApplication application = VirtualApplication.of(beans)
			.with(property)
			.with(BeanFactoryPostProcessor.class,
					() -> (factory) -> factory.registerScope("thread", new SimpleThreadScope()))) {
			assertWorks(application);
			assertThat(application.bean(DelayedTaskRegistry.class).names()).containsExactly("close");
		}
	}

	static List<Arguments> theAnnotationsWork() {
		List<Arguments> cases = new ArrayList<>();
		for (Class<?> beans : List.of(DefaultOrders.class, OnHiddenClass.class, OverridingOrders.class,
				GenericOverridingOrders.class, ComposedOrders.class, LazyOrders.class, PrototypeOrders.class,
				OfProxy.class, OfRepository.class, OfClient.class, OfFactory.class, FinalOrders.class,
				NamedSubInterface.class)) {
			for (String property : List.of("spring.aop.proxy-target-class=true", "spring.aop.proxy-target-class=false",
					"spring.aop.auto=false")) {
				cases.add(Arguments.of(beans, property));
			}
		}
		cases.add(Arguments.of(ScopedOrders.class, "spring.aop.auto=true"));
		cases.add(Arguments.of(OfConfiguration.class, "spring.aop.auto=true"));
		return cases;
	}

	@ParameterizedTest
	@ValueSource(classes = { NeedyAdvisor.class, NeededByFactoryBean.class, LastPostProcessor.class,
			ProviderPostProcessor.class })
	void whatCreatesABeanLateEnoughKeepsTheAdvice(Class<?> early) {
		try (VirtualApplication application = VirtualApplication.of(early, EarlyOrders.class, EarlyPrototype.class)) {
			assertWorks(application);
			assertThat(application.tasks().find(TaskId.of("earlyOrders.report", "recurring"))).isPresent();
		}
	}

	@SuppressWarnings("unchecked")
	private static void assertWorks(VirtualApplication application) {
		Plain<Order> orders = application.bean(Plain.class);
		DelayedTaskOperations tasks = application.tasks();
		orders.close(new Order(1, Duration.ofHours(1)));
		orders.close(new Order(2, Duration.ofHours(2)));
		orders.pay(2);
		assertThat(tasks.find(TaskId.of("close", 1))).isPresent();
		assertThat(tasks.find(TaskId.of("close", 2))).isEmpty();
		assertThat(orders.quote(application)).isEqualTo("estimate");
		assertThat(app.calls()).isEmpty();
		application.advance(Duration.ofHours(1));
		assertThat(app.calls()).containsExactly("close 1");
	}

	@Test
	void aPackagePrivateMethodIsInterceptedAndACallWithinTheBeanIsNot(PackagePrivate bean) {
		bean.callsItself();
		assertThat(app.calls()).containsExactly("run");
		bean.run();
		assertThat(app.pending()).isOne();
	}

	@Test
	void eachBeanHasTasksOfItsOwn() {
		app.bean(Nameless.class).close(1);
		assertThat(app.tasks().find(TaskId.of("second.close", 1))).isPresent();
		assertThat(app.tasks().find(TaskId.of("first.close", 1))).isEmpty();
		app.context().getBean("first", Nameless.class).close(1);
		assertThat(app.bean(DelayedTaskRegistry.class).names()).contains("scoped.close")
			.noneMatch((name) -> name.contains("scopedTarget"));
		app.advance(Duration.ofHours(1));
		assertThat(app.calls()).containsExactlyInAnyOrder("first 1", "second 1");
	}

	@Test
	void eachPrototypeRunsItsOwnBody() {
		List<TwinJob> jobs = List.of(app.bean(TwinJob.class), app.bean(TwinJob.class));
		jobs.forEach(TwinJob::run);
		app.advance(Duration.ofHours(1));
		assertThat(jobs).allMatch((job) -> job.runs() == 1);
	}

	@Test
	void theNamesOfALazyBeanAreKnownBeforeItIsCreated() {
		try (VirtualApplication application = VirtualApplication.of(PackagePrivate.class).lazy()) {
			assertThat(application.bean(DelayedTaskRegistry.class).names()).containsExactly("packagePrivate.run");
			assertThat(application.context().getBeanFactory().containsSingleton("packagePrivate")).isFalse();
			application.bean(PackagePrivate.class).run();
			assertThat(application.pending()).isOne();
		}
	}

	@Test
	@SuppressWarnings("unchecked")
	void aReturnTypeMayBeATypeVariable() {
		CompletableFuture<String> first = ((Job<CompletableFuture<String>>) app.context()
			.getBean("inheritedJob", Job.class)).run();
		DelayedTask<String> second = ((Job<DelayedTask<String>>) app.context().getBean("lambda", Job.class)).run();
		app.advanceSeconds(1);
		assertThat(first).isCompletedWithValue("inherited");
		assertThat(second.completion()).isCompletedWithValue("lambda");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void theProductOfAFactoryBeanAndABeanThatIsRegisteredAfterTheStartRunByThemselves(boolean late) {
		try (VirtualApplication application = late ? VirtualApplication.of()
				: VirtualApplication.of(ReportFactory.class)) {
			application.context();
			if (late) {
				register(application, Report.class);
			}
			application.advanceSeconds(0);
			application.advance(Duration.ofHours(1));
			assertThat(app.calls()).containsExactly("report", "report");
		}
	}

	private static void register(VirtualApplication application, Class<?> bean) {
		application.context().registerBean("late", bean);
		application.context().getBean("late");
	}

	@ParameterizedTest
	@ValueSource(classes = { Report.class, WithTheNameOfTheReport.class })
	void aLateBeanCannotTakeTheNameOfAnotherMethod(Class<?> late) {
		try (VirtualApplication application = VirtualApplication.of(Report.class)) {
			application.context();
			assertThatException().isThrownBy(() -> register(application, late))
				.havingRootCause()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.withMessageContaining("belongs to " + Report.class.getName());
		}
	}

	record Order(long id, Duration window) {

	}

	interface Plain<T> {

		void close(T order);

		void pay(long id);

		String quote(VirtualApplication application);

	}

	interface SubInterface extends Plain<Order> {

	}

	interface Orders<T> extends Plain<T> {

		@Override
		@Delayed(delayExpression = "#order.window", name = "close", key = "#order.id")
		default void close(T order) {
			app.calls().add("close " + ((Order) order).id());
		}

		@Override
		@CancelDelayed(name = "close", key = "#id")
		default void pay(long id) {
		}

		@Override
		@Timeout(timeout = "10ms", fallback = "estimate")
		default String quote(VirtualApplication application) {
			application.advanceSeconds(1);
			return "late";
		}

		default String estimate(VirtualApplication application) {
			return "estimate";
		}

	}

	static class DefaultOrders implements Orders<Order> {

	}

	static class AnnotatedOrders implements Plain<Order> {

		@Override
		@Delayed(delayExpression = "#order.window", name = "close", key = "#order.id")
		public void close(Order order) {
			app.calls().add("close " + order.id());
		}

		@Override
		@CancelDelayed(name = "close", key = "#id")
		public void pay(long id) {
		}

		@Override
		@Timeout(timeout = "10ms", fallback = "estimate")
		public String quote(VirtualApplication application) {
			application.advanceSeconds(1);
			return "late";
		}

		private String estimate(VirtualApplication application) {
			return "estimate";
		}

	}

	/** A parameter has another name than in the annotated method. */
	static class OverridingOrders extends AnnotatedOrders {

		@Override
		public void close(Order other) {
			app.calls().add("close " + other.id());
		}

	}

	static class GenericOverridingOrders implements Orders<Order> {

		@Override
		public void close(Order other) {
			app.calls().add("close " + other.id());
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@Delayed(delayExpression = "#order.window", key = "#order.id")
	@interface AfterWindow {

		@AliasFor(annotation = Delayed.class, attribute = "name")
		String task();

	}

	static class ComposedOrders extends DefaultOrders {

		@Override
		@AfterWindow(task = "close")
		public void close(Order order) {
			super.close(order);
		}

	}

	@Lazy
	static class LazyOrders extends DefaultOrders {

	}

	@Scope("prototype")
	static class PrototypeOrders extends DefaultOrders {

	}

	@Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
	static class ScopedOrders extends DefaultOrders {

	}

	@Configuration(proxyBeanMethods = false)
	static class OnHiddenClass {

		@Bean
		Plain<Order> orders() {
			return new AnnotatedOrders();
		}

	}

	static class OfFactory extends AbstractFactoryBean<DefaultOrders> {

		@Override
		protected DefaultOrders createInstance() {
			return new DefaultOrders();
		}

		@Override
		public Class<?> getObjectType() {
			return DefaultOrders.class;
		}

	}

	@Configuration
	static class OfConfiguration implements Orders<Order> {

		@Bean
		String text() {
			return "text";
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OfProxy {

		@Bean
		@SuppressWarnings("unchecked")
		Orders<Order> orders() {
			InvocationHandler handler = (proxy, method, arguments) -> switch (method.getName()) {
				case "hashCode" -> 1;
				case "equals" -> proxy == arguments[0];
				case "toString" -> "orders";
				default -> InvocationHandler.invokeDefault(proxy, method, arguments);
			};
			return (Orders<Order>) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Orders.class },
					handler);
		}

	}

	/** As a repository of Spring Data: the target does not implement the interface. */
	@Configuration(proxyBeanMethods = false)
	static class OfRepository {

		@Bean
		@SuppressWarnings("unchecked")
		Orders<Order> orders() {
			ProxyFactory factory = new ProxyFactory();
			setTarget(factory);
			factory.setInterfaces(Orders.class);
			factory.addAdvice((MethodInterceptor) (invocation) -> InvocationHandler.invokeDefault(
					((ProxyMethodInvocation) invocation).getProxy(), invocation.getMethod(),
					invocation.getArguments()));
			return (Orders<Order>) factory.getProxy();
		}

		void setTarget(ProxyFactory factory) {
			factory.setTarget(new Object());
		}

	}

	/** As an HTTP interface client, which has no target. */
	static class OfClient extends OfRepository {

		@Override
		void setTarget(ProxyFactory factory) {
		}

	}

	static class EarlyOrders extends DefaultOrders {

		@Recurring(every = "100h")
		public void report() {
		}

	}

	@Scope("prototype")
	record EarlyPrototype(EarlyOrders orders) {

	}

	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static class NeedyAdvisor extends DefaultPointcutAdvisor {

		NeedyAdvisor(EarlyOrders orders) {
			super(new NameMatchMethodPointcut(), (MethodInterceptor) (invocation) -> invocation.proceed());
		}

	}

	record LastPostProcessor(EarlyOrders orders) implements BeanPostProcessor {

	}

	record ProviderPostProcessor(ObjectProvider<EarlyOrders> orders) implements BeanPostProcessor, Ordered {

		@Override
		public int getOrder() {
			return 0;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NeededByFactoryBean {

		@Bean
		@SuppressWarnings("rawtypes")
		static FactoryBean list(EarlyOrders orders) {
			ListFactoryBean factory = new ListFactoryBean();
			factory.setSourceList(List.of());
			return factory;
		}

	}

	@Proxyable(ProxyType.INTERFACES)
	static final class FinalOrders extends AnnotatedOrders {

	}

	@Proxyable(interfaces = SubInterface.class)
	static final class NamedSubInterface extends AnnotatedOrders implements SubInterface, Runnable {

		@Override
		public void run() {
		}

	}

	static class PackagePrivate {

		@Delayed("1h")
		void run() {
			app.calls().add("run");
		}

		public void callsItself() {
			run();
		}

	}

	@Scope("prototype")
	static class TwinJob {

		private int runs;

		@Delayed("1h")
		public void run() {
			this.runs++;
		}

		int runs() {
			return this.runs;
		}

	}

	interface Nameless {

		@Delayed(delay = "1h", key = "#id")
		void close(long id);

	}

	@Configuration(proxyBeanMethods = false)
	static class OfNamelessBeans {

		@Bean
		Nameless first() {
			return (id) -> app.calls().add("first " + id);
		}

		@Bean
		@Primary
		Nameless second() {
			return (id) -> app.calls().add("second " + id);
		}

		@Bean
		@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.INTERFACES)
		Nameless scoped() {
			return (id) -> {
			};
		}

	}

	interface Job<T extends Future<String>> {

		@Delayed("1s")
		T run();

	}

	abstract static class AbstractJob<T extends Future<String>> implements Job<T> {

		@Override
		@SuppressWarnings("unchecked")
		public T run() {
			return (T) CompletableFuture.completedFuture("inherited");
		}

	}

	static class InheritedJob extends AbstractJob<CompletableFuture<String>> {

	}

	@Configuration(proxyBeanMethods = false)
	static class GenericJobs {

		@Bean
		Job<DelayedTask<String>> lambda() {
			return () -> DelayedTask.completed("lambda");
		}

	}

	static class Report {

		@Recurring(every = "1h", name = "report")
		public void report() {
			app.calls().add("report");
		}

	}

	static class WithTheNameOfTheReport {

		@Delayed(delay = "1h", name = "report")
		public void remind() {
		}

	}

	static class ReportFactory implements FactoryBean<Report> {

		@Override
		public Report getObject() {
			return new Report();
		}

		@Override
		public Class<?> getObjectType() {
			return Report.class;
		}

	}

}
