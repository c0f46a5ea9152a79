import { unsupported } from '../../../program/file-error.js'
import type { AlignedArg, AlignedValue } from './aligned.js'
import type { Lowering } from './lowering.js'
import { type NodeArguments, type Rule } from './node.js'
import { isFixed } from './plan-writer.js'
import { linear } from './rules-layers.js'

/* Recurrent layers as operators of ExecuTorch: each step of a sequence is written out, as torch.export does. */

/** Steps beyond which a program is refused: each takes a dozen instructions for each layer and direction. */
const MAX_STEPS = 4096

/** Weights of one layer in one direction. */
interface Weights {
  readonly ih: AlignedValue
  readonly hh: AlignedValue
  readonly biasIh: AlignedValue | null
  readonly biasHh: AlignedValue | null
}

/** State of a layer: hidden, and of an LSTM its cell. */
type State = readonly AlignedValue[]

/** One step: `gates` is x @ w_ih.T + b_ih; the states in `into` are made where they are given. */
type Step = (l: Lowering, gates: AlignedValue, state: State, weights: Weights, into?: readonly (AlignedValue | undefined)[]) => State

function tensorsOf(arg: AlignedArg, what: string): AlignedValue[] {
  const items = arg.kind === 'list' || arg.kind === 'tuple' ? arg.items : [arg]
  return items.map((item) => {
    if (item.kind !== 'value') throw unsupported(`a recurrent layer whose ${what} is no tensor`)
    return item.value
  })
}

function partsOf(l: Lowering, x: AlignedValue, count: number): AlignedValue[] {
  const size = Number(x.shape[1]![0]) / count
  return Array.from({ length: count }, (_, i) =>
    l.call('aten::slice_copy.Tensor_out', [x, 1, i * size, (i + 1) * size, 1], l.value(x.dtype, [x.shape[0]!, [size]])),
  )
}

const lstmStep: Step = (l, gates, [h, c], weights, into = []) => {
  const own = linear(l, h!, weights.hh, weights.biasHh)
  const [i, f, g, o] = partsOf(l, l.add(gates, own), 4) as [AlignedValue, AlignedValue, AlignedValue, AlignedValue]
  const kept = l.mul(l.unary('sigmoid', f), c!)
  const cell = l.add(kept, l.mul(l.unary('sigmoid', i), l.unary('tanh', g)), into[1] ?? l.like(c!))
  return [l.mul(l.unary('sigmoid', o), l.unary('tanh', cell), into[0] ?? l.like(h!)), cell]
}

const gruStep: Step = (l, gates, [h], weights, into = []) => {
  const parts = [gates, linear(l, h!, weights.hh, weights.biasHh)].map((part) => partsOf(l, part, 3)) as [AlignedValue[], AlignedValue[]]
  const [x, own] = parts
  const gate = (i: number): AlignedValue => l.unary('sigmoid', l.add(x[i]!, own[i]!))
  const fresh = l.unary('tanh', l.add(x[2]!, l.mul(gate(0), own[2]!)))
  // n + z (h - n)
  const difference = l.call('aten::sub.out', [h!, fresh, 1], l.like(h!))
  return [l.add(fresh, l.mul(gate(1), difference), into[0] ?? l.like(h!))]
}

function cell(step: Step): Rule {
  return (args, l) => {
    const [ih, hh] = [args.tensor('w_ih'), args.tensor('w_hh')]
    const weights = { ih, hh, biasIh: args.optionalTensor('b_ih'), biasHh: args.optionalTensor('b_hh') }
    const state = tensorsOf(args.arg('hx'), 'state')
    const gates = linear(l, args.tensor('input'), ih, weights.biasIh)
    step(l, gates, state, weights, [args.result, step === lstmStep ? args.resultOr(1, () => l.like(state[1]!)) : undefined])
  }
}

/** Step `at` of what has one after the other in its first dimension. */
function pick(l: Lowering, x: AlignedValue, at: number): AlignedValue {
  return l.call('aten::select_copy.int_out', [x, 0, at], l.value(x.dtype, x.shape.slice(1)))
}

function stack(l: Lowering, items: readonly AlignedValue[], into?: AlignedValue): AlignedValue {
  const [first] = items as [AlignedValue, ...AlignedValue[]]
  return l.call('aten::stack.out', [listOf(items), 0], into ?? l.value(first.dtype, [[items.length], ...first.shape]))
}

const listOf = (items: readonly AlignedValue[]): AlignedArg => ({ kind: 'list', items: items.map((value) => ({ kind: 'value', value })) })

function weightsOf(args: NodeArguments, count: number): Weights[] {
  const params = tensorsOf(args.arg('params'), 'weight')
  const each = args.flag('has_biases') ? 4 : 2
  if (params.length !== each * count) throw unsupported(`${args.node.op} with projections`)
  return Array.from({ length: count }, (_, i) => {
    const [ih, hh, biasIh = null, biasHh = null] = params.slice(each * i, each * (i + 1)) as [AlignedValue, AlignedValue, ...AlignedValue[]]
    return { ih, hh, biasIh, biasHh }
  })
}

/** Layers over sequences, of which results have the hidden states of the last one and what each layer's state is in the end. */
function sequence(step: Step): Rule {
  return (args, l) => {
    const { op } = args.node
    if (args.flag('train') && args.number('dropout') > 0) throw unsupported(`${op} that drops out`)
    const [input, batchFirst] = [args.tensor('input'), args.flag('batch_first')]
    if (input.shape.length !== 3) throw unsupported(`${op} of a sequence without a batch`)
    let x = batchFirst ? l.permute(input, [1, 0, 2]) : input
    const [steps, batch] = x.shape as [AlignedValue['shape'][number], AlignedValue['shape'][number]]
    if (!isFixed(steps)) throw unsupported(`${op} over a number of steps that depends on the sizes of inputs; give --shape`)
    const [count, directions] = [Number(steps[0]), args.flag('bidirectional') ? 2 : 1]
    const all = weightsOf(args, args.int('num_layers') * directions)
    if (count * all.length > MAX_STEPS)
      throw unsupported(`${op} of ${count} steps in ${all.length} layers and directions, each of which would be written out`)
    const initial = tensorsOf(args.arg('hx'), 'state')
    const ends: State[] = []
    for (let layer = 0; layer < all.length; layer += directions) {
      const made = all.slice(layer, layer + directions).map((weights, d) => {
        const gates = linear(l, x, weights.ih, weights.biasIh)
        let state: State = initial.map((tensor) => pick(l, tensor, layer + d))
        const hidden: AlignedValue[] = []
        for (let t = 0; t < count; t++) {
          const at = d === 0 ? t : count - 1 - t
          state = step(l, pick(l, gates, at), state, weights)
          hidden[at] = state[0]!
        }
        ends.push(state)
        return stack(l, hidden)
      })
      const [one] = made as [AlignedValue, ...AlignedValue[]]
      const width = made.reduce((sum, { shape }) => sum + Number(shape[2]![0]), 0)
      x = made.length === 1 ? one : l.call('aten::cat.out', [listOf(made), 2], l.value(one.dtype, [steps, batch, [width]]))
    }
    const output = args.resultOr(0, () => l.value(x.dtype, batchFirst ? [batch, steps, x.shape[2]!] : x.shape))
    l.call('aten::permute_copy.out', [x, batchFirst ? [1, 0, 2] : [0, 1, 2]], output)
    initial.forEach((tensor, i) => {
      stack(
        l,
        ends.map((state) => state[i]!),
        args.resultOr(1 + i, () => l.like(tensor)),
      )
    })
  }
}

export const RECURRENT: Readonly<Record<string, Rule>> = {
  'aten::lstm_cell': cell(lstmStep),
  'aten::gru_cell': cell(gruStep),
  'aten::lstm.input': sequence(lstmStep),
  'aten::gru.input': sequence(gruStep),
}
