package io.timingwheel.spring.console;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

import org.springframework.boot.autoconfigure.AutoConfiguration;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

/**
 * Which optional libraries a class may use, and which classes are public.
 */
@AnalyzeClasses(packages = "io.timingwheel.spring.console", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

	@ArchTest
	static final ArchRule servletsAreOptional = noClasses().that()
		.haveNameNotMatching(".*\\.ServletCsrfTokenHeader")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("jakarta.servlet..", "org.springframework.web.context..",
				"org.springframework.security.web.csrf..");

	@ArchTest
	static final ArchRule webFluxIsOptional = noClasses().that()
		.haveNameNotMatching(".*\\.CsrfTokenWebFilter")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("reactor..", "org.springframework.web.server..", "org.springframework.http..",
				"org.springframework.security.web.server..");

	@ArchTest
	static final ArchRule storesAreOptional = noClasses().should()
		.dependOnClassesThat()
		.resideInAnyPackage("io.timingwheel.spring.durable.jdbc", "io.timingwheel.spring.durable.redis",
				"org.springframework.jdbc..", "org.springframework.data..");

	@ArchTest
	static final ArchRule onlyWhatSpringBootNeedsIsPublic = classes().that()
		.areTopLevelClasses()
		.and()
		.arePublic()
		.should()
		.beAnnotatedWith(AutoConfiguration.class)
		.orShould()
		.haveSimpleName("TimingWheelConsoleEndpoint");

}
