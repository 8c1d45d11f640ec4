package io.timingwheel.benchmarks.spring;

import java.util.Map;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableAsync;

/** An application whose methods are called. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
@EnableAsync(proxyTargetClass = true)
class CallApplication {

	static ConfigurableApplicationContext start() {
		return start((context) -> {
		});
	}

	static ConfigurableApplicationContext start(
			ApplicationContextInitializer<? super ConfigurableApplicationContext> initializer) {
		return new SpringApplicationBuilder(CallApplication.class).web(WebApplicationType.NONE)
			.initializers((context) -> initializer.initialize(context))
			.properties(Map.of("spring.main.banner-mode", "off", "spring.main.log-startup-info", "false"))
			.run();
	}

	@Bean
	Calls calls() {
		return new Calls();
	}

	@Bean
	LimitedCalls limitedCalls() {
		return new LimitedCalls();
	}

	/** A proxy with one advice, which only proceeds. */
	static LimitedCalls bareProxy() {
		ProxyFactory factory = new ProxyFactory(new LimitedCalls());
		factory.setProxyTargetClass(true);
		factory.addAdvice((MethodInterceptor) MethodInvocation::proceed);
		return (LimitedCalls) factory.getProxy();
	}

}
