import { callOperator, type Input, int, PtliteError, Tensor } from '../../src/index.js'
import { findOperator } from '../../runtime/operators/table/registry.js'
import type { SchemaArgument } from '../../runtime/operators/table/schema.js'

/** Which dtypes an operator takes, found by calling it with plain arguments of every dtype. */

export const PLAIN = ['float16', 'bfloat16', 'float32', 'float64', 'uint8', 'int8', 'int16', 'int32', 'int64', 'bool'] as const
export const OTHERS = ['complex64', 'quint8', 'qint8', 'qint32'] as const
export type Probed = (typeof PLAIN)[number] | (typeof OTHERS)[number]

const QUANTIZED = { quint8: Uint8Array, qint8: Int8Array, qint32: Int32Array } as const

/** Shapes that fit most operators when all their tensors have them. */
const SHAPES: readonly (readonly number[])[] = [[3, 3], [2, 3, 3], [1, 1, 4, 4], [1, 1, 4], [4], [1, 1, 4, 4, 4], [1, 4, 2, 2], []] // prettier-ignore
/** What tensors after the first hold: as the first, positions, masks; or the first holds a mask or positions. */
const ROLES = ['same', 'positions', 'mask', 'mask first', 'positions first'] as const
type Role = (typeof ROLES)[number]
const INTS = [1, 0, 2] as const
const TEXTS = ['mean', 'constant', 'fro', 'same'] as const

interface Attempt {
  readonly shape: readonly number[]
  readonly role: Role
  readonly number: number
  readonly text: string
}

/** Combinations of what the arguments without defaults can be. */
function attemptsFor(args: readonly SchemaArgument[]): Attempt[] {
  const required = args.filter((arg) => arg.defaultValue === undefined && !arg.type.endsWith('?'))
  const some = (pattern: RegExp): boolean => required.some((arg) => pattern.test(arg.type))
  const roles =
    required.filter((arg) => arg.type.startsWith('Tensor')).length > 1 ? ROLES : (['same', 'positions first', 'mask first'] as const)
  const numbers = some(/^(int|SymInt|bool|Scalar)/) ? INTS : INTS.slice(0, 1)
  const texts = some(/^str/) ? TEXTS : TEXTS.slice(0, 1)
  return SHAPES.flatMap((shape) =>
    roles.flatMap((role) => numbers.flatMap((number) => texts.map((text) => ({ shape, role, number, text })))),
  )
}

/** Ones, or zeros: positions that are in range of everything. */
function filled(dtype: string, shape: readonly number[], one: boolean): Tensor {
  if (dtype === 'complex64')
    return callOperator('aten::complex', [filled('float32', shape, true), filled('float32', shape, true)]) as Tensor
  if (!Object.hasOwn(QUANTIZED, dtype)) return callOperator(one ? 'aten::ones' : 'aten::zeros', [[...shape], dtype]) as Tensor
  const data = new QUANTIZED[dtype as keyof typeof QUANTIZED](shape.reduce((a, b) => a * b, 1))
  return Tensor.fromStorage(data, { dtype: dtype as 'quint8', shape: [...shape], quant: { scale: 0.5, zeroPoint: 0 } })
}

function argumentOf(arg: SchemaArgument, first: boolean, dtype: string, a: Attempt): Input {
  const type = arg.type.replace(/\?$/, '')
  if (type.startsWith('Tensor')) {
    if (arg.type !== type && !first) return null
    const role = first ? (a.role.endsWith('first') ? a.role.slice(0, -6) : 'same') : a.role.endsWith('first') ? 'same' : a.role
    const data = role === 'positions' ? filled('int64', a.shape, false) : filled(role === 'mask' ? 'bool' : dtype, a.shape, true)
    if (type === 'Tensor?[]') return [filled('int64', [1], false)]
    return type === 'Tensor' ? data : [data, filled(dtype, a.shape, true)]
  }
  if (arg.type === 'Scalar?') return int(1)
  if (arg.defaultValue !== undefined || arg.type !== type) return (arg.defaultValue ?? null) as Input
  const list = /^(\w+)\[(\d*)\]$/.exec(type)
  if (list !== null) {
    const item = scalarOf(list[1]!, a)
    const count = list[2] === '' ? (/size|shape/.test(arg.name) ? a.shape.length : 1) : Number(list[2])
    return /^(size|shape|normalized_shape)/.test(arg.name) && list[2] === ''
      ? a.shape.map((n) => int(n))
      : new Array<Input>(count).fill(item)
  }
  return scalarOf(type, a)
}

function scalarOf(type: string, a: Attempt): Input {
  switch (type) {
    case 'int':
    case 'SymInt':
    case 'Scalar':
    case 'number':
      return int(a.number)
    case 'float':
      return 0.5
    case 'bool':
      return a.number !== 1
    case 'str':
      return a.text
    case 'ScalarType':
      return 'float32'
    default:
      return null
  }
}

function takes(name: string, args: readonly SchemaArgument[], dtype: string, attempt: Attempt): boolean {
  let first = true
  try {
    const values = args.map((arg) => {
      const value = argumentOf(arg, first, dtype, attempt)
      if (arg.type.startsWith('Tensor')) first = false
      return value
    })
    callOperator(name, values)
    return true
  } catch (error) {
    if (error instanceof PtliteError && error.code !== 'NATIVE_LIBRARY') return false
    throw error
  }
}

/** Null where no plain arguments were found that the operator takes in any dtype, or it takes no tensors. */
export function dtypesOf(qualifiedName: string): Probed[] | null {
  const args = findOperator(qualifiedName)?.schema.arguments ?? []
  if (!args.some((arg) => arg.type.startsWith('Tensor'))) return null
  const attempts = attemptsFor(args)
  const plain = attempts.filter(({ number }) => number === 1)
  const leads = { float32: attempts, int64: attempts, quint8: plain, complex64: plain }
  const lead = Object.entries(leads).flatMap(([dtype, some]) => some.map((attempt) => ({ dtype, attempt })))
  const found = lead.find(({ dtype, attempt }) => takes(qualifiedName, args, dtype, attempt))
  if (found === undefined) return null
  return [...PLAIN, ...OTHERS].filter((dtype) => takes(qualifiedName, args, dtype, found.attempt))
}
