package io.timingwheel.spring.autoconfigure;

import java.util.Locale;

import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import io.timingwheel.spring.autoconfigure.internal.StoreType;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

/**
 * Checks what a condition cannot report: that there is a store of the type that a
 * property names. The check precedes that of the annotated methods, which would not name
 * the module to add. Ahead-of-time processing does not know the environment yet.
 */
class TimingWheelRequirements implements BeanFactoryPostProcessor, Ordered {

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
		String[] stores = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, StoredTasks.class, true,
				false);
		PropertyChecks.check(type == StoreType.NONE || stores.length > 0, StoreType.PROPERTY, type,
				"the module of this store, or a library that the module needs, is not on the class path; add the"
						+ " dependency io.timingwheel:timingwheel-" + type.name().toLowerCase(Locale.ROOT));
	}

}
