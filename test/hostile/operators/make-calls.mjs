#!/usr/bin/env node
/*
 * Writes calls.jsonl: the forms of calls that work, for the fuzzer to start from. Of recorded calls it keeps shapes, dtypes, strides and
 * numbers; of the contents of tensors only between which integers they lie.
 *
 *   make-calls.mjs FOLDER...    folders of *.jsonl and *.json files with recorded calls, as test/fixtures/operators and test/fixtures/torch2
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const CALLS_PER_OPERATOR = 3
const MAX_ELEMENTS = 4096
const MAX_TEXT = 2000

const ARRAYS = {
  bool: Uint8Array, uint8: Uint8Array, int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
} // prettier-ignore

/** Integers of a tensor may be indices: a tensor of other ones would make most calls fail. */
function rangeOf(values) {
  const numbers = Array.from(values, Number)
  return numbers.length === 0 ? [0, 0] : [Math.min(...numbers), Math.max(...numbers)]
}

function tensorOf(dtype, { shape, strides, offset, quant }, data) {
  const spec = { tensor: dtype, shape }
  if (strides !== undefined) spec.strides = strides
  if (offset) spec.offset = offset
  if (quant) {
    const perChannel = Array.isArray(quant.scales)
    spec.quant = perChannel
      ? { axis: quant.axis, scales: quant.scales, zeroPoints: quant.zero_points ?? quant.zeroPoints }
      : { scale: quant.scale, zeroPoint: quant.zero_point ?? quant.zeroPoint }
  }
  const ArrayType = ARRAYS[dtype]
  if (ArrayType === undefined || dtype === 'bool') return spec
  const values = typeof data === 'string' ? new ArrayType(Uint8Array.from(Buffer.from(data, 'base64')).buffer) : data
  return { ...spec, fill: ['range', ...rangeOf(values)] }
}

function specOf(v) {
  if (v === null || typeof v === 'boolean' || typeof v === 'string') return v
  if (Array.isArray(v)) return { list: v.map(specOf) }
  if ('tensor' in v) return tensorOf(v.dtype, v, v.tensor)
  if ('data' in v && 'dtype' in v) return tensorOf(v.dtype, v, v.data)
  if ('bool' in v) return v.bool
  if ('str' in v) return v.str
  if ('list' in v) return { list: v.list.map(specOf) }
  if ('tuple' in v) return { tuple: v.tuple.map(specOf) }
  if ('dict' in v) return { dict: v.dict.map(([key, value]) => [specOf(key), specOf(value)]) }
  if ('call' in v) return { call: v.call, args: v.args.map(specOf) }
  for (const name of ['dtype', 'device', 'layout', 'memory_format']) if (name in v) return v[name]
  return v
}

function elementsOf(spec) {
  if (spec === null || typeof spec !== 'object') return 0
  if ('tensor' in spec) return spec.shape.reduce((a, b) => a * b, 1)
  return Object.values(spec)
    .flat()
    .reduce((sum, item) => sum + elementsOf(item), 0)
}

/** Cases of a file: a list of them, or one a line. */
function casesOf(path) {
  const text = readFileSync(path, 'utf8')
  if (path.endsWith('.jsonl'))
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  const list = JSON.parse(text)
  return Array.isArray(list) ? list : []
}

const calls = new Map()
for (const folder of process.argv.slice(2)) {
  for (const file of readdirSync(folder).sort()) {
    if (!/\.jsonl?$/.test(file)) continue
    for (const { op, args, expect, error } of casesOf(join(folder, file))) {
      if (typeof op !== 'string' || error === true || expect?.error === true) continue
      const own = calls.get(op) ?? []
      const spec = args.map(specOf)
      const text = JSON.stringify(spec)
      if (own.length === CALLS_PER_OPERATOR || text.length > MAX_TEXT || elementsOf({ list: spec }) > MAX_ELEMENTS) continue
      const form = text.replace(/-?\d+(\.\d+)?(e-?\d+)?/g, '')
      if (own.some((one) => one.form === form)) continue
      calls.set(op, [...own, { form, text }])
    }
  }
}
const lines = [...calls].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([op, list]) => list.map(({ text }) => `["${op}",${text.slice(1)}`))
writeFileSync(new URL('calls.jsonl', import.meta.url), lines.map((line) => `${line.replace(/,\]$/, ']')}\n`).join(''))
