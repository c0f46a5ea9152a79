import { capture } from '../../compiler/capture/capture.js'
import { buildPlan } from '../../compiler/executor/plan.js'
import { JitAlgorithm } from '../../runtime/native/generated/kernels.js'
import { hostTarget } from '../../compiler/target/host.js'
import { convolutionStrategy } from '../../compiler/passes/lower/convolution-strategy.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import { callOperator, float, int, tensor } from '../../src/index.js'
import { inTurns } from './timing.js'

/** A layer with the shapes of its input, weight and result; `times` is how often the network has it. `blocked`: as compiled graphs compute it. */
interface Layer {
  readonly name: string
  readonly input: readonly number[]
  readonly weight: readonly number[]
  readonly output: readonly number[]
  readonly stride: number
  readonly times: number
  readonly blocked?: boolean
}

/** Convolutions of ResNet-50: channels in and out, kernel, stride, side of the result, how many. */
const RESNET50: Layer[] = (
  [
    [3, 64, 7, 2, 112, 1],
    [64, 64, 1, 1, 56, 1],
    [64, 64, 3, 1, 56, 3],
    [64, 256, 1, 1, 56, 4],
    [256, 64, 1, 1, 56, 2],
    [256, 128, 1, 1, 56, 1],
    [128, 128, 3, 2, 28, 1],
    [128, 128, 3, 1, 28, 3],
    [128, 512, 1, 1, 28, 4],
    [256, 512, 1, 2, 28, 1],
    [512, 128, 1, 1, 28, 3],
    [512, 256, 1, 1, 28, 1],
    [256, 256, 3, 2, 14, 1],
    [256, 256, 3, 1, 14, 5],
    [256, 1024, 1, 1, 14, 6],
    [512, 1024, 1, 2, 14, 1],
    [1024, 256, 1, 1, 14, 5],
    [1024, 512, 1, 1, 14, 1],
    [512, 512, 3, 2, 7, 1],
    [512, 512, 3, 1, 7, 2],
    [512, 2048, 1, 1, 7, 3],
    [1024, 2048, 1, 2, 7, 1],
    [2048, 512, 1, 1, 7, 2],
  ] as const
).map(([from, to, kernel, stride, side, times]) => ({
  name: `${from} → ${to}, ${kernel} x ${kernel}, ${side} x ${side}`,
  input: [1, from, side * stride, side * stride],
  weight: [to, from, kernel, kernel],
  output: [1, to, side, side],
  stride,
  times,
}))

/** Linear layers of BERT-base on 128 tokens. */
const BERT: Layer[] = (
  [
    [768, 768, 48],
    [768, 3072, 12],
    [3072, 768, 12],
  ] as const
).map(([from, to, times]) => ({
  name: `128 x ${from} → ${to}`,
  input: [128, from],
  weight: [to, from],
  output: [128, to],
  stride: 0,
  times,
}))

export const NETWORKS: Readonly<Record<string, readonly Layer[]>> = {
  'ResNet-50': RESNET50,
  'ResNet-50, compiled (channels in blocks of 16, 3 x 3 by Winograd where that pays)': RESNET50.map((layer) => ({
    ...layer,
    blocked: true,
  })),
  'BERT-base': BERT,
}

export interface LayerTimes {
  readonly layer: Layer
  /** Microseconds: the layer with its bias, and with gelu and a residual sum behind it, generated and in passes of their own. */
  readonly alone: number
  readonly generated: number
  readonly separate: number
  /** The layer and a loop that only adds the residual to its result: what any post-ops read and write. */
  readonly plain: number
}

function random(shape: readonly number[], scale = 1): Tensor {
  let seed = shape.length
  const next = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return (seed / 2 ** 31 - 1) * scale
  }
  const t = tensor(Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, next), [...shape])
  t.pinned = true
  return t
}

/** An operator with its arguments up to the limits, and the residual in the form of its result. */
interface Call {
  readonly operator: string
  readonly base: Value[]
  readonly added: Tensor
}

const pair = (n: number): Value => [int(n), int(n)]

function plainLayer({ weight, stride }: Layer, x: Tensor, w: Tensor, bias: Tensor, added: Tensor): Call {
  if (stride === 0) return { operator: 'ptlite::linear', base: [x, w, bias], added }
  return {
    operator: 'ptlite::convolution',
    base: [x, w, bias, pair(stride), pair((weight[2]! - 1) >> 1), pair(1), int(1)],
    added,
  }
}

function blockedLayer({ input, weight, output, stride }: Layer, x: Tensor, w: Tensor, bias: Tensor, residual: Tensor): Call {
  const of = (operator: string, t: Tensor): Tensor => {
    const result = callOperator(operator, [t]) as Tensor
    result.pinned = true
    return result
  }
  const kernel = weight[2]!
  const padding = (kernel - 1) >> 1
  const { kind } = convolutionStrategy(
    {
      batch: 1,
      inChannels: input[1]!,
      outChannels: output[1]!,
      groups: 1,
      in: [input[2]!, input[3]!],
      out: [output[2]!, output[3]!],
      kernel: [kernel, kernel],
      stride: [stride, stride],
      padding: [padding, padding],
      dilation: [1, 1],
    },
    hostTarget(),
  )
  const blocks = kind === 'few channels' ? x : of('ptlite::to_blocked', x)
  const added = of('ptlite::to_blocked', residual)
  if (kind === 'winograd') {
    return { operator: 'ptlite::winograd_convolution', base: [blocks, of('ptlite::winograd_filter', w), bias, null, pair(padding)], added }
  }
  const settings = [pair(stride), pair(padding), pair(1)]
  return { operator: 'ptlite::blocked_convolution', base: [blocks, of('ptlite::blocked_filter', w), bias, null, ...settings], added }
}

export function timeLayer(layer: Layer, rounds: number, milliseconds: number): LayerTimes {
  const { input, weight, output } = layer
  const x = random(input)
  const fan = weight.slice(1).reduce((a, b) => a * b, 1)
  const w = random(weight, 3 / Math.sqrt(fan))
  const bias = random([weight[0]!])
  const residual = random(output)
  const limits = [float(-Infinity), float(Infinity)]
  const { operator, base, added } =
    layer.blocked === true ? blockedLayer(layer, x, w, bias, residual) : plainLayer(layer, x, w, bias, residual)
  base.push(...limits)
  const steps = [[added], [int(JitAlgorithm.gelu_erf), int(JitAlgorithm.add)], [0, 0, 2, 1].map(int), [0, 0, 0, 0]]
  const planOf = (run: () => Value): (() => void) => {
    const found = capture(run, [])
    if (found.captured === null) throw new Error(found.reason)
    const { captured } = found
    const plan = buildPlan(captured)
    if (typeof plan === 'string') throw new Error(plan)
    return () => {
      ;(plan.run([]) as Tensor).dispose()
    }
  }
  // weights are packed at their second use
  for (let i = 0; i < 2; i++) (callOperator(operator, base) as Tensor).dispose()
  const times = inTurns(
    {
      alone: planOf(() => callOperator(operator, base)),
      generated: planOf(() => callOperator(operator, [...base, ...steps])),
      separate: planOf(() => {
        const product = callOperator(operator, base) as Tensor
        const activated = callOperator('aten::gelu', [product]) as Tensor
        product.dispose()
        const sum = callOperator('aten::add.Tensor', [activated, added, int(1)])
        activated.dispose()
        return sum
      }),
      plain: planOf(() => {
        const product = callOperator(operator, base) as Tensor
        return callOperator('aten::add_.Tensor', [product, added, int(1)])
      }),
    },
    rounds,
    milliseconds,
  )
  for (const t of new Set([x, w, bias, residual, added, ...base.filter((value) => value instanceof Tensor)])) t.dispose()
  return { layer, ...times }
}
