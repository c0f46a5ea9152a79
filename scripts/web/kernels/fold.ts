import type { LinkedFunctions } from './linked-functions.js'
import { RELOCATION } from './linked-module.js'

/**
 * Finds functions whose code is the same, and gives for each the one that stands for all of them: of templates whose types do not matter there are many. What
 * is `kept` and what is not stay apart. Places in the table are not joined, so that different functions have different addresses.
 */
export function foldFunctions(functions: LinkedFunctions, kept: ReadonlySet<number>): (index: number) => number {
  const { module, imported, code } = functions
  let same = new Map<number, number>()
  const standing = (index: number): number => same.get(index) ?? index
  for (;;) {
    const byText = new Map<string, number>()
    const next = new Map<number, number>()
    module.bodies.forEach(({ start, end, relocations }, i) => {
      const index = imported + i
      const calls = relocations
        .filter(({ type }) => type === RELOCATION.functionIndex)
        .map(({ at, index: symbol }) => [at, standing(functions.named(symbol))] as const)
      const bytes = Buffer.from(code.subarray(start, end))
      for (const [at] of calls) bytes.fill(0, at - start, at - start + 5)
      const text = `${module.types[i]},${kept.has(index)},${calls.map(([, called]) => called).join()},${bytes.toString('latin1')}`
      const before = byText.get(text)
      if (before === undefined) byText.set(text, index)
      else next.set(index, before)
    })
    const isStable = next.size === same.size
    same = next
    if (isStable) return standing
  }
}
