import type { Waiting } from '../../runtime/ready.js'
import { namedReady } from './operators-ready.js'
import { COMPILER, FORMATS, FUNCTIONS, LOADERS, MODEL } from './loaders.js'
import { missingOperators } from '../../runtime/operators/table/missing-operator.js'
import type { Held } from '../stand-ins/received-source.js'
import { isAtHand, loadParts, whenLoaded as whenPartsLoaded } from './part.js'

/* Stands for runtime/ready.ts in the library for browsers. */

const listOf = (text: string | undefined): string[] => (text === undefined || text === '' ? [] : text.split(' '))

function partsReady(names: readonly string[]): Waiting {
  return names.every(isAtHand) ? undefined : loadParts(names)
}

export function modelsReady(): Waiting {
  return partsReady(listOf(MODEL))
}

export function formatReady(name: string): Waiting {
  return partsReady(listOf(FORMATS[name]))
}

export function compilerReady(): Waiting {
  return partsReady(compiler)
}

const compiler = listOf(COMPILER)
let isCompilerHere = false

export function compilerAtHand(): boolean {
  if (isCompilerHere) return true
  isCompilerHere = compiler.every(isAtHand)
  // calls are interpreted until it comes
  if (!isCompilerHere) loadParts(compiler).catch(() => undefined)
  return isCompilerHere
}

/**
 * All parts that are for functions of the library and operators with these names; without names, all there are. Rejects with MISSING_OPERATOR for names that there
 * are not.
 */
export async function namesReady(names: readonly string[] | undefined): Promise<void> {
  if (names === undefined) return loadParts(Object.keys(LOADERS))
  const isFunction = (name: string): boolean => Object.hasOwn(FUNCTIONS, name)
  await loadParts([...listOf(MODEL), ...names.filter(isFunction).flatMap((name) => listOf(FUNCTIONS[name]))])
  const missing = await namedReady(names.filter((name) => !isFunction(name)))
  if (missing.length > 0) throw await whenPartsLoaded(() => missingOperators(missing))
}

const isHeldSource = (source: unknown): source is Held => typeof (source as Partial<Held> | null)?.hold === 'function'

/** What a source has of the kernels' memory stays there until the work has come to its end. */
export async function whenLoaded<T>(source: unknown, work: () => Promise<T>): Promise<T> {
  if (!isHeldSource(source)) return whenPartsLoaded(work)
  source.hold()
  try {
    return await whenPartsLoaded(() => {
      source.begin()
      return work()
    })
  } finally {
    source.release()
  }
}
