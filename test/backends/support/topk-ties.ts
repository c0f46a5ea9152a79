import { readFileSync } from 'node:fs'
import type * as library from '../../../src/index.js'

interface Ties {
  readonly values: readonly number[]
  readonly k: number
  readonly largest: boolean
  readonly sorted: boolean
  readonly indices: readonly number[]
}

const cases = JSON.parse(readFileSync(new URL('../../fixtures/topk-ties.json', import.meta.url), 'utf8')) as readonly Ties[]

/** Calls of topk among equal elements that `lib` answers with other indices than PyTorch, and how many there were. */
export function topkTies(lib: Pick<typeof library, 'callOperator' | 'tensor'>): {
  readonly calls: number
  readonly wrong: readonly string[]
} {
  const wrong = cases.filter(({ values, k, largest, sorted, indices }) => {
    const [, found] = lib.callOperator('aten::topk', [lib.tensor(values), k, -1, largest, sorted]) as [library.Tensor, library.Tensor]
    return Array.from(found.data(), Number).join() !== indices.join()
  })
  return { calls: cases.length, wrong: wrong.map(({ values, k, largest, sorted }) => `${k} of ${values.length}, ${largest}, ${sorted}`) }
}
