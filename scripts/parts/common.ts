import { existsSync, readFileSync } from 'node:fs'

/** What usual programs run, as scripts/parts/profile.ts found: by file, names of functions. */
export const COMMON = new URL('common-functions.txt', import.meta.url)

/** The operators that they call, a line each. */
export const COMMON_OPERATORS = new URL('common-operators.txt', import.meta.url)

/** The functions in COMMON, which has a line per file: its path, then names. */
export function commonFunctions(): Map<string, ReadonlySet<string>> {
  if (!existsSync(COMMON)) return new Map()
  const lines = readFileSync(COMMON, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  return new Map(
    lines.map((line) => {
      const [file, ...names] = line.split(' ')
      return [file!, new Set(names)]
    }),
  )
}

export function commonOperators(): ReadonlySet<string> {
  return new Set(existsSync(COMMON_OPERATORS) ? readFileSync(COMMON_OPERATORS, 'utf8').split('\n') : [])
}
