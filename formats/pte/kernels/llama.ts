import { damaged } from '../../../program/file-error.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import type { Kernel } from '../kernel.js'
import type { MethodEmitter } from '../method-emitter.js'
import { gatedDeltaRule } from './delta-rule.js'
import { transform } from './hadamard.js'

/* Operators of ExecuTorch's language models (extension/llm/custom_ops). Sequences are dimension 1 and heads dimension 2, unless a flag says that it is the other way round. */

/** What attention takes, by numbers of values; undefined for what is not given. */
interface Attention {
  readonly query: number
  readonly key: number
  readonly value: number
  readonly start: number
  readonly mask: number
  readonly causal: number
  readonly scale: number
  /** Zero points and scales of query, key and value where these are integers. */
  readonly parameters?: readonly (readonly [zeroPoints: number, scales: number])[]
  readonly headsFirst?: boolean
}

function push(
  emitter: MethodEmitter,
  operator: string,
  given: number,
  ...constants: readonly (number | boolean | null | number[])[]
): void {
  for (const constant of constants) emitter.constant(constant)
  emitter.operator(operator, given + constants.length)
}

/** Pushes where the keys end that queries may see: the start of the sequence and its length. */
function pushEnd({ query, start, headsFirst = false }: Attention, emitter: MethodEmitter): void {
  emitter.pushAs(start, 'int')
  emitter.pushAs(query, 'Tensor')
  push(emitter, 'aten::size.int', 1, headsFirst ? 2 : 1)
  emitter.operator('aten::add.int', 2)
}

/** Writes attention over the keys up to the end of the sequence, or over those that a mask says; the result is on the stack. */
function attend(attention: Attention, emitter: MethodEmitter): void {
  const { query, key, value, start, mask, causal, scale, headsFirst = false } = attention
  const { builder } = emitter
  const hasMask = !emitter.variables.isNone(mask)
  const sequence = headsFirst ? 2 : 1
  const heads = (index: number): number => emitter.tensor(index).sizes[headsFirst ? 1 : 2]!
  const end = emitter.temporary()
  pushEnd(attention, emitter)
  builder.emit('STORE', end)
  const operand = (index: number, part: number, isCache: boolean): void => {
    emitter.pushAs(index, 'Tensor')
    const parameters = attention.parameters?.[part]
    if (parameters !== undefined && emitter.tensor(index).scalarType === 1) {
      push(emitter, 'aten::to.dtype', 1, 6)
      emitter.pushAs(parameters[0], 'Tensor')
      emitter.operator('aten::sub.Tensor', 2)
      emitter.pushAs(parameters[1], 'Tensor')
      emitter.operator('aten::mul.Tensor', 2)
    }
    if (isCache && !hasMask) {
      builder.constant(sequence)
      builder.constant(0)
      builder.emit('LOAD', end)
      builder.operator('aten::narrow', 4)
    }
    if (!headsFirst) push(emitter, 'aten::transpose.int', 1, 1, 2)
    const times = heads(query) / heads(index)
    if (times !== 1) push(emitter, 'aten::repeat_interleave.self_int', 1, times, 1)
  }
  operand(query, 0, false)
  operand(key, 1, true)
  operand(value, 2, true)
  const isCausal = emitter.value(causal)
  if (hasMask) emitter.pushAs(mask, 'Tensor')
  else if (isCausal.kind === 'bool' && isCausal.value) {
    // the query at position p sees keys up to p
    builder.emit('LOAD', end)
    builder.operator('aten::arange', 1)
    emitter.pushAs(start, 'int')
    builder.emit('LOAD', end)
    builder.operator('aten::arange.start', 2)
    push(emitter, 'aten::unsqueeze', 1, 1)
    builder.operator('aten::le.Tensor', 2)
  } else builder.constant(null)
  builder.constant(new Float(0))
  builder.constant(false)
  emitter.pushAs(scale, 'float?')
  builder.operator('aten::scaled_dot_product_attention', 7)
  if (!headsFirst) push(emitter, 'aten::transpose.int', 1, 1, 2)
}

/** Writes new rows into a cache. */
function update(value: number, cache: number, start: number, emitter: MethodEmitter): void {
  emitter.pushAs(cache, 'Tensor')
  emitter.constant(1)
  emitter.pushAs(start, 'int')
  emitter.pushAs(value, 'Tensor')
  push(emitter, 'aten::size.int', 1, 1)
  emitter.operator('aten::narrow', 4)
  emitter.pushAs(value, 'Tensor')
  emitter.operator('aten::copy_', 2)
  emitter.builder.emit('DROP')
}

/** Positions in a cache. One below zero is none, where index_put counts it from the end: it becomes one that is out of range. */
function pushPositions(indices: number, cache: number, emitter: MethodEmitter): void {
  emitter.pushAs(indices, 'Tensor')
  emitter.pushAs(indices, 'Tensor')
  push(emitter, 'aten::lt.Scalar', 1, 0)
  emitter.constant(emitter.tensor(cache).sizes[1] ?? 0)
  emitter.operator('aten::masked_fill.Scalar', 3)
}

/** The result of an operator that is called for what it writes to. */
function storeNothing(result: number, emitter: MethodEmitter): void {
  const { sizes, scalarType } = emitter.tensor(result)
  emitter.constant([...sizes])
  push(emitter, 'aten::zeros', 1, scalarType)
  emitter.store(result)
}

function kernel(count: number, updates: readonly number[], emit: (args: readonly number[], emitter: MethodEmitter) => void): Kernel {
  return {
    effects: (args) => ({
      reads: args.slice(0, count),
      writes: args.slice(count, count + 1),
      updates: updates.flatMap((i) => (args[i] === undefined ? [] : [args[i]])),
    }),
    emit(args, emitter) {
      if (args.length <= count) throw damaged(`expected ${count + 1} arguments, found ${args.length}`)
      emit(args, emitter)
    },
  }
}

const KERNELS: Readonly<Record<string, Kernel>> = {
  'llama::update_cache.out': kernel(3, [1], ([value, cache, start, out], emitter) => {
    update(value!, cache!, start!, emitter)
    storeNothing(out!, emitter)
  }),
  'llama::update_cache_with_indices.out': kernel(4, [1], ([value, cache, , indices, out], emitter) => {
    const { builder } = emitter
    emitter.pushAs(cache!, 'Tensor')
    emitter.pushAs(value!, 'Tensor')
    push(emitter, 'aten::size.int', 1, 0)
    builder.operator('aten::arange', 1)
    push(emitter, 'aten::unsqueeze', 1, 1)
    pushPositions(indices!, cache!, emitter)
    builder.emit('LIST_CONSTRUCT', builder.type('Optional[Tensor]'), 2)
    emitter.pushAs(value!, 'Tensor')
    builder.operator('aten::index_put_', 3)
    builder.emit('DROP')
    storeNothing(out!, emitter)
  }),
  'llama::custom_sdpa.out': kernel(8, [], (args, emitter) => {
    const [query, key, value, start, mask, , causal, scale, out] = args as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ]
    attend({ query, key, value, start, mask, causal, scale }, emitter)
    emitter.store(out)
  }),
  'llama::sdpa_with_kv_cache.out': kernel(11, [3, 4], (args, emitter) => {
    const [query, newKey, newValue, key, value, start, , mask, , causal, scale, out] = args as [
      number, number, number, number, number, number, number, number, number, number, number, number,
    ] // prettier-ignore
    update(newKey, key, start, emitter)
    update(newValue, value, start, emitter)
    attend({ query, key, value, start, mask, causal, scale }, emitter)
    emitter.store(out)
  }),
  'llama::custom_quantized_sdpa.out': kernel(15, [], (args, emitter) => {
    const [query, key, value, start, mask, , causal, scale] = args as [number, number, number, number, number, number, number, number]
    const flag = emitter.value(args[14]!)
    const parameters = [8, 10, 12].map((i) => [args[i]!, args[i + 1]!] as const)
    attend({ query, key, value, start, mask, causal, scale, parameters, headsFirst: flag.kind === 'bool' && flag.value }, emitter)
    emitter.store(args[15]!)
  }),
  'llama::fast_hadamard_transform.out': kernel(1, [], ([input, out], emitter) => {
    transform(input!, emitter)
    emitter.store(out!)
  }),
  // what its name stands for is done by a delegate, where there is one
  'llama::fallback.out': kernel(1, [], ([input, out], emitter) => {
    emitter.pushAs(input!, 'Tensor')
    emitter.operator('aten::clone', 1)
    emitter.store(out!)
  }),
  'llama::gated_delta_rule.out': gatedDeltaRule,
  'llama::channelwise_gated_delta_rule.out': gatedDeltaRule,
  'preprocess::tile_crop.out': kernel(2, [], ([input, size, out], emitter) => {
    const tile = emitter.knownInt(size!)
    const { sizes } = emitter.tensor(input!)
    const [channels, height, width] = sizes as [number, number, number]
    if (typeof tile !== 'number' || sizes.length !== 3 || !(tile > 0 && height % tile === 0 && width % tile === 0))
      throw damaged(`tiles of ${tile} of an image of the sizes [${sizes.join(', ')}]`)
    emitter.pushAs(input!, 'Tensor')
    push(emitter, 'aten::reshape', 1, [channels, height / tile, tile, width / tile, tile])
    push(emitter, 'aten::permute', 1, [1, 3, 0, 2, 4])
    push(emitter, 'aten::reshape', 1, [(height / tile) * (width / tile), channels, tile, tile])
    emitter.store(out!)
  }),
}

export function llamaKernel(name: string): Kernel | undefined {
  return Object.hasOwn(KERNELS, name) ? KERNELS[name] : undefined
}
