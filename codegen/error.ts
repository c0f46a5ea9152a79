/** A mistake in a declaration. The message starts with `file:line` and the entry's name, as compilers write it. */
export class CodegenError extends Error {
  override readonly name = 'CodegenError'
}

/** Where a declaration stands. */
export interface Source {
  readonly file: string
  readonly line: number
}

export function at(source: Source): string {
  return `${source.file}:${source.line}`
}

/** Stops with `file:line: entry: message`. */
export function failAt(source: Source, entry: string, message: string, cause?: unknown): never {
  throw new CodegenError(`${at(source)}: ${entry}: ${message}`, cause === undefined ? undefined : { cause })
}
