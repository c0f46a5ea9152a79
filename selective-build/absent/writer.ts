/** Of rows of the registry, which then say that nothing writes such files: apps only load models. */
export const writePtl = undefined
export const writeFf = undefined
