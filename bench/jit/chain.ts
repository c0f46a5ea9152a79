import * as kernels from '../../runtime/native/generated/kernels.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { callOperator, tensor } from '../../src/index.js'
import { inTurns } from './timing.js'

const { JitAlgorithm } = kernels

/** Unary steps with a number each, and the operators with an `out` argument that do the same. */
interface Step {
  readonly algorithm: number
  readonly number: number
  readonly operator: string
}

const MULTIPLY = (number: number): Step => ({ algorithm: JitAlgorithm.mul, number, operator: 'aten::mul.out' })
const ADD = (number: number): Step => ({ algorithm: JitAlgorithm.add, number, operator: 'aten::add.out' })
const CHAINS: Readonly<Record<string, readonly Step[]>> = {
  'mul, add, abs, sub': [
    MULTIPLY(1.5),
    ADD(0.25),
    { algorithm: JitAlgorithm.abs, number: 0, operator: 'aten::abs.out' },
    { algorithm: JitAlgorithm.sub, number: 0.5, operator: 'aten::sub.out' },
  ],
  'mul, add, gelu, mul': [
    MULTIPLY(1.5),
    ADD(0.25),
    { algorithm: JitAlgorithm.gelu_erf, number: 0, operator: 'aten::gelu.out' },
    MULTIPLY(0.75),
  ],
}

export interface ChainTimes {
  readonly name: string
  /** Microseconds. */
  readonly scale: number
  readonly generated: number
  readonly separate: number
}

const ONE_RESULT = { more: 0, kept: [], more_dtypes: [] }

/** Chains over `count` floats: generated, operator by operator, and a loop that multiplies by a number, all into memory that is there. */
export function timeChains(count: number, rounds: number, milliseconds: number): ChainTimes[] {
  const data = new Float32Array(count)
  for (let i = 0; i < count; i++) data[i] = (i % 1021) / 128 - 4
  const x = tensor(data, [count])
  const [y, z] = [tensor(data, [count]), tensor(data, [count])]
  const two = tensor([2], [])
  return Object.entries(CHAINS).map(([name, steps]) => {
    const arity = (s: Step): boolean => s.algorithm >= JitAlgorithm.add
    const fields = {
      inputs: 1,
      steps: steps.length,
      a: steps.map((_, i) => i),
      b: steps.map((s) => (arity(s) ? -1 : 0)),
      p0: steps.map((s) => s.number),
      p1: steps.map(() => 0),
      streaming: Number(4 * count >= 32 * 2 ** 20),
    }
    const ops = steps.map((s) => s.algorithm)
    const { handle } = kernels.jit_elementwise_create({
      ...fields,
      ops,
      out_dtype: DType.float32,
      access: [kernels.JitAccess.full],
      dtypes: [DType.float32],
      p2: steps.map(() => 1),
      lut: 0,
      ...ONE_RESULT,
    })
    const numbers = steps.map((s) => tensor([s.number], []))
    const times = inTurns(
      {
        scale: () => {
          callOperator('aten::mul.out', [x, two, y])
        },
        generated: () => {
          const memory = { out: y.address, out_dtype: DType.float32, more_out: [], in: [x.address], dtypes: [DType.float32], strides: [1] }
          kernels.fused({ ...fields, ...ONE_RESULT, ...memory, ndim: 1, sizes: [count], op: ops, code: handle })
        },
        separate: () => {
          let from = x
          steps.forEach((s, i) => {
            const to = i % 2 === 0 ? z : y
            callOperator(s.operator, arity(s) ? [from, numbers[i]!, ...(/add|sub/.test(s.operator) ? [1] : []), to] : gelu(s, from, to))
            from = to
          })
        },
      },
      rounds,
      milliseconds,
    )
    kernels.jit_release({ handle })
    return { name, ...times }
  })
}

const gelu = (s: Step, from: ReturnType<typeof tensor>, to: ReturnType<typeof tensor>) =>
  s.operator === 'aten::gelu.out' ? [from, 'none', to] : [from, to]
