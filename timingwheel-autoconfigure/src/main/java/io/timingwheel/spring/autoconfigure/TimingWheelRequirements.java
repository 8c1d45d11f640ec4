package io.timingwheel.spring.autoconfigure;

import java.util.List;

import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import io.timingwheel.spring.autoconfigure.internal.StoreType;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Checks what a condition cannot report: that the class path has the libraries that the
 * store needs. The check precedes that of the annotated methods, which would report that
 * there is no store. Ahead-of-time processing does not know the environment yet.
 */
class TimingWheelRequirements implements BeanFactoryPostProcessor, Ordered {

	private static final List<Library> LIBRARIES = List.of(
			new Library(StoreType.JDBC, "io.timingwheel.spring.durable.jdbc.JdbcDelayedTaskStore",
					"the module of the JDBC store is not on the class path", "io.timingwheel:timingwheel-jdbc"),
			new Library(StoreType.JDBC, "org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer",
					"Spring JDBC is not on the class path", "org.springframework.boot:spring-boot-starter-jdbc"),
			new Library(StoreType.REDIS, "io.timingwheel.spring.durable.redis.RedisDelayedTaskStore",
					"the module of the Redis store is not on the class path", "io.timingwheel:timingwheel-redis"),
			new Library(StoreType.REDIS, "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
					"Spring Data Redis is not on the class path",
					"org.springframework.boot:spring-boot-starter-data-redis"),
			new Library(StoreType.REDIS, "io.lettuce.core.RedisClient",
					"Lettuce, the client that the Redis store needs, is not on the class path",
					"io.lettuce:lettuce-core"));

	private final Environment environment;

	TimingWheelRequirements(Environment environment) {
		this.environment = environment;
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		if (Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING)) {
			return;
		}
		StoreType type = Binder.get(this.environment).bind(StoreType.PROPERTY, StoreType.class).orElse(StoreType.NONE);
		@Nullable ClassLoader classLoader = beanFactory.getBeanClassLoader();
		if (BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, StoredTasks.class, true,
				false).length == 0) {
			LIBRARIES.stream()
				.filter((library) -> library.type() == type)
				.forEach((library) -> PropertyChecks.check(ClassUtils.isPresent(library.className(), classLoader),
						StoreType.PROPERTY, type, library.remedy()));
		}
	}

	private record Library(StoreType type, String className, String problem, String dependency) {

		String remedy() {
			return this.problem + "; add the dependency " + this.dependency;
		}

	}

}
