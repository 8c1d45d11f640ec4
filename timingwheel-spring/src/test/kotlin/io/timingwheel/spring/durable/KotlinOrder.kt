package io.timingwheel.spring.durable

/** A data class, whose constructor Jackson knows by the Kotlin module. */
data class KotlinOrder(val id: Long, val note: String?, val lines: List<String> = listOf())
