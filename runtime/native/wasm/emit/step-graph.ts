import { type Algorithm, ALGORITHMS, type Lanes, type Numbers } from './algorithms.js'
import type { Floats } from './floats.js'
import type { Local } from './values.js'

/** Of tensors that generated code reads and writes. */
export type ElementType = 'float32' | 'bfloat16' | 'float16' | 'bool' | 'uint8' | 'int8'

export interface Step extends Numbers {
  /** A name of JitAlgorithm. */
  readonly op: string
  /** Values: inputs first, then steps. Of binary steps, -1 and -2 are alpha and beta. */
  readonly a: number
  /** Not read by unary steps. */
  readonly b: number
}

/** Steps on inputs; the last one's value is the output. */
export interface StepGraph {
  readonly inputs: readonly {
    readonly dtype: ElementType
    /** One element per row, for all of its columns. */
    readonly isBroadcast: boolean
  }[]
  readonly steps: readonly Step[]
  readonly out: ElementType
  /** Steps that go to outputs of their own besides. */
  readonly kept: readonly { readonly step: number; readonly dtype: ElementType }[]
}

/** What a host of steps does with memory. */
export interface StepHost {
  readonly load: (input: number) => Local
  /** The value of `kept[index]`. */
  readonly keep: (index: number, value: Local) => void
}

export const MAX_INPUTS = 8
const MAX_STEPS = 32
export const MAX_KEPT = 3

const isBytes = (dtype: ElementType): boolean => dtype === 'uint8' || dtype === 'int8'
const lanesOf = (dtype: ElementType): Lanes => (isBytes(dtype) ? 'int' : 'float')

/** Whether code can be generated: algorithms are known, operands come before their steps, and lanes of one kind go into the next. */
export function isValid({ inputs, steps, out, kept }: StepGraph): boolean {
  if (inputs.length < 1 || inputs.length > MAX_INPUTS || steps.length < 1 || steps.length > MAX_STEPS) return false
  if (kept.length > MAX_KEPT || inputs.length + kept.length > MAX_INPUTS) return false
  const lanes: Lanes[] = inputs.map(({ dtype }) => lanesOf(dtype))
  for (const { op, a, b } of steps) {
    const row: Algorithm | undefined = ALGORITHMS[op]
    if (row === undefined) return false
    const isBinary = row.binary !== undefined
    const fits = (operand: number): boolean => (isBinary && (operand === -1 || operand === -2)) || lanes[operand] === row.takes
    if (!fits(a) || (isBinary && !fits(b))) return false
    lanes.push(row.gives)
  }
  const keptSteps = new Set(kept.map(({ step }) => step))
  if (keptSteps.size < kept.length) return false
  if (kept.some(({ step, dtype }) => steps[step] === undefined || isBytes(dtype) || lanes[inputs.length + step] !== 'float')) return false
  return lanes.at(-1) === lanesOf(out)
}

/** About how many instructions the steps are. */
export function sizeOf({ steps }: StepGraph): number {
  return steps.reduce((sum, { op }) => sum + ALGORITHMS[op]!.size, 0)
}

/** Writes the steps on one vector. Inputs are loaded where they are first read. */
export function writeSteps(e: Floats, { inputs, steps, kept }: StepGraph, host: StepHost): Local {
  const values: (Local | undefined)[] = inputs.map(() => undefined)
  let last: Local | undefined
  steps.forEach((step, i) => {
    const operand = (index: number): Local => {
      // numbers are constants, which are locals already
      if (index < 0) return e.f32(index === -1 ? step.alpha : step.beta)
      return (values[index] ??= host.load(index))
    }
    const { unary, binary } = ALGORITHMS[step.op]!
    const x = operand(step.a)
    last = e.keep(unary !== undefined ? unary(e, x, step) : binary!(e, x, operand(step.b)))
    values.push(last)
    kept.forEach(({ step: of }, index) => {
      if (of === i) host.keep(index, last!)
    })
  })
  return last!
}
