package io.timingwheel.test;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

/**
 * Which optional libraries a class may use.
 */
@AnalyzeClasses(packages = "io.timingwheel.test", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

	@ArchTest
	static final ArchRule junitIsOptional = noClasses().should().dependOnClassesThat().resideInAPackage("org.junit..");

	@ArchTest
	static final ArchRule durableTasksAreOptional = noClasses().that()
		.haveNameNotMatching(
				"io\\.timingwheel\\.test\\.(DurableVirtualTimeConfiguration|VirtualNode|VirtualLoops|StoreFaults)(\\$.*)?")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("io.timingwheel.spring.durable..");

	@ArchTest
	static final ArchRule storesAreOptional = noClasses().should()
		.dependOnClassesThat()
		.resideInAnyPackage("io.timingwheel.spring.durable.jdbc", "io.timingwheel.spring.durable.redis",
				"org.springframework.jdbc..", "org.springframework.data..");

}
