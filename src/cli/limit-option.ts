import type { Limits } from '../index.js'
import { UsageError } from './usage.js'

const NAMES: readonly (keyof Limits)[] = ['instructions', 'bytes', 'milliseconds', 'elements']

/** `--limit NAME=NUMBER`, for commands that run models. */
export const LIMIT_OPTION = { limit: { type: 'string', multiple: true, default: [] as string[] } } as const
export const LIMIT_HELP = `      --limit NAME=N  what loading and the call may take: instructions, bytes, milliseconds or elements (docs/limits.md); may be repeated`

/** Throws UsageError for what is no limit. */
export function limitsFrom({ limit }: { readonly limit: readonly string[] }): { limits?: Limits } {
  const pairs = limit.map((text) => {
    const [, name, number] = /^(\w+)=(\d+(?:\.\d+)?(?:e\d+)?)$/.exec(text) ?? []
    const known = NAMES.find((one) => one === name)
    if (known === undefined) throw new UsageError(`--limit: expected NAME=NUMBER with a name of ${NAMES.join(', ')}, found '${text}'`)
    return [known, Number(number)] as const
  })
  return pairs.length === 0 ? {} : { limits: Object.fromEntries(pairs) }
}
