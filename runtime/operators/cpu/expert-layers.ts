import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { readTensor } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { contiguousOf } from '../support/copy.js'
import { linear } from './matmul.js'

/* Mixtures of experts as ExecuTorch's language models have them, whose weights are packed by torchao. */

const WHAT = 'quantized_moe_ffn'

/** The first number of a weight that torchao has packed, and what its second one says. */
const MAGIC = 6712
const PACKINGS = [
  'unknown',
  'linear_8bit_act_xbit_weight_universal',
  'embedding_xbit_universal',
  'linear_8bit_act_xbit_weight_kleidi_ai',
  'linear_8bit_act_xbit_weight_lut',
  'groupwise_lowbit_weight_lut',
]
const UNIVERSAL = 1
const HEADER_BYTES = 64
/** Outputs that are packed together, their inputs, and the parts that these are in. */
const TILE = { outputs: 8, inputs: 16, parts: 2 } as const

/** Bytes of a packed weight [outputs, inputs]. */
function packedBytes(outputs: number, inputs: number, group: number, bits: number): number {
  const { outputs: together } = TILE
  return HEADER_BYTES + Math.ceil(outputs / together) * (inputs * bits + (inputs / group) * together * 8)
}

/** Packed weights one behind the other. Throws where those of any expert are not packed as the kernel reads them. */
function packed(name: string, given: Tensor, experts: number, least: number, bits: number): Tensor {
  const { shape, type, dim } = given
  if (type !== DType.uint8) throw new PtliteError('INVALID_DTYPE', `${WHAT}: expected uint8 as ${name}, found ${given.dtype}`)
  check(dim === 2 && shape[0] === experts, () => `${WHAT}: expected ${name} of shape [${experts}, bytes], found [${shape.join(', ')}]`)
  check(shape[1]! >= least, () => `${WHAT}: ${name} has ${shape[1]!} bytes for each expert, and needs ${least}`)
  const weight = contiguousOf(given)
  const { outputs, inputs, parts } = TILE
  const wanted = [bits, 0, 0, outputs, inputs, parts]
  for (let expert = 0; expert < experts; expert++) {
    const bytes = readTensor(viewOf(weight, [HEADER_BYTES], [1], weight.offset + expert * shape[1]!))
    const fields = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES)
    const [magic, packing, ...format] = Array.from({ length: 2 + wanted.length }, (_, i) => fields.getInt32(4 * i, true))
    check(magic === MAGIC, () => `${WHAT}: ${name} of expert ${expert} is not packed by torchao`)
    check(
      packing === UNIVERSAL,
      () =>
        `${WHAT}: ${name} of expert ${expert} is packed as ${PACKINGS[packing!] ?? `number ${packing!}`}; export with the target 'universal'`,
    )
    check(
      format.every((value, i) => value === wanted[i]),
      () =>
        `${WHAT}: ${name} of expert ${expert} is packed as bits, zero points, bias, outputs, inputs, parts = ${format.join(', ')}; expected ${wanted.join(', ')}`,
    )
  }
  return weight
}

/**
 * llama::quantized_moe_ffn of ExecuTorch: x [tokens, dim], gate_weight [experts, dim], expert_bias [experts] or empty, packed_w13 and packed_w2 [experts, bytes] of weights
 * [2 hidden, dim] and [dim, hidden]. Products are of floats, as ExecuTorch's kernel has them on x86; its others round activations to 8 bits. Source: extension/llm/custom_ops/op_moe.cpp.
 */
export function quantized_moe_ffn(
  x: Tensor,
  gateWeight: Tensor,
  bias: Tensor,
  up: Tensor,
  down: Tensor,
  active: number,
  experts: number,
  hidden: number,
  depth: number,
  group: number,
  bits: number,
  scoring: string,
  scale: number,
): Tensor {
  for (const [name, t] of [
    ['x', x],
    ['gate_weight', gateWeight],
    ['expert_bias', bias],
  ] as const)
    // prettier-ignore
    if (t.type !== DType.float32) throw new PtliteError('INVALID_DTYPE', `${WHAT}: expected float32 as ${name}, found ${t.dtype}`)
  check(
    depth > 0 && hidden > 0 && experts > 0,
    () => `${WHAT}: expected sizes of at least 1, found ${depth}, ${hidden} and ${experts} experts`,
  )
  check(x.dim === 2 && x.shape[1] === depth, () => `${WHAT}: expected rows of ${depth}, found shape [${x.shape.join(', ')}]`)
  check(
    gateWeight.dim === 2 && gateWeight.shape[0] === experts && gateWeight.shape[1] === depth,
    () => `${WHAT}: expected gate_weight of shape [${experts}, ${depth}], found [${gateWeight.shape.join(', ')}]`,
  )
  const hasBias = bias.numel > 0
  check(
    !hasBias || (bias.dim === 1 && bias.shape[0] === experts),
    () => `${WHAT}: expected expert_bias of shape [${experts}], or none, found [${bias.shape.join(', ')}]`,
  )
  check(scoring === 'sigmoid' || scoring === 'softmax', () => `${WHAT}: expected sigmoid or softmax as score_func, found ${scoring}`)
  check(!hasBias || scoring === 'sigmoid', () => `${WHAT}: expert_bias goes with sigmoid`)
  check(active > 0 && active <= experts, () => `${WHAT}: expected 1 to ${experts} experts for each token, found ${active}`)
  check(bits === 4 || bits === 8, () => `${WHAT}: expected weights of 4 or 8 bits, found ${bits}`)
  check(
    group > 0 && group % TILE.inputs === 0 && depth % group === 0 && hidden % group === 0,
    () => `${WHAT}: expected groups of a multiple of ${TILE.inputs} that divides ${depth} and ${hidden}, found ${group}`,
  )
  const first = packed('packed_w13', up, experts, packedBytes(2 * hidden, depth, group, bits), bits)
  const second = packed('packed_w2', down, experts, packedBytes(depth, hidden, group, bits), bits)
  const rows = x.shape[0]!
  const out = empty([rows, depth], DType.float32)
  if (rows === 0) return out
  const source = contiguousOf(x)
  const scores = linear(source, gateWeight, null)
  const [chosen, gates] = [empty([rows, active], DType.int32), empty([rows, active], DType.float32)]
  kernels.route_experts({
    rows,
    experts,
    active,
    softmax: Number(scoring === 'softmax'),
    scale,
    scores: scores.address,
    bias: hasBias ? contiguousOf(bias).address : 0,
    chosen: chosen.address,
    gates: gates.address,
  })
  kernels.experts_ffn({
    rows,
    depth,
    hidden,
    experts,
    active,
    group,
    bits,
    up_bytes: first.shape[1]!,
    down_bytes: second.shape[1]!,
    x: source.address,
    up: first.address,
    down: second.address,
    chosen: chosen.address,
    gates: gates.address,
    out: out.address,
  })
  return out
}
