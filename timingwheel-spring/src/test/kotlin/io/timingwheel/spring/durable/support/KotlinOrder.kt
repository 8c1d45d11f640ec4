package io.timingwheel.spring.durable.support

/** A data class, whose constructor Jackson knows by the Kotlin module. */
data class KotlinOrder(val id: Long, val note: String?, val lines: List<String> = listOf())
