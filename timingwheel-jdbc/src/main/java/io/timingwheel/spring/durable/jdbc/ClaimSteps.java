package io.timingwheel.spring.durable.jdbc;

import java.util.List;
import java.util.Map;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.LeasedTask;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * The parts of a claim that depend on the database.
 */
interface ClaimSteps {

	/**
	 * Claims tasks of names without limits, and looks at the first tasks of the names
	 * with limits. The names are those of the request.
	 * @param request the request, with the limit for the names without limits
	 * @param since by name, where to begin to search
	 */
	ClaimRound claim(ClaimRequest request, Map<String, Long> since);

	/**
	 * Begins the first due tasks of a name, whose row the transaction has locked.
	 * @param limit how many tasks to begin at most
	 * @param since where to begin to search
	 */
	List<LeasedTask> begin(JdbcOperations jdbc, ClaimRequest request, String name, int limit, long since);

}
