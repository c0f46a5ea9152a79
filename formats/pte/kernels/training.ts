import { damaged } from '../../../program/file-error.js'
import type { Kernel } from '../kernel.js'
import type { MethodEmitter } from '../method-emitter.js'
import { isForTraining, type TrainingOperator } from './parts.js'
import type { PlanValue } from '../plan.js'

/* Gradients of layers, which programs that were exported for training compute, with operators for inference. */

/** The ints of a list that the program does not compute. */
function intsOf(index: number, emitter: MethodEmitter): number[] {
  const value = emitter.value(index)
  if (value.kind !== 'ints') throw damaged(`expected a list of ints as value ${index}, found ${value.kind}`)
  return value.items.map((item) => {
    const known = emitter.knownInt(item)
    if (typeof known !== 'number') throw damaged(`expected known ints as value ${index}`)
    return known
  })
}

function isTrue(value: PlanValue): boolean {
  return (value.kind === 'bool' || value.kind === 'int') && Boolean(value.value)
}

/** As many numbers as there are dimensions of an image: one stands for all. */
function spread(values: readonly number[], count: number): number[] {
  return values.length === count ? [...values] : Array<number>(count).fill(values[0] ?? 0)
}

interface Convolution {
  readonly stride: readonly number[]
  readonly padding: readonly number[]
  readonly dilation: readonly number[]
  readonly groups: number
  /** Of the kernel, and of the image. */
  readonly kernel: readonly number[]
  readonly image: readonly number[]
}

/** (grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask; three results) */
const convolutionBackward: Kernel = {
  effects: (args) => ({ reads: args.slice(0, 11), writes: args.slice(11, 14) }),
  emit(args, emitter) {
    if (args.length < 14) throw damaged(`expected 14 arguments, found ${args.length}`)
    const [gradient, input, weight, , stride, padding, dilation, transposed, , groups, mask] = args as number[] as [
      ...[number, number, number, number, number, number, number, number, number, number, number],
      ...number[],
    ]
    if (isTrue(emitter.value(transposed))) throw damaged('the gradient of a transposed convolution, which this runtime has not got')
    const dims = emitter.tensor(input).sizes.length - 2
    const layer: Convolution = {
      stride: spread(intsOf(stride, emitter), dims),
      padding: spread(intsOf(padding, emitter), dims),
      dilation: spread(intsOf(dilation, emitter), dims),
      groups: Number(emitter.knownInt(groups) ?? 1),
      kernel: emitter.tensor(weight).sizes.slice(2),
      image: emitter.tensor(input).sizes.slice(2),
    }
    const wanted = emitter.value(mask)
    const isWanted = (i: number): boolean => wanted.kind !== 'bools' || wanted.values[i] === true
    if (isWanted(0)) ofInput(gradient, weight, layer, emitter, args[11]!)
    if (isWanted(1)) ofWeight(gradient, input, layer, emitter, args[12]!)
    if (!isWanted(2)) return
    emitter.push(gradient)
    emitter.constant([0, ...layer.image.map((_, i) => i + 2)])
    emitter.operator('aten::sum.dim_IntList', 2)
    emitter.store(args[13]!)
  },
}

/** The convolution turned round. */
function ofInput(gradient: number, weight: number, layer: Convolution, emitter: MethodEmitter, result: number): void {
  const { stride, padding, dilation, kernel, image, groups } = layer
  const sizes = emitter.tensor(gradient).sizes.slice(2)
  const left = image.map((size, i) => size - ((sizes[i]! - 1) * stride[i]! - 2 * padding[i]! + dilation[i]! * (kernel[i]! - 1) + 1))
  emitter.push(gradient)
  emitter.push(weight)
  for (const value of [null, [...stride], [...padding], [...dilation], true, left, groups]) emitter.constant(value)
  emitter.operator('aten::convolution', 9)
  emitter.store(result)
}

/** The images convolved with the gradient, a group of channels after the other. */
function ofWeight(gradient: number, input: number, layer: Convolution, emitter: MethodEmitter, result: number): void {
  const { builder } = emitter
  const { stride, padding, dilation, kernel, groups } = layer
  const part = (index: number, group: number): void => {
    const channels = emitter.tensor(index).sizes[1]! / groups
    emitter.push(index)
    if (groups > 1) {
      for (const value of [1, group * channels, channels]) builder.constant(value)
      builder.operator('aten::narrow', 4)
    }
    for (const value of [0, 1]) builder.constant(value)
    builder.operator('aten::transpose.int', 3)
  }
  for (let group = 0; group < groups; group++) {
    part(input, group)
    part(gradient, group)
    for (const value of [null, [...dilation], [...padding], [...stride], false, kernel.map(() => 0), 1]) builder.constant(value)
    builder.operator('aten::convolution', 9)
    // what the stride has left over at the end of the image
    kernel.forEach((size, i) => {
      for (const value of [i + 2, 0, size]) builder.constant(value)
      builder.operator('aten::narrow', 4)
    })
    for (const value of [0, 1]) builder.constant(value)
    builder.operator('aten::transpose.int', 3)
  }
  if (groups > 1) {
    builder.emit('LIST_CONSTRUCT', builder.type('Tensor'), groups)
    builder.constant(0)
    builder.operator('aten::cat', 2)
  }
  emitter.store(result)
}

/** (grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices, grad_input) */
const maxPoolBackward: Kernel = {
  effects: (args) => ({ reads: args.slice(0, 8), writes: args.slice(8, 9) }),
  emit(args, emitter) {
    const [gradient, self, , , , , , indices, result] = args
    if (result === undefined) throw damaged(`expected 9 arguments, found ${args.length}`)
    const rows = (index: number): void => {
      emitter.push(index)
      emitter.constant(-2)
      emitter.constant(-1)
      emitter.operator('aten::flatten.using_ints', 3)
    }
    rows(self!)
    emitter.operator('aten::zeros_like', 1)
    emitter.constant(-1)
    rows(indices!)
    rows(gradient!)
    emitter.operator('aten::scatter_add', 4)
    emitter.constant([...emitter.tensor(self!).sizes])
    emitter.operator('aten::reshape', 2)
    emitter.store(result)
  },
}

/**
 * (input, weight, bias, running_mean, running_var, training, momentum, eps, out, save_mean, save_invstd): in training the running statistics are written to.
 */
const batchNorm: Kernel = {
  effects: (args) => ({ reads: args.slice(0, 8), writes: args.slice(8, 11), updates: args.slice(3, 5) }),
  emit(args, emitter) {
    if (args.length < 11) throw damaged(`expected 11 arguments, found ${args.length}`)
    const types = ['Tensor', 'Tensor?', 'Tensor?', 'Tensor', 'Tensor', 'bool', 'float', 'float']
    types.forEach((type, i) => emitter.pushAs(args[i]!, type))
    emitter.operator('aten::native_batch_norm', types.length)
    emitter.bound(args.slice(8, 11))
    for (const result of [args[10]!, args[9]!, args[8]!]) emitter.store(result)
  },
}

const KERNELS: Readonly<Record<TrainingOperator, Kernel>> = {
  'aten::_native_batch_norm_legit.out': batchNorm,
  'aten::convolution_backward.out': convolutionBackward,
  'aten::max_pool2d_with_indices_backward.grad_input': maxPoolBackward,
}

export function trainingKernel(name: string): Kernel | undefined {
  return isForTraining(name) ? KERNELS[name] : undefined
}
