import { damaged } from '../../../program/file-error.js'
import type { Kernel } from '../kernel.js'
import type { Kind, MethodEmitter } from '../method-emitter.js'
import { isTensorNumber, PRIM, type TensorNumber } from './parts.js'

/*
 * Operators on numbers, which overwrite their last argument: sizes and what follows from them (kernels/prim_ops).
 */

/** Kinds that computing with a number may depend on. */
function kindOf(index: number, emitter: MethodEmitter): Kind {
  const kind = emitter.kindOf(index)
  if (kind !== 'int' && kind !== 'float' && kind !== 'bool' && kind !== 'number')
    throw damaged(`expected a number as value ${index}, found ${kind}`)
  return kind
}

/** What two numbers are computed with as: ints or floats, or whatever they turn out to be. */
function commonKind(a: number, b: number, emitter: MethodEmitter): Kind {
  const kinds = [kindOf(a, emitter), kindOf(b, emitter)]
  return kinds.includes('number') ? 'number' : kinds.includes('float') ? 'float' : 'int'
}

function pushNumber(index: number, to: Kind, emitter: MethodEmitter): void {
  emitter.push(index)
  emitter.convert(kindOf(index, emitter), to)
}

function overload(name: string, kind: Kind): string {
  return kind === 'number' ? name : `${name}.${kind}`
}

/** A kernel of so many numbers; `write` leaves the result on the stack and says of what kind it is. */
function numeric(count: number, write: (args: readonly number[], emitter: MethodEmitter) => Kind): Kernel {
  return {
    effects: (args) => ({ reads: args.slice(0, count), writes: args.slice(count, count + 1) }),
    emit(args, emitter) {
      const result = args[count]
      if (result === undefined) throw damaged(`expected ${count + 1} arguments, found ${args.length}`)
      emitter.store(result, write(args, emitter))
    },
  }
}

/** Of two numbers, as floats where one of them is. */
function arithmetic(name: string): Kernel {
  return numeric(2, ([a, b], emitter) => {
    const kind = commonKind(a!, b!, emitter)
    pushNumber(a!, kind, emitter)
    pushNumber(b!, kind, emitter)
    emitter.operator(overload(name, kind), 2)
    return kind
  })
}

function comparison(name: string): Kernel {
  return numeric(2, ([a, b], emitter) => {
    const kind = commonKind(a!, b!, emitter)
    pushNumber(a!, kind, emitter)
    pushNumber(b!, kind, emitter)
    emitter.operator(overload(`aten::${name}`, kind), 2)
    return 'bool'
  })
}

/** floor(a / b) of ints, rounded to zero as C does. */
const truncatedQuotient = numeric(2, ([a, b], emitter) => {
  pushNumber(a!, 'int', emitter)
  pushTruncated(a!, b!, emitter)
  emitter.operator('aten::sub.int', 2)
  pushNumber(b!, 'int', emitter)
  emitter.operator('aten::floordiv.int', 2)
  return 'int'
})

const truncatedRemainder = numeric(2, ([a, b], emitter) => {
  pushTruncated(a!, b!, emitter)
  return 'int'
})

/** The remainder that has the sign of the dividend. */
function pushTruncated(a: number, b: number, emitter: MethodEmitter): void {
  const { builder } = emitter
  pushNumber(a, 'float', emitter)
  pushNumber(b, 'float', emitter)
  builder.operator('aten::fmod.float', 2)
  builder.operator('aten::Int.float', 1)
}

/** One that rounds a float to an int, or leaves an int. */
function rounding(name: string): Kernel {
  return numeric(1, ([a], emitter) => {
    if (kindOf(a!, emitter) !== 'float') {
      emitter.push(a!)
      return kindOf(a!, emitter)
    }
    emitter.push(a!)
    emitter.operator(name, 1)
    return name.startsWith('aten::Int') || name === 'aten::ceil.float' || name === 'aten::floor.float' ? 'int' : 'float'
  })
}

function cast(kind: Kind): Kernel {
  return numeric(1, ([a], emitter) => {
    pushNumber(a!, kind, emitter)
    return kind
  })
}

/** Keys are names without the namespace. */
const PRIMS: Readonly<Record<string, Kernel>> = {
  'add.Scalar': arithmetic('aten::add'),
  'sub.Scalar': arithmetic('aten::sub'),
  'mul.Scalar': arithmetic('aten::mul'),
  'floordiv.Scalar': arithmetic('aten::floordiv'),
  'floordiv.int': truncatedQuotient,
  'mod.int': truncatedRemainder,
  'mod.Scalar': truncatedRemainder,
  'truediv.Scalar': numeric(2, ([a, b], emitter) => {
    pushNumber(a!, 'float', emitter)
    pushNumber(b!, 'float', emitter)
    emitter.operator('aten::div.float', 2)
    return 'float'
  }),
  'sym_max.Scalar': arithmetic('prim::max'),
  'sym_min.Scalar': arithmetic('prim::min'),
  'eq.Scalar': comparison('eq'),
  'ne.Scalar': comparison('ne'),
  'gt.Scalar': comparison('gt'),
  'lt.Scalar': comparison('lt'),
  'ge.Scalar': comparison('ge'),
  'le.Scalar': comparison('le'),
  'neg.Scalar': numeric(1, ([a], emitter) => {
    const kind = kindOf(a!, emitter) === 'float' ? 'float' : 'int'
    pushNumber(a!, kind, emitter)
    emitter.operator(`aten::neg.${kind}`, 1)
    return kind
  }),
  'sym_float.Scalar': cast('float'),
  'sym_int.Scalar': cast('int'),
  'ceil.Scalar': rounding('aten::ceil.float'),
  'floor.Scalar': rounding('aten::floor.float'),
  'trunc.Scalar': rounding('aten::Int.float'),
  'round.Scalar': rounding('aten::round.float'),
  'sym_not.Scalar': numeric(1, ([a], emitter) => {
    pushNumber(a!, 'bool', emitter)
    emitter.builder.emit('__NOT__')
    return 'bool'
  }),
  'sym_ite.Scalar': numeric(3, ([condition, yes, no], emitter) => {
    const { builder } = emitter
    const [a, b] = [kindOf(yes!, emitter), kindOf(no!, emitter)]
    const kind = a === b ? a : commonKind(yes!, no!, emitter)
    const [other, end] = [builder.label(), builder.label()]
    pushNumber(condition!, 'bool', emitter)
    builder.jump('JF', other)
    pushNumber(yes!, kind, emitter)
    builder.jump('JMP', end)
    builder.place(other)
    pushNumber(no!, kind, emitter)
    builder.place(end)
    return kind
  }),
}

/** The size of a dimension, or what else is known of a tensor. */
function ofTensor(count: number, operator: string): Kernel {
  return numeric(count, (args, emitter) => {
    emitter.pushAs(args[0]!, 'Tensor')
    if (count > 1) emitter.pushAs(args[1]!, 'int')
    emitter.operator(operator, count)
    return 'int'
  })
}

const ATEN: Readonly<Record<TensorNumber, Kernel>> = {
  'aten::sym_size.int': ofTensor(2, 'aten::size.int'),
  'aten::sym_numel': ofTensor(1, 'aten::numel'),
  'aten::_local_scalar_dense': numeric(1, ([self], emitter) => {
    const { scalarType } = emitter.tensor(self!)
    const kind = scalarType === 11 ? 'bool' : scalarType <= 4 ? 'int' : 'float'
    emitter.push(self!)
    emitter.operator({ bool: 'aten::Bool.Tensor', int: 'aten::Int.Tensor', float: 'aten::Float.Tensor' }[kind], 1)
    return kind
  }),
}

/** A view with sizes that the program computes. */
const view: Kernel = {
  effects: ([self, size, out]) => ({
    reads: [self!, size!],
    writes: out === undefined ? [] : [out],
    aliases: out === undefined ? [] : [[self!, out]],
  }),
  emit([self, size, out], emitter) {
    emitter.pushAs(self!, 'Tensor')
    emitter.pushAs(size!, 'int[]')
    emitter.operator('aten::reshape', 2)
    emitter.store(out!)
  },
}

/** A row of the result of a loop, which grows up to the bound of its first size. */
const copyIndex: Kernel = {
  prepare: ([out], emitter) => void emitter.rowsOf(out!),
  effects: ([out, element, index]) => ({ reads: [element!, index!], writes: [out!] }),
  emit([out, element, index], emitter) {
    const { builder } = emitter
    const rows = emitter.rowsOf(out!)
    builder.emit('LOAD', rows)
    builder.constant(0)
    emitter.pushAs(index!, 'int')
    builder.operator('aten::select.int', 3)
    emitter.pushAs(element!, 'Tensor')
    builder.operator('aten::copy_', 2)
    builder.emit('DROP')
    builder.emit('LOAD', rows)
    builder.constant(0)
    builder.constant(0)
    emitter.pushAs(index!, 'int')
    builder.constant(1)
    builder.operator('aten::add.int', 2)
    builder.operator('aten::slice.Tensor', 4)
    emitter.store(out!)
  },
}

/** What serves an operator on numbers, or one that ExecuTorch has for itself. */
export function primKernel(name: string): Kernel | undefined {
  if (isTensorNumber(name)) return ATEN[name]
  if (!name.startsWith(PRIM)) return undefined
  const own = name.slice(PRIM.length)
  if (own === 'et_view.default') return view
  if (own === 'et_copy_index.tensor') return copyIndex
  return Object.hasOwn(PRIMS, own) ? PRIMS[own] : undefined
}
