import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { entryAt, operatorCount } from '../../runtime/operators/table/registry.js'
import { PtliteError } from '../index.js'
import type { OptionTable } from './options.js'

/** `--ops FILE`, for every command that loads a model. */
export const OPS_OPTION = {
  ops: {
    type: 'string',
    multiple: true,
    value: 'FILE.js',
    help: 'a module with operators of your own, imported first; its register() is called if it exports one',
  },
} as const satisfies OptionTable

/** Imports modules that register operators. Throws INVALID_ARGUMENT where one cannot be loaded or registers nothing. */
export async function loadOperators(files: readonly string[] = []): Promise<void> {
  for (const file of files) {
    const before = customCount()
    const module = await load(file)
    if (typeof module.register === 'function') (module.register as () => void)()
    if (customCount() > before) continue
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `${file} registers no operators: expected a module that calls or exports the register() of 'ptlite codegen', and imports the ptlite of this command`,
    )
  }
}

async function load(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as Readonly<Record<string, unknown>>
  } catch (cause) {
    if (cause instanceof PtliteError) throw cause
    throw new PtliteError('INVALID_ARGUMENT', `cannot load ${file}: ${(cause as Error).message}`, { cause })
  }
}

/** Operators with a declaration of the user's. */
function customCount(): number {
  let count = 0
  for (let i = 0; i < operatorCount(); i++) if (entryAt(i).source !== null) count++
  return count
}
