import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Input, type Output, tensor, Tensor } from '../../src/index.js'
import { dtypeFromName, type DTypeName } from '../../runtime/tensor/dtype.js'

const folder = fileURLToPath(new URL('../fixtures/pt2/', import.meta.url))

export const PROGRAMS = [
  'linear',
  'counter',
  'structures',
  'control',
  'sizes',
  'guarded',
  'shared',
  'lists',
  'nested',
  'quantized',
  'functionalized',
  'mapped',
  'accumulated',
  'cast',
  'prims',
  'scanned',
  'wrapped',
] as const

/** The files of a program: as exported, and decomposed where PyTorch reads what it writes. */
export function formsOf(name: string): readonly string[] {
  return name === 'cast' ? ['pt2'] : ['pt2', 'core.pt2']
}

/** Programs that change the module, whose calls come in order. */
export const CHANGES: ReadonlySet<string> = new Set(['counter', 'functionalized'])

export function fixturePath(name: string): string {
  return `${folder}${name}`
}

/** A value as make_pt2.py writes it. */
export type Stored = null | boolean | number | string | Stored[] | StoredTensor | { dict: [string | number, Stored][] }

interface StoredTensor {
  readonly tensor: number[]
  readonly shape: number[]
  readonly dtype: DTypeName
}

export interface Call {
  readonly args: Stored[]
  readonly result: Stored
  /** The arguments behind the call, which may have written to them. */
  readonly after: Stored[]
}

export interface Refused {
  readonly args: Stored[]
  readonly error: string
}

export function readCalls(name: string): { readonly calls: Call[]; readonly refused: Refused[] } {
  return JSON.parse(readFileSync(`${folder}${name}.json`, 'utf8')) as { calls: Call[]; refused: Refused[] }
}

export function inputOf(value: Stored): Input {
  if (Array.isArray(value)) return value.map(inputOf)
  if (typeof value !== 'object' || value === null) return value
  if ('dict' in value) return new Map(value.dict.map(([key, item]) => [key, inputOf(item)] as const))
  dtypeFromName(value.dtype)
  return tensor(value.tensor, value.shape, value.dtype)
}

/** Where a result differs from what PyTorch gives; undefined where it does not, but for rounding. */
/** Of the largest value: PyTorch 1.13, and so this runtime, rounds sums of small bfloat16 products at every step, PyTorch 2.13 once. */
const BFLOAT16_ERROR = 2 ** -6

export function difference(found: Output | Input, wanted: Stored, place = 'result', tolerance = 1e-5): string | undefined {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(found) || found.length !== wanted.length) return `${place}: expected ${wanted.length} items, found ${String(found)}`
    for (const [i, item] of wanted.entries()) {
      const wrong = difference((found as Output[])[i]!, item, `${place}[${i}]`, tolerance)
      if (wrong !== undefined) return wrong
    }
    return undefined
  }
  if (typeof wanted !== 'object' || wanted === null)
    return found === wanted ? undefined : `${place}: expected ${String(wanted)}, found ${String(found)}`
  if ('dict' in wanted) {
    if (!(found instanceof Map) || found.size !== wanted.dict.length)
      return `${place}: expected a dict of ${wanted.dict.length}, found ${String(found)}`
    for (const [key, item] of wanted.dict) {
      const wrong = difference(found.get(key) as Output, item, `${place}['${key}']`, tolerance)
      if (wrong !== undefined) return wrong
    }
    return undefined
  }
  if (!(found instanceof Tensor)) return `${place}: expected a tensor, found ${String(found)}`
  if (found.dtype !== wanted.dtype || found.shape.join() !== wanted.shape.join())
    return `${place}: expected ${wanted.dtype}[${wanted.shape.join()}], found ${found.dtype}[${found.shape.join()}]`
  const largest = Math.max(1, ...wanted.tensor.map(Math.abs))
  const isRounded = found.dtype === 'bfloat16'
  const data = Array.from((isRounded ? found.to('float32') : found).data() as ArrayLike<number | bigint>, Number)
  const at = data.findIndex((x, i) => !(Math.abs(x - wanted.tensor[i]!) <= (isRounded ? BFLOAT16_ERROR : tolerance) * largest))
  return at < 0 ? undefined : `${place}: element ${at}: expected ${wanted.tensor[at]}, found ${data[at]}`
}
