package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DelayedTaskStoreContractTests;
import io.timingwheel.spring.durable.LeasedTask;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RedisStoreTests extends DelayedTaskStoreContractTests {

	private final RedisStores stores = TestRedis.STANDALONE.stores(getClass());

	@Override
	protected void clear() {
		this.stores.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.stores.node();
	}

	@Test
	void theFieldOfWhatHasChangedIsNotTheIdOfATask() {
		LeasedTask task = begun("k");
		retry(this.store, task.ref(), 2, HOUR);
		String field = "+" + task.id();
		assertThat(this.store.find(field)).isEmpty();
		assertThat(this.store.cancel(field)).isFalse();
		assertThat(this.store.discard(field)).isFalse();
		assertThat(this.store.find(task.id())).isPresent();
	}

}
