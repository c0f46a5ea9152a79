import { failAt } from '../error.js'
import type { Entry, Field } from '../yaml-file.js'
import type { Kernel } from './model.js'

const IS_ADDRESS = /^ptr(\[\w+\])?$/

/**
 * What the compiler of models goes by has to be said of every kernel of the library: nothing is guessed. `entries` are the declaration of a kernel, behind that
 * of the one that it extends. Throws CodegenError.
 */
export function checkFacts(kernel: Kernel, entries: readonly Entry[]): void {
  const { name, fields, results, host, random, effect } = kernel
  const given = (key: string): Field[] => entries.flatMap((entry) => entry.fields.filter((f) => f.key === key))
  for (const { value, source } of given('fields')) {
    const silent = Object.entries(value as Readonly<Record<string, string>>).find(([, type]) => IS_ADDRESS.test(type))
    if (silent !== undefined)
      failAt(source, name, `'${silent[0]}' has no access: expected 'in ${silent[1]}', 'out ${silent[1]}' or 'in-out ${silent[1]}'`)
  }
  for (const { value, source } of given('host'))
    if (value === true) failAt(source, name, "'host' has no access: expected in, out or in-out")
  const isWritten = fields.some(({ access }) => access === 'out' || access === 'in-out')
  const isSeen = isWritten || results.length > 0 || host === 'out' || host === 'in-out'
  if (!isSeen && effect === null) failAt(kernel.source, name, "it writes nothing and returns nothing: 'effect' is missing")
  if (random && !isWritten)
    failAt(given('random')[0]!.source, name, 'what is random moves a generator on: none of its addresses is written')
}
