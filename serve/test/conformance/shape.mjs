/** What is wrong with a value: patterns are words for kinds, lists of one pattern, and objects whose keys end in `?` where they may be left out. */

const KINDS = {
  string: (value) => typeof value === 'string',
  name: (value) => typeof value === 'string' && value !== '',
  number: (value) => typeof value === 'number',
  count: (value) => Number.isSafeInteger(value) && value >= 0,
  size: (value) => Number.isSafeInteger(value) && value >= -1,
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  parameter: (value) => ['string', 'number', 'boolean'].includes(typeof value),
  datatype: (value) => Object.hasOwn(SIZES, value),
}

/** Bytes of an element; strings have lengths of their own. */
export const SIZES = {
  BOOL: 1,
  UINT8: 1,
  UINT16: 2,
  UINT32: 4,
  UINT64: 8,
  INT8: 1,
  INT16: 2,
  INT32: 4,
  INT64: 8,
  FP16: 2,
  BF16: 2,
  FP32: 4,
  FP64: 8,
  BYTES: NaN,
}

/** The first thing that does not fit, or undefined. */
export function misfit(value, pattern, where = 'the answer') {
  const expected = (what) => `${where}: expected ${what}, found ${text(value)}`
  if (typeof pattern === 'string') return KINDS[pattern](value) ? undefined : expected(pattern)
  if (pattern instanceof Map) {
    if (!KINDS.object(value)) return expected('an object')
    const [each] = pattern.values()
    return first(Object.entries(value), ([key, one]) => misfit(one, each, `${where}.${key}`))
  }
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value)) return expected('a list')
    return first([...value.entries()], ([i, one]) => misfit(one, pattern[0], `${where}[${i}]`))
  }
  if (!KINDS.object(value)) return expected('an object')
  return first(Object.entries(pattern), ([key, each]) => {
    const name = key.replace(/\?$/, '')
    if (name !== key && value[name] === undefined) return undefined
    return misfit(value[name], each, `${where}.${name}`)
  })
}

function first(list, find) {
  for (const each of list) {
    const found = find(each)
    if (found !== undefined) return found
  }
  return undefined
}

export function text(value) {
  const json = JSON.stringify(value) ?? String(value)
  return json.length > 200 ? `${json.slice(0, 200)}…` : json
}

/** Objects of any keys. */
export const each = (pattern) => new Map([['*', pattern]])

export const ERROR = { error: 'name' }
const TENSOR = { name: 'name', datatype: 'datatype', shape: ['size'] }
export const SERVER_METADATA = { name: 'name', version: 'string', extensions: ['string'] }
export const MODEL_METADATA = { name: 'name', 'versions?': ['string'], platform: 'name', inputs: [TENSOR], outputs: [TENSOR] }
const OUTPUT = { name: 'name', datatype: 'datatype', shape: ['count'], 'parameters?': each('parameter') }
export const INFERENCE = {
  model_name: 'name',
  'model_version?': 'string',
  'id?': 'string',
  'parameters?': each('parameter'),
  outputs: [OUTPUT],
}
const DURATION = { count: 'count', ns: 'count' }
export const STATISTICS = {
  model_stats: [
    {
      name: 'name',
      'version?': 'string',
      last_inference: 'count',
      inference_count: 'count',
      execution_count: 'count',
      inference_stats: {
        success: DURATION,
        fail: DURATION,
        queue: DURATION,
        compute_input: DURATION,
        compute_infer: DURATION,
        compute_output: DURATION,
      },
      batch_stats: [{ batch_size: 'count', compute_input: DURATION, compute_infer: DURATION, compute_output: DURATION }],
      'memory_usage?': [{ type: 'string', id: 'count', byte_size: 'count' }],
    },
  ],
}
export const INDEX = [{ name: 'name', 'version?': 'string', state: 'string', reason: 'string' }]
