import { unsupported } from '../../../program/file-error.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import type { MethodEmitter } from '../method-emitter.js'

/* `llama::fast_hadamard_transform`: the last dimension times a Hadamard matrix, of a power of 2 or 28 times one. */

/** A Hadamard matrix of Williamson's kind, of 28 rows: a bit for each column, the first one highest, 1 for 1 and 0 for -1. */
const ROWS_OF_28 = [
  0x818694c, 0x41c14a6, 0x20e2a13, 0x1071549, 0x838ae4, 0x41e532, 0x30d299, 0x3d019d2, 0x1e82ca9, 0x8e43654, 0xc621b2a, 0xe210d95, 0xf00a6ca, 0x7807325,
  0x5b3201e, 0xac9900f, 0x564c847, 0xab24463, 0xd590271, 0x6ac8178, 0xb4640bc, 0x66b70c0, 0xb35b820, 0xd8adc10, 0x6d54e08, 0x37a8704, 0x9ad4382, 0xcd6a181,
] // prettier-ignore
const ORDER = 28

/** Pushes the transform of a tensor: scaled by one over the root of the power of 2, and not by that of 28, as ExecuTorch's kernel does. */
export function transform(input: number, emitter: MethodEmitter): void {
  const { sizes, scalarType } = emitter.tensor(input)
  const length = sizes.at(-1) ?? 1
  const factor = length % ORDER === 0 && length > 0 ? ORDER : 1
  const power = length / factor
  if (!Number.isInteger(Math.log2(power)))
    throw unsupported(`a Hadamard transform of ${length} numbers, which is no power of 2, nor 28 times one`)
  emitter.pushAs(input, 'Tensor')
  powerOfTwo(power, emitter)
  if (factor !== 1) {
    emitter.constant([-1, ORDER, power])
    emitter.operator('aten::reshape', 2)
    const blocks = emitter.temporary()
    emitter.builder.emit('STORE', blocks)
    pushMatrix(scalarType, emitter)
    emitter.builder.emit('LOAD', blocks)
    emitter.operator('aten::matmul', 2)
  }
  emitter.pushAs(input, 'Tensor')
  emitter.operator('aten::size', 1)
  emitter.operator('aten::reshape', 2)
}

/** The transform of each `length` numbers that follow one another in the tensor on the stack, normalized. */
function powerOfTwo(length: number, emitter: MethodEmitter): void {
  const { builder } = emitter
  // sums and differences of pairs that are ever further apart
  for (let step = 1; step < length; step *= 2) {
    emitter.constant([-1, 2, step])
    emitter.operator('aten::reshape', 2)
    const pairs = emitter.temporary()
    builder.emit('STORE', pairs)
    for (const operator of ['aten::add.Tensor', 'aten::sub.Tensor']) {
      for (const half of [0, 1]) {
        builder.emit('LOAD', pairs)
        builder.constant(1)
        builder.constant(half)
        builder.operator('aten::select.int', 3)
      }
      builder.operator(operator, 2)
    }
    builder.emit('LIST_CONSTRUCT', builder.type('Tensor'), 2)
    builder.constant(1)
    builder.operator('aten::stack', 2)
  }
  emitter.constant(new Float(1 / Math.sqrt(length)))
  emitter.operator('aten::mul.Scalar', 2)
}

function pushMatrix(dtype: number, emitter: MethodEmitter): void {
  const signs = ROWS_OF_28.flatMap((row) => Array.from({ length: ORDER }, (_, i) => ((row >>> (ORDER - 1 - i)) & 1 ? 1 : -1)))
  emitter.constant(signs)
  emitter.constant(dtype)
  emitter.operator('aten::tensor', 2)
  emitter.constant([ORDER, ORDER])
  emitter.operator('aten::reshape', 2)
}
