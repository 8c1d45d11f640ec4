package io.timingwheel.spring;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import org.jspecify.annotations.NullMarked;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * Which package may use which, and which optional libraries a class may use. Maven
 * enforces the dependencies between modules.
 */
@AnalyzeClasses(packages = "io.timingwheel", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

	private static final String CORE = "io.timingwheel";

	private static final String TASK = "io.timingwheel.spring.task";

	private static final String ANNOTATION = "io.timingwheel.spring.annotation";

	private static final String TASK_INTERNAL = "io.timingwheel.spring.task.internal";

	private static final String TASK_SUPPORT = "io.timingwheel.spring.task.memory";

	private static final String OURS = "io.timingwheel..";

	@ArchTest
	static final ArchRule theTemplateUsesTheCoreAlone = noClasses().that()
		.resideInAPackage(TASK)
		.should()
		.dependOnClassesThat(resideInOursExcept(CORE, TASK));

	@ArchTest
	static final ArchRule whatAllTasksShareUsesTheTemplateAndTheCore = noClasses().that()
		.resideInAPackage(TASK_INTERNAL)
		.should()
		.dependOnClassesThat(resideInOursExcept(CORE, TASK, TASK_INTERNAL));

	@ArchTest
	static final ArchRule tasksInMemoryUseNoDurableTasks = noClasses().that()
		.resideInAPackage(TASK_SUPPORT)
		.should()
		.dependOnClassesThat(resideInOursExcept(CORE, TASK, TASK_INTERNAL, TASK_SUPPORT));

	@ArchTest
	static final ArchRule annotationsUseTheTemplateAlone = noClasses().that()
		.resideInAPackage(ANNOTATION)
		.should()
		.dependOnClassesThat(resideInOursExcept(TASK, ANNOTATION));

	@ArchTest
	static final ArchRule thisModuleHasNoDurableTasks = noClasses().should()
		.resideInAPackage("io.timingwheel.spring.durable..")
		.orShould()
		.dependOnClassesThat()
		.resideInAPackage("io.timingwheel.spring.durable..");

	@ArchTest
	static final ArchRule tasksDoNotKnowLimits = noClasses().that()
		.resideInAPackage("io.timingwheel.spring.aop.internal.delayed")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("io.timingwheel.spring.aop.internal.timeout");

	@ArchTest
	static final ArchRule limitsDoNotKnowTasks = noClasses().that()
		.resideInAPackage("io.timingwheel.spring.aop.internal.timeout")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("io.timingwheel.spring.aop.internal.delayed");

	@ArchTest
	static final ArchRule packagesHaveNoCycles = slices().matching("io.timingwheel.(**)").should().beFreeOfCycles();

	@ArchTest
	static final ArchRule transactionsAreOptional = noClasses().that()
		.haveNameNotMatching("io\\.timingwheel\\.spring\\.(task\\.internal\\.Transactions"
				+ "|aop\\.internal\\.delayed\\.ReactorCancellation\\$AfterCommit)(\\$.*)?")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("org.springframework.transaction..");

	@ArchTest
	static final ArchRule reactorIsOptional = noClasses().that()
		.haveNameNotMatching("io\\.timingwheel\\.spring\\.aop\\.internal\\.(timeout\\.ReactorTimeout"
				+ "|delayed\\.ReactorCancellation)(\\$.*)?")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("reactor..", "org.reactivestreams..");

	@ArchTest
	static final ArchRule webIsOptional = noClasses().that()
		.haveNameNotMatching("io\\.timingwheel\\.spring\\.aop\\.internal\\.timeout\\.WebTimeout(\\$.*)?")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.web..", "org.springframework.http..");

	@ArchTest
	static final ArchRule nobodyUsesJackson = noClasses().should()
		.dependOnClassesThat()
		.resideInAnyPackage("tools.jackson..", "com.fasterxml.jackson..");

	@ArchTest
	static final ArchRule packagesAreNullMarked = classes()
		.should(ArchCondition.from(DescribedPredicate.describe("reside in a package that is @NullMarked",
				(type) -> type.getPackage().isAnnotatedWith(NullMarked.class))));

	private static DescribedPredicate<JavaClass> resideInOursExcept(String... packages) {
		return resideInAPackage(OURS).and(DescribedPredicate.not(resideInAnyPackage(packages)));
	}

}
