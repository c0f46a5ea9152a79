import { float, int, type Input, type Output, Tensor } from 'ptlite'
import { DATATYPES, type Datatype, datatypeOf, type ElementArray } from '../protocol/datatypes.js'
import { RequestError } from '../protocol/error.js'
import type { ArgumentKind, NamedResult, SentArgument, SentBytes, SentTensor } from './messages.js'
import { joinRows } from './rows.js'

/** An argument of a method. */
export function toArgument(sent: SentArgument, kind: ArgumentKind): Input {
  if (sent === null) return null
  if ('strings' in sent) {
    const texts = sent.strings.map((each) => Buffer.from(each.buffer, each.byteOffset, each.length).toString('utf8'))
    return kind === 'str' ? texts[0]! : texts
  }
  if (kind === 'Tensor') return tensorOf(sent)
  const numbers = Array.from(sent.data as Float64Array, (each) => scalarOf(each, kind))
  return kind.startsWith('List') ? numbers : numbers[0]!
}

function scalarOf(value: number | bigint, kind: ArgumentKind): Input {
  if (kind.includes('bool')) return value !== 0
  return kind.includes('int') ? int(value) : float(Number(value))
}

/** Rows of several requests, one behind the other. */
export function toBatch(sent: readonly SentTensor[]): Tensor {
  return tensorOf(joinRows(sent))
}

function tensorOf({ datatype, shape, data }: SentTensor): Tensor {
  return Tensor.fromStorage(data, { dtype: DATATYPES[datatype].dtype!, shape })
}

/** What a method gave, as tensors of the protocol. `isState`: of the model itself, whose tensors its results may be. */
export function toResults(output: Output, isState: (tensor: Tensor) => boolean): NamedResult[] {
  const leaves: [string | null, Output][] =
    output instanceof Map ? [...output].map(([key, value]) => [String(key), value]) : leavesOf(output).map((value) => [null, value])
  const results = leaves.map(([name, value]) => ({ name, value: toSent(value) }))
  // once all are read, since one may be another
  leaves.forEach(([, value], i) => {
    const { value: sent } = results[i]!
    if (value instanceof Tensor && 'data' in sent && sent.data.byteLength >= LARGE && !isState(value)) value.dispose()
  })
  return results
}

/** A list of numbers, or of strings, is one tensor; what is in other lists and in tuples are several. */
function leavesOf(value: Output): Output[] {
  return Array.isArray(value) && !isPlain(value) ? value.flatMap(leavesOf) : [value]
}

function isPlain(values: readonly Output[]): boolean {
  const kinds = new Set(values.map((each) => (typeof each === 'bigint' ? 'number' : typeof each)))
  return kinds.size <= 1 && !kinds.has('object')
}

/** Bytes of tensors that are given back at once; smaller ones can wait for the garbage collector. */
const LARGE = 1 << 16

function toSent(value: Output): SentTensor | SentBytes {
  if (value instanceof Tensor) {
    const { dtype, shape } = value
    const datatype = datatypeOf(dtype)
    if (datatype === undefined) throw new RequestError(500, `the model's result is ${dtype}, for which the protocol has no name`)
    return { datatype, shape, data: value.data() }
  }
  const values = Array.isArray(value) ? (value as readonly Output[]) : [value]
  if (values.every((each) => typeof each === 'string'))
    return { datatype: 'BYTES', shape: [values.length], strings: values.map((each) => Buffer.from(each, 'utf8')) }
  if (values.every((each) => typeof each === 'boolean')) return numbersOf('BOOL', Uint8Array.from(values, Number))
  if (values.every((each) => typeof each === 'bigint' || Number.isInteger(each)))
    return numbersOf('INT64', BigInt64Array.from(values as readonly (number | bigint)[], BigInt))
  if (values.every((each) => typeof each === 'number')) return numbersOf('FP64', Float64Array.from(values))
  throw new RequestError(500, 'the model gives what the protocol has no tensor for')
}

function numbersOf(datatype: Datatype, data: ElementArray): SentTensor {
  return { datatype, shape: [data.length], data }
}
