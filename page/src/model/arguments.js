/**
 * Arguments as people write them: `float32[1, 3, 224, 224]` is a random tensor, `zeros int64[1, 32]` one of zeros, `[[1, 2], [3, 4]]` its numbers; `5`,
 * `0.5`, `true`, `"text"` and `none` are themselves.
 */
const DTYPES = {
  float32: { array: Float32Array, isFloat: true },
  float64: { array: Float64Array, isFloat: true },
  float16: { array: Float32Array, isFloat: true },
  bfloat16: { array: Float32Array, isFloat: true },
  int64: { array: BigInt64Array },
  int32: { array: Int32Array },
  int16: { array: Int16Array },
  int8: { array: Int8Array },
  uint8: { array: Uint8Array },
  bool: { array: Uint8Array },
}
/** Elements of a tensor that is made up. */
const MAX_ELEMENTS = 2 ** 26

const TENSOR = /^(?:(zeros|ones|random)\s+)?([a-z]+[0-9]*)\s*\[([^\]]*)\]$/

/** What a text says, as the worker takes it. Throws an Error that says what is wrong with it. */
export function parseArgument(text, random = Math.random) {
  const trimmed = text.trim()
  if (trimmed === '') throw new Error('Write a tensor, such as float32[1, 3, 224, 224], or a value')
  const tensor = TENSOR.exec(trimmed)
  if (tensor !== null) return madeUp(tensor[1], tensor[2], tensor[3], random)
  if (/^(none|null)$/i.test(trimmed)) return { kind: 'value', value: null }
  if (/^(true|false)$/i.test(trimmed)) return { kind: 'value', value: /^t/i.test(trimmed) }
  let value
  try {
    value = JSON.parse(trimmed)
  } catch {
    throw new Error(
      `Cannot read ${trimmed.length > 40 ? `${trimmed.slice(0, 40)}…` : trimmed}: expected a tensor, such as float32[1, 10], or JSON`,
    )
  }
  if (typeof value === 'number') return { kind: 'value', value, isFloat: /[.e]/i.test(trimmed) }
  if (typeof value === 'string') return { kind: 'value', value }
  if (Array.isArray(value)) return { kind: 'nested', value }
  throw new Error('Expected a tensor, a number, a text, true, false or none')
}

/** What a tensor that is made up is filled with, for people; null for other texts. */
export function fillingOf(text) {
  const [, filling, dtype] = TENSOR.exec(text.trim()) ?? []
  const type = Object.hasOwn(DTYPES, dtype) ? DTYPES[dtype] : undefined
  if (type === undefined) return null
  if (filling !== undefined && filling !== 'random') return filling
  if (type.isFloat) return 'random numbers from -1 to 1, others in each run'
  return filling === 'random' ? 'random zeros and ones, others in each run' : 'zeros'
}

function madeUp(filling, dtype, sizes, random) {
  const type = Object.hasOwn(DTYPES, dtype) ? DTYPES[dtype] : undefined
  if (type === undefined) throw new Error(`There is no dtype ${dtype}; these can be made up: ${Object.keys(DTYPES).join(', ')}`)
  const shape = sizes.trim() === '' ? [] : sizes.split(',').map((size) => (/^\s*\d+\s*$/.test(size) ? Number(size) : NaN))
  if (!shape.every((size) => Number.isInteger(size))) throw new Error(`Sizes are whole numbers with commas between them, found [${sizes}]`)
  const length = shape.reduce((a, b) => a * b, 1)
  if (length > MAX_ELEMENTS) throw new Error(`${dtype}[${shape.join(', ')}] is too large to be made up`)
  const data = new type.array(length)
  // whole numbers may be positions in a table, where random ones would be out of range
  const isRandom = filling === 'random' || (filling === undefined && type.isFloat === true)
  if (filling === 'ones') data.fill(data instanceof BigInt64Array ? 1n : 1)
  else if (isRandom)
    for (let i = 0; i < length; i++)
      data[i] = type.isFloat
        ? 2 * random() - 1
        : data instanceof BigInt64Array
          ? BigInt(Math.floor(2 * random()))
          : Math.floor(2 * random())
  return { kind: 'tensor', dtype, shape, data }
}

/** The text of a tensor that is made up again each time. */
export function tensorText({ dtype, shape }) {
  return `${dtype}[${shape.join(', ')}]`
}

/** A first text for an argument of which only the file's declaration is known; empty where that leaves it open. */
export function declaredText({ type, dtype, shape, constant }) {
  if (constant !== undefined) return JSON.stringify(typeof constant === 'bigint' ? Number(constant) : constant)
  if (dtype !== undefined && shape !== undefined) return tensorText({ dtype, shape: shape.map(({ min }) => min) })
  if (/^Optional\[/.test(type)) return 'none'
  return { int: '1', float: '1.0', bool: 'false', str: '""' }[type] ?? ''
}
