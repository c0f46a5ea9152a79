import { readFileSync } from 'node:fs'
import { entryAt, operatorCount } from '../../../runtime/operators/table/registry.js'
import type { SchemaArgument } from '../../../runtime/operators/table/schema.js'
import { Dice } from './dice.js'
import type { CallSpec, Spec, TensorSpec } from './spec.js'
import { DTYPES, mutateTensor, randomDtype, randomTensor } from './tensors.js'

/* Calls of all operators, the same one for a seed: recorded calls with other arguments in places, and calls made up from schemas. */

const WILD_INTS: Spec[] = [2 ** 31, 2 ** 31 - 1, -(2 ** 31), 2 ** 32, 2 ** 40, 2 ** 53 - 1].map((int) => ({ int }))
for (const int of ['9007199254740993', '9223372036854775807', '-9223372036854775808', '-1152921504606846976']) WILD_INTS.push({ int })
const WORDS = [
  ...[
    '',
    'none',
    'mean',
    'sum',
    'floor',
    'trunc',
    'reduced',
    'complete',
    'reflect',
    'constant',
    'replicate',
    'circular',
    'nearest',
    'bilinear',
  ],
  ...[
    'linear',
    'trilinear',
    'bicubic',
    'area',
    'nearest-exact',
    'tanh',
    'fro',
    'nuc',
    'L',
    'U',
    'ij',
    'xy',
    'same',
    'valid',
    'left',
    'right',
  ],
  ...[
    'ij,jk->ik',
    'ii',
    '...ij',
    'i->',
    'ab,ba',
    'cpu',
    'cuda:7',
    'strided',
    'amax',
    'prod',
    'min',
    'lower',
    'higher',
    'midpoint',
    'gelu',
    'relu',
  ],
  ...[
    '%s',
    '%',
    '{}',
    '{}{}',
    '{0:>9999999}',
    'a b c',
    ' ',
    '\0',
    '\ud800',
    'é漢😀',
    '1',
    '-1e999',
    '0x1F',
    'nan',
    'utf-8',
    'ignore',
    '\n',
    'ptlite',
  ],
]
const OTHER_NAMES = [
  'float32',
  'int64',
  'quint8',
  'complex64',
  'bool',
  'float16',
  'contiguous',
  'channels_last',
  'channels_last_3d',
  'preserve',
  'strided',
  'sparse',
  'cpu',
  'meta',
]

/** Calls that work, by operator and by name without overload: an operator that has none takes one of its kin. */
const byOperator = new Map<string, Spec[][]>()
const byKin = new Map<string, Spec[][]>()

const kinOf = (op: string): string => op.replace(/\..*/, '').replace(/_+$/, '').replace('::_foreach_', '::')

function put(map: Map<string, Spec[][]>, key: string, args: Spec[]): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [args])
  else list.push(args)
}

for (const line of readFileSync(new URL('calls.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')) {
  const [op, ...args] = JSON.parse(line) as [string, ...Spec[]]
  put(byOperator, op, args)
  put(byKin, kinOf(op), args)
}

/** What one call's arguments have in common. */
interface Context {
  readonly dice: Dice
  /** A shape and a dtype that most of its tensors have. */
  readonly shape: readonly number[]
  readonly dtype: TensorSpec['tensor']
  readonly tensors: TensorSpec[]
  /** Share of extreme integers among all. */
  readonly extremes: number
}

function makeTensor(c: Context): Spec {
  const { dice, tensors } = c
  if (tensors.length > 0 && dice.chance(0.06)) {
    const same = dice.below(tensors.length)
    const { shape } = tensors[same]!
    if (dice.chance(0.5) || shape.length === 0) return { same }
    return { same, shape: shape.map((n) => Math.max(n - 1, 0)), strides: shape.map(() => dice.below(3)), offset: dice.below(2) }
  }
  const spec = dice.chance(0.6)
    ? randomTensor(dice, broadcastOf(dice, c.shape), dice.chance(0.8) ? c.dtype : randomDtype(dice))
    : randomTensor(dice)
  tensors.push(spec)
  return spec
}

function broadcastOf(dice: Dice, shape: readonly number[]): number[] {
  const sizes = dice.chance(0.2) ? shape.slice(dice.below(shape.length + 1)) : [...shape]
  return dice.chance(0.2) ? sizes.map((n) => (dice.chance(0.4) ? 1 : n)) : sizes
}

function makeInt({ dice, shape, extremes }: Context, name: string): Spec {
  if (dice.chance(extremes)) return dice.pick(WILD_INTS)
  if (/dim|axis/.test(name)) return { int: dice.below(2 * shape.length + 3) - shape.length - 1 }
  if (/dtype/.test(name)) return { int: dice.below(19) }
  return { int: dice.chance(0.8) ? dice.below(5) : dice.pick([-1, -2, 6, 10, 63, 100, 1000, 65536]) }
}

function makeFloat({ dice }: Context): Spec {
  return {
    float: dice.chance(0.7)
      ? Math.round(dice.next() * 400) / 100
      : dice.pick(['nan', 'inf', '-inf', 0, -1, 1e-30, 1e30, 1e308, 0.5, 2 ** 53]),
  }
}

function makeString({ dice }: Context): Spec {
  if (dice.chance(0.8)) return dice.pick(WORDS)
  return String.fromCharCode(...dice.times(dice.below(9), () => dice.below(dice.pick([128, 65536]))))
}

/** A value of any type. */
function makeAny(c: Context, depth = 0): Spec {
  const { dice } = c
  switch (dice.below(depth > 2 ? 7 : 11)) {
    case 0:
      return null
    case 1:
      return dice.chance(0.5)
    case 2:
      return makeInt(c, '')
    case 3:
      return makeFloat(c)
    case 4:
      return makeString(c)
    case 5:
      return { complex: [dice.next(), dice.pick([0, 1, 1e308, -2])] }
    case 6:
      return dice.pick(OTHER_NAMES)
    case 7:
      return makeTensor(c)
    case 8:
      return { tuple: dice.times(dice.below(4), () => makeAny(c, depth + 1)) }
    case 9:
      return { dict: dice.times(dice.below(3), () => [dice.pick([makeInt(c, ''), makeString(c)]), makeAny(c, depth + 1)] as const) }
    default:
      return { list: dice.times(dice.below(4), () => makeAny(c, depth + 1)) }
  }
}

function makeList(c: Context, element: string, name: string, size: number | undefined): Spec {
  const { dice, shape } = c
  const usual = size ?? (element === 'int' && dice.chance(0.5) ? shape.length : dice.below(4))
  const length = dice.chance(0.9) ? usual : dice.pick([0, 1, usual + 1, Math.max(usual - 1, 0)])
  const list = dice.times(length, () => makeOf(c, element, name))
  if (length > 0 && dice.chance(0.03)) list[dice.below(length)] = dice.chance(0.5) ? null : makeAny(c)
  return { list }
}

/** A value of this schema type, most often. */
function makeOf(c: Context, type: string, name: string): Spec {
  const { dice } = c
  if (dice.chance(0.015)) return makeAny(c)
  if (type.endsWith('?')) return dice.chance(0.5) ? null : makeOf(c, type.slice(0, -1), name)
  const list = /^(.*)\[(\d*)\]$/.exec(type)
  if (list !== null) {
    if (list[2] !== '' && dice.chance(0.2)) return makeOf(c, list[1]!, name)
    return makeList(c, list[1]!, name, list[2] === '' ? undefined : Number(list[2]))
  }
  switch (type) {
    case 'Tensor':
      return makeTensor(c)
    case 'int':
    case 'SymInt':
      return makeInt(c, name)
    case 'float':
      return makeFloat(c)
    case 'bool':
      return dice.chance(0.5)
    case 'str':
      return makeString(c)
    case 'complex':
      return { complex: [dice.next(), dice.next()] }
    case 'Scalar':
    case 'number':
      return dice.chance(0.5) ? makeInt(c, name) : dice.chance(0.8) ? makeFloat(c) : dice.pick<Spec>([true, { complex: [1, 2] }])
    case 'Generator':
      return { generator: dice.below(100) }
    case 'ScalarType':
      return dice.pick(DTYPES)
    case 'Layout':
      return dice.chance(0.9) ? 'strided' : dice.pick(OTHER_NAMES)
    case 'MemoryFormat':
      return dice.pick(['contiguous', 'channels_last', 'preserve', 'channels_last_3d'])
    case 'Device':
      return dice.chance(0.9) ? 'cpu' : dice.pick(['cuda', 'meta', 'cpu:1', ''])
    default:
      return makeCompound(c, type, name)
  }
}

function makeCompound(c: Context, type: string, name: string): Spec {
  const { dice } = c
  const dict = /^Dict\((\w+), (.*)\)$/.exec(type)
  if (dict !== null) {
    return { dict: dice.times(dice.below(4), () => [makeOf(c, dict[1]!, name), makeOf(c, dict[2]!, name)] as const) }
  }
  const items = /^\((.*)\)$/.exec(type)
  if (items !== null) return { tuple: items[1]!.split(', ').map((item) => makeOf(c, item, name)) }
  if (type.startsWith('__torch__')) {
    const packed = byOperator.get(
      `${dice.pick(['quantized::linear_prepack', 'quantized::conv2d_prepack', 'prepacked::linear_clamp_prepack'])}`,
    )
    if (packed !== undefined) return { call: 'quantized::linear_prepack', args: dice.pick(packed) }
  }
  return makeAny(c)
}

/** A value of another kind or size in place of this one. */
function mutate(c: Context, spec: Spec, arg: SchemaArgument | undefined): Spec {
  const { dice } = c
  const fresh = (): Spec => (arg === undefined ? makeAny(c) : makeOf(c, arg.type, arg.name))
  if (dice.chance(0.04)) return dice.chance(0.3) ? null : makeAny(c)
  if (spec === null || typeof spec !== 'object') return fresh()
  if ('tensor' in spec) {
    if (c.tensors.length > 0 && dice.chance(0.08)) return makeTensor(c)
    return mutateTensor(dice, spec)
  }
  if ('int' in spec) {
    if (dice.chance(0.4)) return dice.chance(0.2 + c.extremes) ? dice.pick(WILD_INTS) : fresh()
    return { int: Number(spec.int) + dice.pick([-1, 1, 2, -2, -5, 7]) }
  }
  if ('list' in spec && spec.list.length > 0 && !dice.chance(0.15)) {
    const at = dice.below(spec.list.length)
    const list = [...spec.list]
    if (dice.chance(0.12)) list.splice(at, 1)
    else if (dice.chance(0.12)) list.push(list[at]!)
    else list[at] = mutate(c, list[at]!, undefined)
    return { list }
  }
  if ('call' in spec && !dice.chance(0.1)) {
    const at = dice.below(spec.args.length)
    return { ...spec, args: spec.args.map((item, i) => (i === at ? mutate(c, item, undefined) : item)) }
  }
  return fresh()
}

function noteTensors(spec: Spec, tensors: TensorSpec[]): void {
  if (spec === null || typeof spec !== 'object') return
  if ('tensor' in spec) tensors.push(spec)
  for (const list of ['list', 'tuple', 'args'] as const)
    if (list in spec) for (const item of (spec as unknown as Record<string, Spec[]>)[list]!) noteTensors(item, tensors)
}

/** The arguments of a call of an operator's kin as those of this one: the others are made. */
function adapted(c: Context, args: readonly Spec[], declared: readonly SchemaArgument[]): Spec[] {
  return declared.slice(0, Math.max(args.length, declared.length)).map((arg, i) => {
    if (i >= args.length) return makeOf(c, arg.type, arg.name)
    const isList = (args[i] as { list?: unknown } | null)?.list !== undefined
    return arg.type.startsWith('Tensor[]') && !isList ? { list: [args[i]!] } : args[i]!
  })
}

/** Numbers of the operators whose qualified names match. */
export function operatorsLike(pattern: string): number[] {
  const expression = new RegExp(pattern)
  return Array.from({ length: operatorCount() }, (_, i) => i).filter((i) => expression.test(entryAt(i).qualifiedName))
}

/** Call number `seed`, of any operator or of one of these. */
export function callOf(seed: number, numbers?: readonly number[]): CallSpec {
  const dice = new Dice(seed)
  // all operators have their turn
  const turn = seed + dice.below(7)
  const { qualifiedName: op, schema } = entryAt(numbers === undefined ? turn % operatorCount() : numbers[turn % numbers.length]!)
  const declared = schema.arguments
  const shape = dice.times(dice.pick([0, 1, 2, 2, 3, 4, 5]), () => dice.pick([0, 1, 2, 3, 3, 4, 5]))
  const c: Context = { dice, shape, dtype: randomDtype(dice), tensors: [], extremes: dice.chance(0.12) ? 0.4 : 0.05 }
  const own = byOperator.get(op)
  const kin = own ?? byKin.get(kinOf(op))
  if (kin === undefined || dice.chance(0.25)) {
    const given = dice.chance(0.8) ? declared : declared.slice(0, dice.below(declared.length + 1))
    const args = given.map((arg) => makeOf(c, arg.type, arg.name))
    if (schema.isVararg) args.push(...dice.times(dice.below(4), () => makeAny(c)))
    return { op, args }
  }
  const recorded = dice.pick(kin)
  for (const spec of recorded) noteTensors(spec, c.tensors)
  const args = own === undefined ? adapted(c, recorded, declared) : [...recorded]
  if (own !== undefined) for (const arg of declared.slice(args.length)) if (arg.isOut || dice.chance(0.3)) args.push(makeOf(c, arg.type, arg.name)) // prettier-ignore
  const times = dice.pick([0, 1, 1, 1, 2, 2, 3])
  for (let i = 0; i < times && args.length > 0; i++) {
    const at = dice.below(args.length)
    args[at] = mutate(c, args[at]!, declared[at])
  }
  return { op, args }
}
