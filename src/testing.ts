/**
 * ptlite/testing: what Jest and Vitest compare tensors by, within a tolerance: `expect.extend({ toBeCloseToTensor })`. Neither of them is imported, nor is the
 * library: tensors of any copy of it are compared.
 */

/** What is read of a tensor. */
export interface ComparedTensor {
  /** Of its elements. */
  readonly dtype: string
  /** Its sizes. */
  readonly shape: readonly number[]
  /** Of quantized tensors. */
  readonly quant: unknown
  /** The elements as they are stored. */
  data(): ArrayLike<number | bigint>
  /** The elements as numbers. */
  numbers(): number[]
}

/** Numbers in nested arrays. */
export type ComparedNumbers = number | bigint | boolean | readonly ComparedNumbers[]

/** How far elements may differ: `atol + rtol * |expected|`. */
export interface Tolerance {
  /** Relative. Default as `torch.testing.assert_close` has it for the dtype: 1.3e-6 for float32, 1e-7 for float64, 1e-3 for float16, 0.016 for bfloat16, 0 for integers. */
  readonly rtol?: number
  /** Absolute. Default 1e-5, 1e-7 for float64, 0 for integers. */
  readonly atol?: number
}

/** What a matcher says. */
export interface MatcherResult {
  /** Whether they are close. */
  readonly pass: boolean
  /** Why not, or with `.not` that they are. */
  message(): string
}

/** For the types of a test runner: `interface Assertion<T> extends TensorMatchers<T>`. */
export interface TensorMatchers<Result> {
  /** The same shape and dtype, and elements that differ by no more than the tolerance. */
  toBeCloseToTensor(expected: ComparedTensor | ComparedNumbers, tolerance?: Tolerance): Result
}

const TOLERANCES: Readonly<Record<string, readonly [rtol: number, atol: number]>> = {
  ...{ float16: [1e-3, 1e-5], bfloat16: [1.6e-2, 1e-5], float32: [1.3e-6, 1e-5], float64: [1e-7, 1e-7] },
  ...{ complex64: [1.3e-6, 1e-5], complex128: [1e-7, 1e-7] },
}

/** Elements, shape and, of tensors, what else has to be the same. */
interface Compared {
  readonly elements: ArrayLike<number | bigint>
  readonly shape: readonly number[]
  readonly dtype: string | null
  readonly quant: string
}

/**
 * A matcher: passes where `received`, a tensor, has the shape of `expected`, its dtype where that is a tensor too, and elements within the tolerance. NaN is close to
 * NaN, and an infinity to itself.
 */
export function toBeCloseToTensor(received: unknown, expected: unknown, tolerance: Tolerance = {}): MatcherResult {
  if (!isTensor(received)) return result(false, `expected a tensor, received ${typeof received}`)
  const [found, wanted] = [comparedTensor(received), isTensor(expected) ? comparedTensor(expected) : comparedNumbers(expected)]
  if (wanted === null) return result(false, 'expected a tensor, or numbers in nested arrays of one shape, to compare with')
  if (shapeText(found.shape) !== shapeText(wanted.shape))
    return result(false, `expected shape ${shapeText(wanted.shape)}, received ${shapeText(found.shape)}`)
  if (wanted.dtype !== null && wanted.dtype !== found.dtype)
    return result(false, `expected dtype ${wanted.dtype}, received ${String(found.dtype)}`)
  if (wanted.dtype !== null && wanted.quant !== found.quant)
    return result(false, `expected quantization ${wanted.quant}, received ${found.quant}`)
  const [rtol, atol] = TOLERANCES[received.dtype] ?? [0, 0]
  return closeness(found, wanted, tolerance.rtol ?? rtol, tolerance.atol ?? atol)
}

function closeness(found: Compared, wanted: Compared, rtol: number, atol: number): MatcherResult {
  let count = 0
  let most = 0
  let worst = -1
  for (let i = 0; i < found.elements.length; i++) {
    const [a, b] = [found.elements[i]!, wanted.elements[i]!]
    if (a === b || (Number.isNaN(a) && Number.isNaN(b))) continue
    const difference = typeof a === 'bigint' && typeof b === 'bigint' ? Number(a > b ? a - b : b - a) : Math.abs(Number(a) - Number(b))
    if (Number.isFinite(difference) && difference <= atol + rtol * Math.abs(Number(b))) continue
    count++
    // NaN is no number: it counts as the largest difference
    const size = Number.isNaN(difference) ? Infinity : difference
    if (worst >= 0 && size <= most) continue
    most = size
    worst = i
  }
  const limits = `rtol ${rtol}, atol ${atol}`
  if (worst < 0) return result(true, `expected tensors that are not close (${limits})`)
  const at = `[${indicesOf(worst, found).join(', ')}]`
  const values = `received ${String(found.elements[worst])}, expected ${String(wanted.elements[worst])}`
  return result(false, `${count} of ${found.elements.length} elements are not close (${limits}), most of all ${at}: ${values}`)
}

function result(pass: boolean, text: string): MatcherResult {
  return { pass, message: () => text }
}

function isTensor(value: unknown): value is ComparedTensor {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { dtype, shape, data, numbers } = value as Partial<ComparedTensor>
  return typeof dtype === 'string' && Array.isArray(shape) && typeof data === 'function' && typeof numbers === 'function'
}

function comparedTensor(t: ComparedTensor): Compared {
  // halves and floats of 8 bits are bits in data(), and integers beyond 2^53 no numbers
  const isReal = /^(b?float)/.test(t.dtype)
  return { elements: isReal ? t.numbers() : t.data(), shape: t.shape, dtype: t.dtype, quant: JSON.stringify(t.quant) }
}

/** null for what is not of one shape. */
function comparedNumbers(value: unknown): Compared | null {
  const shape: number[] = []
  for (let inner = value; Array.isArray(inner); inner = (inner as readonly unknown[])[0]) {
    shape.push(inner.length)
    if (shape.length > 64) return null
  }
  const elements: (number | bigint)[] = []
  const add = (item: unknown, depth: number): boolean => {
    if (Array.isArray(item)) return item.length === shape[depth] && item.every((each) => add(each, depth + 1))
    if (depth !== shape.length || !['number', 'bigint', 'boolean'].includes(typeof item)) return false
    elements.push(typeof item === 'bigint' ? item : Number(item))
    return true
  }
  return add(value, 0) ? { elements, shape, dtype: null, quant: '' } : null
}

/** Where an element is; of complex tensors, whose elements are pairs, the one that a part is of. */
function indicesOf(position: number, { elements, shape }: Compared): number[] {
  const size = shape.reduce((product, each) => product * each, 1)
  let rest = Math.floor((position * size) / elements.length)
  const indices: number[] = []
  for (const each of [...shape].reverse()) {
    indices.unshift(rest % each)
    rest = Math.floor(rest / each)
  }
  return indices
}

function shapeText(shape: readonly number[]): string {
  return `[${shape.join(', ')}]`
}
