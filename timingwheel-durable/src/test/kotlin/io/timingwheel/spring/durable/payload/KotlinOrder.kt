package io.timingwheel.spring.durable.payload

/** A data class. Jackson finds its constructor through the Kotlin module. */
data class KotlinOrder(val id: Long, val note: String?, val lines: List<String> = listOf())
