package io.timingwheel.spring.aop.delayed;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.annotation.AliasFor;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.advanceAndAwait;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.counts;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.pending;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code @Delayed} takes effect wherever the annotation is and however the bean is
 * proxied.
 */
class DelayedProxyTests {

	private static final List<String> calls = new CopyOnWriteArrayList<>();

	private static final AtomicInteger instances = new AtomicInteger();

	private final ApplicationContextRunner runner = DelayedContexts.runner();

	@BeforeEach
	void reset() {
		calls.clear();
		instances.set(0);
	}

	@Test
	void foundOnTheInterfacesMethod() {
		this.runner.withBean("service", Service.class, ServiceImpl::new).run((context) -> {
			context.getBean(Service.class).expire("1");
			assertRuns(context, "service.expire", "expire 1");
		});
	}

	@Test
	@SuppressWarnings("unchecked")
	void aReturnTypeMayBeATypeVariableThatTheClassOrTheDefinitionOfTheBeanKnows() {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withUserConfiguration(GenericJobs.class)
			.run((context) -> {
				Job<CompletableFuture<String>> inherited = context.getBean("inherited", Job.class);
				CompletableFuture<String> first = inherited.run();
				Job<DelayedTask<String>> lambda = context.getBean("lambda", Job.class);
				DelayedTask<String> second = lambda.run();
				advanceAndAwait(context, Duration.ofSeconds(2));
				assertThat(first).succeedsWithin(60, TimeUnit.SECONDS).isEqualTo("inherited");
				assertThat(second).succeedsWithin(60, TimeUnit.SECONDS).isEqualTo("lambda");
			});
		this.runner.withUserConfiguration(GenericJobOfOtherType.class)
			.run((context) -> assertThat(context).getFailure()
				.isExactlyInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("@Delayed is on a method that returns java.util.concurrent.FutureTask"));
	}

	@Test
	void foundThroughAnInterfaceBasedProxy() {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean("service", ServiceImpl.class)
			.run((context) -> {
				Service service = context.getBean(Service.class);
				assertThat(AopUtils.isJdkDynamicProxy(service)).isTrue();
				service.expire("1");
				assertRuns(context, "service.expire", "expire 1");
			});
	}

	@Test
	@SuppressWarnings("unchecked")
	void foundOnTheClassThroughAnInterfaceBasedProxy() {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean("handler", OrderHandler.class)
			.run((context) -> {
				Handler<Long> handler = context.getBean(Handler.class);
				assertThat(AopUtils.isJdkDynamicProxy(handler)).isTrue();
				handler.handle(42L);
				assertThat(context.getBean(DelayedTaskRegistry.class).memoryTasks().first("handler.handle", 10))
					.hasSize(1)
					.allMatch((task) -> "42".equals(task.key()));
				assertRuns(context, "handler.handle", "handle 42");
			});
	}

	@Test
	@SuppressWarnings({ "unchecked", "rawtypes" })
	void foundBehindABridgeMethod() {
		this.runner.withBean("handler", OrderHandler.class).run((context) -> {
			Handler handler = context.getBean(Handler.class);
			assertThat(AopUtils.isCglibProxy(handler)).isTrue();
			handler.handle(42L);
			assertRuns(context, "handler.handle", "handle 42");
		});
	}

	@Test
	void foundOnTheOverriddenMethodOfASuperclass() {
		this.runner.withBean("sub", SubService.class).run((context) -> {
			context.getBean(SubService.class).inherited();
			context.getBean(SubService.class).overridden();
			assertThat(counts(context, "sub.inherited").pending()).isOne();
			assertThat(counts(context, "sub.overridden").pending()).isOne();
			advanceAndAwait(context, Duration.ofSeconds(11));
			assertThat(calls).containsExactlyInAnyOrder("inherited", "overridden in sub");
		});
	}

	@Test
	void foundThroughAComposedAnnotation() {
		this.runner.withBean("orders", ComposedOrders.class).run((context) -> {
			context.getBean(ComposedOrders.class).close(42);
			assertThat(context.getBean(DelayedTaskRegistry.class).memoryTasks().first("close-unpaid", 10)).hasSize(1)
				.allMatch((task) -> "42".equals(task.key()));
			advanceAndAwait(context, Duration.ofMinutes(29));
			assertThat(calls).isEmpty();
			advanceAndAwait(context, Duration.ofMinutes(2));
			assertThat(calls).containsExactly("close 42");
		});
	}

	@Test
	void foundOnABeanMethodThatDeclaresAnInterface() {
		this.runner.withUserConfiguration(HiddenBehindInterface.class).run((context) -> {
			context.getBean(Plain.class).hidden();
			assertRuns(context, "plain.hidden", "hidden");
		});
	}

	@Test
	void foundOnTheInterfaceOfAnObjectWithoutAClassOfItsOwn() {
		this.runner.withBean("service", Service.class,
				() -> ProxyFactory.getProxy(Service.class, (MethodInterceptor) (invocation) -> {
					calls.add("expire " + invocation.getArguments()[0]);
					return null;
				}))
			.run((context) -> {
				context.getBean(Service.class).expire("1");
				assertRuns(context, "service.expire", "expire 1");
			});
		calls.clear();
		InvocationHandler handler = (proxy, method, arguments) -> {
			if (method.getDeclaringClass() == Service.class) {
				calls.add("expire " + arguments[0]);
			}
			return switch (method.getName()) {
				case "hashCode" -> 1;
				case "equals" -> proxy == arguments[0];
				case "toString" -> "handled";
				default -> null;
			};
		};
		this.runner
			.withBean("service", Service.class,
					() -> (Service) Proxy.newProxyInstance(getClass().getClassLoader(),
							new Class<?>[] { Service.class }, handler))
			.run((context) -> {
				context.getBean(Service.class).expire("1");
				assertRuns(context, "service.expire", "expire 1");
			});
	}

	@Test
	void foundOnTheObjectOfAFactory() {
		this.runner.withBean("service", ServiceFactory.class).run((context) -> {
			context.getBean(Service.class).expire("1");
			assertRuns(context, "service.expire", "expire 1");
		});
	}

	@Test
	void worksOnPackagePrivateMethods() {
		this.runner.withBean("service", PackagePrivate.class).run((context) -> {
			context.getBean(PackagePrivate.class).run();
			assertRuns(context, "service.run", "package-private");
		});
	}

	@Test
	void worksWithoutAutoProxying() {
		this.runner.withPropertyValues("spring.aop.auto=false")
			.withBean("service", ServiceImpl.class)
			.run((context) -> {
				context.getBean(ServiceImpl.class).expire("1");
				assertRuns(context, "service.expire", "expire 1");
			});
	}

	@Test
	void scopedProxiesAreRegisteredUnderTheirPublicName() {
		this.runner.withUserConfiguration(ScopedBeans.class).run((context) -> {
			DelayedTaskRegistry tasks = context.getBean(DelayedTaskRegistry.class);
			assertThat(tasks.names()).contains("cart.expire").noneMatch((name) -> name.contains("scopedTarget"));
			context.getBean(Cart.class).expire("1");
			assertRuns(context, "cart.expire", "cart 1");
			assertThat(tasks.names()).noneMatch((name) -> name.contains("scopedTarget"));
		});
	}

	@Test
	void theScanDoesNotInstantiateLazyBeans() {
		this.runner.withUserConfiguration(LazyBeans.class).run((context) -> {
			assertThat(instances).hasValue(0);
			assertThat(context.getBean(DelayedTaskRegistry.class).names()).contains("lazyService.run");
			context.getBean(LazyService.class).run();
			assertThat(instances).hasValue(1);
			assertRuns(context, "lazyService.run", "lazy");
		});
	}

	@Test
	void worksUnderLazyInitialization() {
		this.runner.withPropertyValues("spring.main.lazy-initialization=true")
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.withBean("lazyService", LazyService.class)
			.run((context) -> {
				assertThat(instances).hasValue(0);
				assertThat(context.getBean(DelayedTaskRegistry.class).names()).contains("lazyService.run");
				context.getBean(LazyService.class).run();
				assertRuns(context, "lazyService.run", "lazy");
			});
	}

	@Test
	void selfInvocationIsNotIntercepted() {
		this.runner.withBean("service", ServiceImpl.class).run((context) -> {
			context.getBean(ServiceImpl.class).callsItself();
			assertThat(calls).containsExactly("expire self");
			assertThat(pending(context)).isZero();
		});
	}

	private static void assertRuns(BeanFactory context, String name, String call) {
		assertThat(counts(context, name).pending()).isOne();
		assertThat(calls).isEmpty();
		advanceAndAwait(context, Duration.ofSeconds(11));
		assertThat(calls).containsExactly(call);
	}

	interface Service {

		@Delayed(delay = "10s", key = "#id")
		void expire(String id);

	}

	static class ServiceImpl implements Service {

		@Override
		public void expire(String identifier) {
			calls.add("expire " + identifier);
		}

		public void callsItself() {
			expire("self");
		}

	}

	static class ServiceFactory implements FactoryBean<Service> {

		@Override
		public Service getObject() {
			return new ServiceImpl();
		}

		@Override
		public Class<?> getObjectType() {
			return Service.class;
		}

	}

	interface Handler<T> {

		void handle(T payload);

	}

	static class OrderHandler implements Handler<Long> {

		@Override
		@Delayed(delay = "10s", key = "#orderId")
		public void handle(Long orderId) {
			calls.add("handle " + orderId);
		}

	}

	static class BaseService {

		@Delayed("10s")
		public void inherited() {
			calls.add("inherited");
		}

		@Delayed("10s")
		public void overridden() {
			calls.add("overridden in base");
		}

	}

	static class SubService extends BaseService {

		@Override
		public void overridden() {
			calls.add("overridden in sub");
		}

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@Delayed(delay = "30m", key = "#orderId")
	@interface AfterPaymentWindow {

		@AliasFor(annotation = Delayed.class, attribute = "name")
		String task();

	}

	static class ComposedOrders {

		@AfterPaymentWindow(task = "close-unpaid")
		public void close(long orderId) {
			calls.add("close " + orderId);
		}

	}

	interface Plain {

		void hidden();

	}

	@Configuration(proxyBeanMethods = false)
	static class HiddenBehindInterface {

		@Bean
		Plain plain() {
			return new Plain() {

				@Override
				@Delayed("10s")
				public void hidden() {
					calls.add("hidden");
				}

			};
		}

	}

	static class PackagePrivate {

		@Delayed("10s")
		void run() {
			calls.add("package-private");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ScopedBeans {

		@Bean
		static BeanFactoryPostProcessor threadScope() {
			return (factory) -> factory.registerScope("thread", new SimpleThreadScope());
		}

		@Bean
		@Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
		Cart cart() {
			return new Cart();
		}

	}

	static class Cart {

		@Delayed("10s")
		public void expire(String id) {
			calls.add("cart " + id);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyBeans {

		@Bean
		@Lazy
		LazyService lazyService() {
			return new LazyService();
		}

	}

	static class LazyService {

		LazyService() {
			if (getClass() == LazyService.class) {
				instances.incrementAndGet();
			}
		}

		@Delayed("10s")
		public void run() {
			calls.add("lazy");
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
		InheritedJob inherited() {
			return new InheritedJob();
		}

		@Bean
		Job<DelayedTask<String>> lambda() {
			return () -> DelayedTask.completed("lambda");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class GenericJobOfOtherType {

		@Bean
		Job<FutureTask<String>> lambda() {
			return () -> new FutureTask<>(() -> "");
		}

	}

}
