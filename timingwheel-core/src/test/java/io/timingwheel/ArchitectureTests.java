package io.timingwheel;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

/**
 * Tests that the core is plain Java in one package.
 */
@AnalyzeClasses(packages = "io.timingwheel", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

	@ArchTest
	static final ArchRule coreDependsOnTheJdkOnly = classes().should()
		.onlyDependOnClassesThat()
		.resideInAnyPackage("io.timingwheel", "java..", "org.jspecify.annotations");

	@ArchTest
	static final ArchRule coreIsOnePackage = classes().should().resideInAPackage("io.timingwheel");

}
