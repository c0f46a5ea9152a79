import type { ScriptModule } from '../interpreter/script-module.js'
import { type Cache, cacheCalls } from '../program/cache-calls.js'
import type { FunctionCode } from '../program/code.js'
import type { LinkedFunction } from '../program/linked.js'
import { LARGEST, LEAST_SCALE, withNarrowCaches } from '../program/narrow-caches.js'
import { PtliteError } from '../runtime/error.js'
import { readTensor, writeTensor } from '../runtime/tensor/data.js'
import { DType, itemSize } from '../runtime/tensor/dtype.js'
import { halfValue, numberToBfloat16, numberToHalf, roundHalfEven } from '../runtime/tensor/half.js'
import { empty, type Tensor } from '../runtime/tensor/tensor.js'
import type { LoadOptions } from './options.js'

const KEPT = { int8: DType.int8, bfloat16: DType.bfloat16, float16: DType.float16 } as const

/**
 * Has a module keep its caches of keys and values in fewer bits, as tensors of these dtypes: rows of 8 bits have a scale each, in an attribute of the cache's name and `_scales`. Throws INVALID_ARGUMENT where it
 * has no cache that becomes smaller.
 */
export function narrowCaches(script: ScriptModule, format: NonNullable<LoadOptions['kvCache']>): void {
  const kept = KEPT[format]
  const found = cacheCalls(script.functions, script.root)
  const outside = found.caches.find(({ tensor }) => itemSize(tensor.type) > itemSize(kept))?.tensor.type
  if (outside === undefined || found.caches.some(({ tensor }) => tensor.type !== outside)) {
    const what = outside === undefined ? 'no cache of keys or values that would become smaller' : 'caches of several dtypes'
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `loadModule(): kvCache: '${format}': the program has ${what}: a float attribute of four dimensions that index_copy_, index_put_, slice_scatter or copy_ writes rows to, ` +
        'and that is only read otherwise; load it without',
    )
  }
  for (const cache of found.caches) {
    const { tensor, object, slot, others } = cache
    const numbers = kept === DType.int8 ? rounded(cache) : halved(tensor, kept)
    numbers.pinned = true
    object.slots[slot] = numbers
    tensor.release()
    for (const other of others) {
      other.object.slots[other.slot] = numbers
      other.tensor.release()
    }
  }
  const codeOf = (fn: LinkedFunction): FunctionCode => {
    const uses = found.uses.get(fn)
    return uses === undefined || uses.size === 0 ? fn.source : withNarrowCaches(fn.source, uses, { kept, outside })
  }
  script.replaceCode(script.functions.map(codeOf))
}

function halved(tensor: Tensor, type: DType): Tensor {
  const result = empty(tensor.shape, type)
  const bitsOf = type === DType.bfloat16 ? numberToBfloat16 : numberToHalf
  writeTensor(result, Uint16Array.from(floatsOf(tensor), bitsOf))
  return result
}

function floatsOf(tensor: Tensor): Float32Array {
  const data = readTensor(tensor)
  return data instanceof Float32Array ? data : Float32Array.from(data as Uint16Array, (bits) => halfValue(bits, tensor.type))
}

/** The integers of what a cache holds. Their scales become an attribute. */
function rounded({ tensor, object, slot, beside }: Cache): Tensor {
  const { shape } = tensor
  const data = floatsOf(tensor)
  const width = shape.at(-1)!
  const integers = new Int8Array(data.length)
  const factors = new Float32Array(data.length / width)
  for (let row = 0; row < factors.length; row++) {
    const numbers = data.subarray(row * width, (row + 1) * width)
    const largest = numbers.reduce((most, x) => Math.max(most, Math.abs(x)), 0)
    // as the code does
    const scale = (factors[row] = Math.max(Math.fround(largest / LARGEST), LEAST_SCALE))
    if (largest > 0) for (const [i, x] of numbers.entries()) integers[row * width + i] = roundHalfEven(Math.fround(x / Math.fround(scale)))
  }
  const scales = empty([...shape.slice(0, -1), 1], DType.float32)
  writeTensor(scales, factors)
  scales.pinned = true
  object.slots[beside] = scales
  object.names[beside] = `${object.names[slot]!}_scales`
  const result = empty(shape, DType.int8)
  writeTensor(result, integers)
  return result
}
