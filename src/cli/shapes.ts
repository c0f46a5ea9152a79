import { DTYPE_NAMES, type DTypeName } from '../../runtime/tensor/dtype.js'
import { MAX_ELEMENTS, madeUp } from '../inspect/suggest-inputs.js'
import type { Module, Tensor } from '../index.js'
import { parseCount, UsageError } from './usage.js'

/** A `--shape`: sizes, and a dtype where it names one. */
export interface Sizes {
  readonly dtype: DTypeName | undefined
  readonly sizes: readonly number[]
}

/** `int64:1,16`, or sizes alone. Throws UsageError. */
export function parseShape(text: string): Sizes {
  const [, dtype, list = ''] = /^(?:(\w+):)?(.*)$/.exec(text)!
  if (dtype !== undefined && !DTYPE_NAMES.includes(dtype as DTypeName))
    throw new UsageError(`--shape: expected a dtype in front of the colon, found ${dtype}`)
  const sizes = list === '' ? [] : list.split(',').map((size) => parseCount(size, '--shape', 0))
  if (!(sizes.reduce((a, b) => a * b, 1) <= MAX_ELEMENTS)) throw new UsageError(`--shape ${text}: too large to be made up; give --input`)
  return { dtype: dtype as DTypeName | undefined, sizes }
}

/** Tensors of these sizes, and what they are. */
export function tensorsOfShapes(
  module: Pick<Module, 'inputs'>,
  method: string,
  shapes: readonly string[],
): { readonly args: Tensor[]; readonly source: string } {
  const declared = method === 'forward' ? (module.inputs ?? []) : []
  const args = shapes.map((text, i) => {
    const { dtype, sizes } = parseShape(text)
    return madeUp(dtype ?? declared[i]?.dtype ?? 'float32', sizes)
  })
  return { args, source: args.map(({ dtype, shape }) => `random ${dtype}[${shape.join(', ')}]`).join(', ') }
}
