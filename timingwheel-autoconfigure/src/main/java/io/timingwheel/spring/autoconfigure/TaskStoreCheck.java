package io.timingwheel.spring.autoconfigure;

import io.timingwheel.spring.durable.DelayedTaskStore;

import org.springframework.beans.factory.InitializingBean;

/**
 * Stops the start of the application if the store cannot keep durable tasks safely.
 */
class TaskStoreCheck implements InitializingBean {

	private final DelayedTaskStore store;

	TaskStoreCheck(DelayedTaskStore store) {
		this.store = store;
	}

	@Override
	public void afterPropertiesSet() {
		this.store.check();
	}

}
