import type { FunctionCode } from '../../program/code.js'
import { linkFunctions } from '../../program/link.js'
import { OPCODE_BY_NAME } from '../../program/opcodes.js'
import type { LinkedFunction } from '../../program/linked.js'
import { PtliteError } from '../../runtime/error.js'
import { contiguousStrides, numelOf } from '../../runtime/tensor/shape.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { Tensor, viewOf } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import { callOperator, tensor } from '../../src/index.js'
import { Random } from '../backends/support/random.js'

/** A method made up at random, with arguments of the form that it takes. */
export interface RandomProgram {
  readonly fn: LinkedFunction
  /** The operators it calls, for messages. */
  readonly text: string
  /** Arguments with fresh contents; their shapes, strides and overlaps are the same each time. */
  readonly makeInputs: () => Tensor[]
  /** Attributes of `self`, with the same contents each time. */
  readonly makeAttributes: () => Tensor[]
}

/** What decides how a program looks. */
export class Dice extends Random {
  below(n: number): number {
    return Math.floor(this.next() * n)
  }

  chance(p: number): boolean {
    return this.next() < p
  }
}

type Operand = { readonly register: number } | { readonly list: readonly number[] } | { readonly constant: Value }

/** What a step that is more than one call of an operator writes its code with. */
export interface Assembler {
  emit(name: string, x?: number, n?: number): void
  load(tensor: number): void
  store(tensor: number): void
  /** Register number `index` of this kind of step. */
  loadOther(index: number): void
  storeOther(index: number): void
  constant(value: Value): void
  call(op: string, args: number): void
}

interface Step {
  readonly code?: (to: Assembler) => void
  readonly op: string
  readonly args: readonly Operand[]
  /** Registers of the results; several where the operator returns a list. */
  readonly to: readonly number[]
  readonly unpack: boolean
}

const UNARY = [
  'relu',
  'sigmoid',
  'tanh',
  'neg',
  'abs',
  'sin',
  'hardswish',
  'silu',
  'square',
  'erf',
  'contiguous',
  'clone',
  'detach',
  'gelu',
  'softmax',
  'log_softmax',
]
const BINARY = ['add', 'sub', 'mul', 'maximum', 'minimum', 'div', 'lt']
const IN_PLACE = ['relu_', 'sigmoid_', 'add_', 'mul_', 'sub_', 'copy_', 'fill_', 'zero_', 'clamp_', 'unsqueeze_', 'hardtanh_']
const VIEWS = ['view', 'reshape', 'permute', 'transpose', 'unsqueeze', 'squeeze', 'slice', 'select', 'expand', 'flatten', 'chunk', 'unbind']
const OTHER = [
  'cat',
  'stack',
  'mm',
  'matmul',
  'linear',
  'sum',
  'mean',
  'layer_norm',
  'clamp',
  'to',
  'where',
  'zeros_like',
  'conv_bn',
  'add_scalar',
  'mul_scalar',
  'pow',
]

/** Builds a program by running it: what does not work on the tensors at hand is left out. */
export function randomProgram(seed: number): RandomProgram {
  return new Builder(diceOf(seed)).build()
}

export function diceOf(seed: number): Dice {
  const dice = new Dice(Math.imul(seed, 0x9e3779b1))
  for (let i = 0; i < 4; i++) dice.next()
  return dice
}

export class Builder {
  protected readonly tensors: Tensor[] = []
  protected readonly steps: Step[] = []
  private readonly constants: Value[] = []
  private readonly weights = new Map<number, number>()
  private inputs = 0
  /** Probability that an operator may write to an argument. */
  protected readonly writesToInputs: number = 0.1
  /** Registers behind those of tensors. */
  protected others = 0

  constructor(protected readonly random: Dice) {}

  protected makeAttributes(): Tensor[] {
    return []
  }

  build(): RandomProgram {
    const { random } = this
    const makeInputs = inputMaker(random)
    const inputs = makeInputs()
    this.tensors.push(...inputs)
    this.inputs = inputs.length
    const length = 2 + random.below(12)
    for (let tries = 0; this.steps.length < length && tries < 60; tries++) this.tryStep()
    const outputs = Array.from({ length: 1 + random.below(3) }, () =>
      random.chance(0.7) ? this.tensors.length - 1 - random.below(Math.min(3, this.tensors.length)) : random.below(this.tensors.length),
    )
    return {
      fn: this.assemble(outputs),
      text:
        this.steps.map((s) => `${s.to.join(',')} = ${s.op}(${s.args.map(operandText).join(', ')})`).join('\n') +
        `\nreturn ${outputs.join(', ')}`,
      makeInputs,
      makeAttributes: () => this.makeAttributes(),
    }
  }

  protected tryStep(): void {
    const { random } = this
    const a = this.pickTensor()
    try {
      if (random.chance(0.12)) {
        this.pieces(a)
        return
      }
      const kind = random.next()
      const [op, args] =
        kind < 0.25
          ? this.unary(a)
          : kind < 0.45
            ? this.binary(a)
            : kind < 0.65
              ? this.viewStep(a)
              : kind < 0.77
                ? this.inPlace(a)
                : this.other(a)
      if (op !== '') this.apply(op, args)
    } catch (error) {
      if (!(error instanceof PtliteError)) throw error
    }
  }

  /** A recent tensor more often than an old one; now and then a weight. */
  protected pickTensor(): number {
    const { random, tensors } = this
    if (random.chance(0.08)) return this.weight(random.pick([[3], [4], [1, 4], [3, 4]]))
    return random.chance(0.6) ? tensors.length - 1 - random.below(Math.min(3, tensors.length)) : random.below(tensors.length)
  }

  private weight(shape: readonly number[]): number {
    const t = randomTensor(this.random, shape)
    t.pinned = true
    const at = this.tensors.push(t) - 1
    this.weights.set(at, this.constants.push(t) - 1)
    return at
  }

  protected apply(op: string, args: readonly Operand[]): void {
    const values = args.map((a): Value =>
      'register' in a ? this.tensors[a.register]! : 'list' in a ? a.list.map((r) => this.tensors[r]!) : a.constant,
    )
    const result = callOperator(op, values as Parameters<typeof callOperator>[1])
    const found = Array.isArray(result) ? result : [result]
    if (!found.every((t) => t instanceof Tensor) || found.length === 0 || found.some((t) => t.numel > 4096 || t.numel === 0)) return
    const to = found.map((t) => this.tensors.push(t) - 1)
    this.steps.push({ op, args, to, unpack: Array.isArray(result) })
  }

  /** What networks spell out, and passes recognise: gates, gelu, softmax, norms, attention, rotary embedding, shuffles. */
  private pieces(a: number): void {
    const { random } = this
    const t = this.tensors[a]!
    if (t.dtype !== 'float32' || t.shape.length === 0) return
    const c = (constant: Value): Operand => ({ constant })
    const r = (register: number): Operand => ({ register })
    const made = (op: string, ...args: Operand[]): number => {
      this.apply(`aten::${op}`, args)
      return this.tensors.length - 1
    }
    const keep = [c([-1]), c(true), c(null)]
    const last = t.shape.at(-1)!
    switch (random.below(13)) {
      case 0: {
        const hard = made('relu6', r(made('add.Scalar', r(a), c(3), c(1))))
        made('div.Scalar', r(random.chance(0.5) ? made('mul.Tensor', r(a), r(hard)) : hard), c(6))
        return
      }
      case 1:
        made('mul.Tensor', r(a), r(made('sigmoid', r(a))))
        return
      case 2: {
        const erf = made('erf', r(made('mul.Scalar', r(a), c(new Float(Math.SQRT1_2)))))
        made('mul.Tensor', r(made('mul.Scalar', r(a), c(new Float(0.5)))), r(made('add.Scalar', r(erf), c(1), c(1))))
        return
      }
      case 3: {
        const shifted = made('sub.Tensor', r(a), r(made('amax', r(a), c([-1]), c(true))), c(1))
        const exp = made('exp', r(shifted))
        made('div.Tensor', r(exp), r(made('sum.dim_IntList', r(exp), ...keep)))
        return
      }
      case 4: {
        const centred = made('sub.Tensor', r(a), r(made('mean.dim', r(a), ...keep)), c(1))
        const variance = made('mean.dim', r(made('square', r(centred))), ...keep)
        const norm = made('mul.Tensor', r(centred), r(made('rsqrt', r(made('add.Scalar', r(variance), c(new Float(0.01)), c(1))))))
        if (random.chance(0.5)) made('mul.Tensor', r(norm), r(this.weight([t.shape.at(-1)!])))
        return
      }
      case 5: {
        if (t.shape.length < 3) return
        const scores = made('matmul', r(a), r(made('transpose.int', r(a), c(-2), c(-1))))
        const scaled = random.chance(0.5) ? made('mul.Scalar', r(scores), c(new Float(0.5))) : scores
        const mixed = made('matmul', r(made('softmax.int', r(scaled), c(-1), c(null))), r(a))
        const { shape } = this.tensors[mixed]!
        if (shape.length > 3) made('contiguous', r(made('transpose.int', r(mixed), c(1), c(2))), c(0))
        return
      }
      case 6: {
        const square = random.chance(0.5) ? made('mul.Tensor', r(a), r(a)) : made('pow.Tensor_Scalar', r(a), c(2))
        const spread = made('add.Scalar', r(made('mean.dim', r(square), ...keep)), c(new Float(0.01)), c(1))
        const norm = made('mul.Tensor', r(a), r(made('rsqrt', r(spread))))
        if (random.chance(0.5)) made('mul.Tensor', r(this.weight([last])), r(norm))
        return
      }
      case 7: {
        if (last % 2 !== 0) return
        const [low, high] = [0, last / 2].map((from) => made('slice.Tensor', r(a), c(-1), c(from), c(from + last / 2), c(1)))
        const exchanged = made('cat', { list: [made('neg', r(high!)), low!] }, c(-1))
        const [cosines, sines] = [a, exchanged].map((x) => made('mul.Tensor', r(x), r(this.weight([last]))))
        made('add.Tensor', r(cosines!), r(sines!), c(1))
        return
      }
      case 8: {
        const rows = made('linear', r(made('reshape', r(a), c([-1, last]))), r(this.weight([3, last])), c(null))
        made('relu', r(made('view', r(rows), c([...t.shape.slice(0, -1), 3]))))
        return
      }
      case 9:
        made('softmax.int', r(made('mul.Tensor', r(a), r(this.weight([])))), c(-1), c(6))
        return
      case 10: {
        if (t.shape.length < 2) return
        const turned = made('transpose.int', r(a), c(-2), c(-1))
        const sum = made('add.Tensor', r(turned), r(made('neg', r(turned))), c(1))
        made('layer_norm', r(sum), c([t.shape.at(-2)!]), c(null), c(null), c(new Float(0.01)), c(true))
        return
      }
      case 11: {
        if (t.shape.length < 3) return
        const rows = made('contiguous', r(made('transpose.int', r(a), c(-3), c(-2))), c(0))
        const cast = (id: number, type: number): number => made('to.dtype', r(id), c(type), c(false), c(false), c(null))
        // keys and values as of a cache in bfloat16
        const keys = random.chance(0.5) ? cast(cast(rows, 15), 6) : rows
        made('scaled_dot_product_attention', r(rows), r(keys), r(keys), c(null), c(new Float(0)), c(false))
        return
      }
      default: {
        const halves = made('cat', { list: [made('relu', r(a)), made('neg', r(a)), a] }, c(0))
        if (random.chance(0.5)) made('add.Scalar', r(made('cat', { list: [made('sin', r(halves)), halves] }, c(0))), c(1), c(1))
        else if (random.chance(0.5)) made('relu_', r(halves))
      }
    }
  }

  private unary(a: number): [string, Operand[]] {
    const name = this.random.pick(UNARY)
    const self = { register: a }
    if (name === 'contiguous') return ['aten::contiguous', [self, { constant: 0 }]]
    if (name === 'clone') return ['aten::clone', [self, { constant: null }]]
    if (name === 'gelu') return ['aten::gelu', [self, { constant: 'none' }]]
    if (name.endsWith('softmax')) return [`aten::${name}.int`, [self, { constant: -1 }, { constant: null }]]
    return [`aten::${name}`, [self]]
  }

  private binary(a: number): [string, Operand[]] {
    const name = this.random.pick(BINARY)
    const args: Operand[] = [{ register: a }, { register: this.pickTensor() }]
    if (name === 'add' || name === 'sub') args.push({ constant: this.random.pick([1, 1, 2]) })
    return [name === 'maximum' || name === 'minimum' ? `aten::${name}` : `aten::${name}.Tensor`, args]
  }

  private viewStep(a: number): [string, Operand[]] {
    const { random } = this
    const t = this.tensors[a]!
    const rank = t.shape.length
    const self = { register: a }
    const dim = { constant: random.below(Math.max(rank, 1)) }
    const c = (constant: Value): Operand => ({ constant })
    switch (random.pick(VIEWS)) {
      case 'view':
        return ['aten::view', [self, c(otherShape(random, t.shape))]]
      case 'reshape':
        return ['aten::reshape', [self, c(otherShape(random, t.shape))]]
      case 'permute':
        return ['aten::permute', [self, c(shuffled(random, rank))]]
      case 'transpose':
        return ['aten::transpose.int', [self, dim, c(random.below(Math.max(rank, 1)))]]
      case 'unsqueeze':
        return ['aten::unsqueeze', [self, c(random.below(rank + 1))]]
      case 'squeeze':
        return ['aten::squeeze', [self]]
      case 'slice':
        return [
          'aten::slice.Tensor',
          [self, dim, c(random.below(2)), c(random.pick([2, 3, 9223372036854775807n])), c(random.pick([1, 1, 2]))],
        ]
      case 'select':
        return ['aten::select.int', [self, dim, c(0)]]
      case 'expand':
        return ['aten::expand', [self, c([2, ...t.shape]), c(false)]]
      case 'flatten':
        return ['aten::flatten.using_ints', [self, c(0), c(-1)]]
      case 'chunk':
        return ['aten::chunk', [self, c(2), dim]]
      default:
        return ['aten::unbind.int', [self, dim]]
    }
  }

  private inPlace(a: number): [string, Operand[]] {
    const { random } = this
    // arguments and weights are left alone most of the time: writing to them refuses the recording of the whole
    if ((a < this.inputs || this.weights.has(a)) && !random.chance(a < this.inputs ? this.writesToInputs : 0.1)) return ['', []]
    const self = { register: a }
    const other = { register: this.pickTensor() }
    const name = random.pick(IN_PLACE)
    switch (name) {
      case 'add_':
      case 'sub_':
        return [`aten::${name}.Tensor`, [self, other, { constant: 1 }]]
      case 'mul_':
        return ['aten::mul_.Tensor', [self, other]]
      case 'copy_':
        return ['aten::copy_', [self, other, { constant: false }]]
      case 'fill_':
        return ['aten::fill_.Scalar', [self, { constant: new Float(0.5) }]]
      case 'clamp_':
        return ['aten::clamp_', [self, { constant: new Float(-0.5) }, { constant: new Float(1) }]]
      case 'hardtanh_':
        return ['aten::hardtanh_', [self, { constant: new Float(0) }, { constant: new Float(6) }]]
      case 'unsqueeze_':
        // the program would start with another shape than the builder did
        if (a < this.inputs || this.weights.has(a)) return ['', []]
        return ['aten::unsqueeze_', [self, { constant: 0 }]]
      default:
        return [`aten::${name}`, [self]]
    }
  }

  private other(a: number): [string, Operand[]] {
    const { random } = this
    const t = this.tensors[a]!
    const rank = t.shape.length
    const self = { register: a }
    const c = (constant: Value): Operand => ({ constant })
    const last = t.shape[rank - 1] ?? 1
    const name = random.pick(OTHER)
    switch (name) {
      case 'cat':
        return ['aten::cat', [{ list: [a, random.chance(0.5) ? a : this.pickTensor()] }, c(random.below(Math.max(rank, 1)))]]
      case 'stack':
        return ['aten::stack', [{ list: [a, a, this.pickTensor()].slice(0, random.chance(0.5) ? 2 : 3) }, c(0)]]
      case 'mm':
      case 'matmul':
        return [`aten::${name}`, [self, { register: this.weight([last, 5]) }]]
      case 'linear':
        return ['aten::linear', [self, { register: this.weight([5, last]) }, random.chance(0.5) ? { register: this.weight([5]) } : c(null)]]
      case 'sum':
        return ['aten::sum.dim_IntList', [self, c([-1]), c(random.chance(0.5)), c(null)]]
      case 'mean':
        return ['aten::mean.dim', [self, c([0]), c(true), c(null)]]
      case 'layer_norm':
        return ['aten::layer_norm', [self, c([last]), c(null), c(null), c(new Float(1e-5)), c(true)]]
      case 'clamp':
        return ['aten::clamp', [self, c(new Float(-0.25)), random.chance(0.5) ? c(new Float(0.75)) : c(null)]]
      case 'to':
        return ['aten::to.dtype', [self, c(random.pick([6, 6, 7, 5])), c(false), c(random.chance(0.3)), c(null)]]
      case 'where':
        return ['aten::where.self', [self, { register: this.pickTensor() }, { register: this.pickTensor() }]]
      case 'zeros_like':
        return ['aten::zeros_like', [self, c(null), c(null), c(null), c(null), c(null)]]
      case 'add_scalar':
        return ['aten::add.Scalar', [self, c(random.pick([1, new Float(0.5)])), c(1)]]
      case 'mul_scalar':
        return ['aten::mul.Scalar', [self, c(random.pick([2, new Float(-0.5)]))]]
      case 'pow':
        return ['aten::pow.Tensor_Scalar', [self, c(2)]]
      default:
        this.convolution(a)
        return ['', []]
    }
  }

  /** Convolution, batch norm and an activation, as networks have them. */
  private convolution(a: number): void {
    const { random } = this
    const t = this.tensors[a]!
    if (t.shape.length !== 4 || t.dtype !== 'float32') return
    const channels = t.shape[1]!
    const c = (constant: Value): Operand => ({ constant })
    const w = this.weight([4, channels, 1 + random.below(2), 1])
    const bias = random.chance(0.5) ? { register: this.weight([4]) } : c(null)
    this.apply('aten::conv2d', [{ register: a }, { register: w }, bias, c([1, 1]), c([random.below(2), 0]), c([1, 1]), c(1)])
    if (!random.chance(0.8)) return
    const variance = this.weight([4])
    callOperator('aten::abs_', [this.tensors[variance]!])
    const x = this.tensors.length
    const parameters = [this.weight([4]), this.weight([4]), this.weight([4])].map((register) => ({ register }))
    this.apply('aten::batch_norm', [
      { register: x - 2 },
      ...parameters,
      { register: variance },
      c(false),
      c(new Float(0.1)),
      c(new Float(1e-5)),
      c(true),
    ])
    this.apply(random.pick(['aten::relu', 'aten::relu_', 'aten::relu6']), [{ register: this.tensors.length - 1 }])
  }

  private assemble(outputs: readonly number[]): LinkedFunction {
    const code: number[] = []
    const emit = (name: string, x = 0, n = 0): void => void code.push(OPCODE_BY_NAME.get(name)!, x, n)
    // register 1 is self, 2 on are the tensors
    const register = (i: number): number => i + 2
    const load = (i: number): void => (this.weights.has(i) ? emit('LOADC', this.weights.get(i)!) : emit('LOAD', register(i)))
    const operators: { name: string; overload: string; argCount: number }[] = []
    emit('STOREN', 1, this.inputs + 1)
    const call = (op: string, argCount: number): void => {
      const [name, overload = ''] = op.split('.') as [string, string?]
      emit('OP', operators.push({ name, overload, argCount }) - 1)
    }
    const other = (index: number): number => register(this.tensors.length + index)
    const assembler: Assembler = {
      emit,
      load,
      store: (i) => emit('STORE', register(i)),
      loadOther: (i) => emit('LOAD', other(i)),
      storeOther: (i) => emit('STORE', other(i)),
      constant: (value) => emit('LOADC', this.constants.push(value) - 1),
      call,
    }
    for (const step of this.steps) {
      if (step.code !== undefined) {
        step.code(assembler)
        continue
      }
      for (const arg of step.args) {
        if ('register' in arg) load(arg.register)
        else if ('list' in arg) {
          arg.list.forEach(load)
          emit('LIST_CONSTRUCT', 0, arg.list.length)
        } else emit('LOADC', this.constants.push(arg.constant) - 1)
      }
      call(step.op, step.args.length)
      if (step.unpack) emit('LIST_UNPACK', step.to.length)
      for (const to of [...step.to].reverse()) emit('STORE', register(to))
    }
    outputs.forEach(load)
    emit('TUPLE_CONSTRUCT', outputs.length)
    emit('RET')
    const source: FunctionCode = {
      name: '__torch__.M.forward',
      method: 'forward',
      className: '__torch__.M',
      code: Int32Array.from(code),
      operators,
      constants: this.constants,
      types: ['List[Tensor]'],
      registerSize: this.tensors.length + this.others + 2,
      schema: null,
    }
    return linkFunctions([source], 9, new Map())[0]!
  }
}

function operandText(a: Operand): string {
  return 'register' in a
    ? `%${a.register}`
    : 'list' in a
      ? `[${a.list.join(', ')}]`
      : JSON.stringify(a.constant, (_, v) => (typeof v === 'bigint' ? String(v) : (v as unknown)))
}

const SHAPES = [[4], [3, 4], [2, 3, 4], [1, 4], [1, 3, 5, 4], [2, 2, 4, 3], [16], [6, 1, 4]]

function inputMaker(random: Dice): () => Tensor[] {
  const shapes = Array.from({ length: 1 + random.below(3) }, () => random.pick(SHAPES))
  const kind = random.next()
  const seeds = new Dice(random.below(1 << 30))
  return () => {
    const tensors = shapes.map((shape) => randomTensor(seeds, shape))
    if (kind < 0.1) tensors.push(tensors[0]!)
    else if (kind < 0.2) {
      const base = tensors[0]!
      const view = viewOf(base, base.shape, base.strides)
      view.pinned = true
      tensors.push(view)
    } else if (kind < 0.3) {
      const shape = [...tensors[0]!.shape].reverse()
      const strides = contiguousStrides(shape)
      tensors.push(
        Tensor.fromStorage(randomData(seeds, numelOf(shape) + 1), {
          dtype: 'float32',
          shape: [...shape].reverse(),
          strides: strides.reverse(),
          offset: 1,
        }),
      )
    }
    return tensors
  }
}

function randomData(random: Dice, n: number): Float32Array {
  return Float32Array.from({ length: n }, () => Math.fround(random.next() * 4 - 2))
}

export function randomTensor(random: Dice, shape: readonly number[]): Tensor {
  return tensor(randomData(random, numelOf(shape)), [...shape])
}

function otherShape(random: Dice, shape: readonly number[]): number[] {
  const n = numelOf(shape)
  const first = random.pick([1, 2, 3, 4].filter((k) => n % k === 0))
  return random.chance(0.3) ? [n] : random.chance(0.5) ? [first, n / first] : [first, -1, 1]
}

function shuffled(random: Dice, n: number): number[] {
  const order = Array.from({ length: n }, (_, i) => i)
  for (let i = n - 1; i > 0; i--) {
    const j = random.below(i + 1)
    ;[order[i], order[j]] = [order[j]!, order[i]!]
  }
  return order
}
