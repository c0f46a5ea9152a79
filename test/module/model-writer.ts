import { Float } from '../../runtime/tensor/scalar.js'
import type { OperatorEntry } from '../../runtime/operators/table/registry.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import { p, pickle } from './pickle-writer.js'
import { zip } from './zip-writer.js'

export type Instruction = readonly [name: string, x: number, n: number]

/** A method without a schema: it takes as many arguments as its first instruction stores, `self` among them. */
export interface MethodSource {
  readonly name: string
  readonly instructions: readonly Instruction[]
  /** Qualified names, with the number of arguments that calls give. */
  readonly operators: readonly (readonly [qualifiedName: string, given: number])[]
  readonly constants: readonly Value[]
  readonly types: readonly string[]
  readonly registers: number
}

/** A .ptl file of a module without attributes that has these methods. */
export function modelOf(methods: readonly MethodSource[]): Uint8Array {
  const text = (value: string): Uint8Array => new Uint8Array(Buffer.from(value))
  return zip([
    { name: 'm/version', data: text('10\n') },
    { name: 'm/bytecode.pkl', data: pickle(tuple([p.int(8), ...methods.map(functionOf)])) },
    { name: 'm/data.pkl', data: pickle(p.global('__torch__', 'M'), p.emptyTuple, p.newObject, p.emptyDict, p.build) },
  ])
}

const tuple = (items: readonly (readonly number[])[]): number[] => [p.mark, ...items, p.tuple].flat()
const pair = (key: string, value: readonly number[]): number[] => [p.text(key), value, p.tuple2].flat()

function functionOf({ name, instructions, operators, constants, types, registers }: MethodSource): number[] {
  const table = tuple([
    pair('instructions', tuple(instructions.map(([opcode, x, n]) => tuple([p.text(opcode), p.int(x), p.int(n)])))),
    pair('operators', tuple(operators.map(operatorOf))),
    pair('constants', tuple(constants.map(constantOf))),
    pair('types', tuple(types.map(p.text))),
    pair('register_size', p.int(registers)),
  ])
  return tuple([p.text(`__torch__.M.${name}`), table])
}

function operatorOf([qualifiedName, given]: readonly [string, number]): number[] {
  const [name, overload = ''] = qualifiedName.split('.') as [string, string?]
  return tuple([p.text(name), p.text(overload), p.int(given)])
}

function constantOf(value: Value): number[] {
  if (value === null) return p.none
  if (typeof value === 'boolean') return value ? p.true : [0x89]
  if (typeof value === 'string') return p.text(value)
  if (value instanceof Float) return p.float(value.value)
  if (typeof value === 'number' || typeof value === 'bigint') return p.long(BigInt(value))
  throw new Error('a constant of another kind')
}

/**
 * A method that calls one operator, and returns its result: a tuple of several, None for nothing. Tensors among its arguments, in lists too, are the method's own
 * in this order; all else is constant.
 */
export function methodOf(name: string, { qualifiedName, schema }: OperatorEntry, args: readonly Value[]): MethodSource {
  const constants: Value[] = []
  const types: string[] = []
  let tensors = 0
  const load = (value: Value): Instruction[] => {
    if (value instanceof Tensor) return [['LOAD', 2 + tensors++, 0]]
    if (!Array.isArray(value)) return [['LOADC', constants.push(value) - 1, 0]]
    return [...value.flatMap(load), ['LIST_CONSTRUCT', types.push(listTypeOf(value)) - 1, value.length]]
  }
  const loads = args.flatMap(load)
  const results = schema.returns.length
  const none = (): Instruction => ['LOADC', constants.push(null) - 1, 0]
  const join: Instruction[] = results === 1 ? [] : results === 0 ? [none()] : [['TUPLE_CONSTRUCT', results, 0]]
  return {
    name,
    instructions: [['STOREN', 1, 1 + tensors], ['DROPR', 1, 0], ...loads, ['OP', 0, 0], ...join, ['RET', 0, 0]],
    operators: [[qualifiedName, args.length]],
    constants,
    types,
    registers: 1 + tensors,
  }
}

function listTypeOf(list: readonly Value[]): string {
  const kind = (value: Value | undefined): string =>
    value instanceof Tensor ? 'Tensor' : value instanceof Float ? 'float' : typeof value === 'boolean' ? 'bool' : 'int'
  return list.includes(null) ? 'List[Optional[Tensor]]' : `List[${kind(list[0])}]`
}
