import type { NamedTensor } from '../protocol/tensor.js'
import type { NamedResult } from '../workers/messages.js'
import { outputName, type TensorInfo } from './signature.js'

/** What a model takes and gives, as its first answered request has shown it: names, datatypes, and dimensions of any size. */
export interface Learned {
  readonly inputs: readonly TensorInfo[]
  readonly outputs: readonly TensorInfo[]
}

export function learnedFrom(given: readonly (NamedTensor | null)[], results: readonly NamedResult[]): Learned {
  return {
    inputs: given.flatMap((each) => (each === null ? [] : [{ name: each.name, datatype: each.datatype, shape: anySize(each.shape) }])),
    outputs: results.map(({ name, value }, i) => ({
      name: outputName(name ?? undefined, i),
      datatype: value.datatype,
      shape: anySize(value.shape),
    })),
  }
}

function anySize(shape: readonly number[]): number[] {
  return shape.map(() => -1)
}

/** What the file and config say, and where they are silent what was learned. */
export function filledIn(known: readonly TensorInfo[] | null, learned: readonly TensorInfo[] | undefined): readonly TensorInfo[] {
  if (known === null) return learned ?? []
  return known.map((info) => {
    const seen = learned?.find(({ name }) => name === info.name)
    return seen === undefined ? info : { name: info.name, datatype: info.datatype ?? seen.datatype, shape: info.shape ?? seen.shape }
  })
}
