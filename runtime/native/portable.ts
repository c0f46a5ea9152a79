let portable = false

/**
 * True while frames are made that another process is to run: kernels that take a `handle` of this process, such as generated code, must
 * not be chosen then.
 */
export function portableFrames(): boolean {
  return portable
}

/** Runs `make` with portableFrames() true. */
export function withPortableFrames<T>(make: () => T): T {
  const before = portable
  portable = true
  try {
    return make()
  } finally {
    portable = before
  }
}
