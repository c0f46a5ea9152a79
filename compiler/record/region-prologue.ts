import { PtliteError } from '../../runtime/error.js'
import type { LinkedOperator } from '../../program/linked.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { enterScope, type Scope } from '../../runtime/tensor/scope.js'
import { sameShape } from '../../runtime/tensor/shape.js'
import { newStack, type Value } from '../../runtime/tensor/value.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { NumberSource } from './region-number.js'
import { tensorShape, type TensorShape } from './signature.js'
import type { StateParts } from './state-signature.js'

export type PrologueArg =
  | { readonly kind: 'value'; readonly value: Value }
  | NumberSource
  /** Tensor number `index` of the state, or of those that steps have made. */
  | { readonly kind: 'tensor' | 'made'; readonly index: number }

/**
 * What is computed of varying numbers before a region's plan runs. It reads shapes and numbers, and contents of tensors that the region has not written to
 * where it reads them, so that it can come before everything else.
 */
export interface PrologueStep {
  /** Null: the argument itself. */
  readonly op: LinkedOperator | null
  readonly args: readonly PrologueArg[]
  /** The int is what a tensor holds. */
  readonly reads?: true
  /** Whether a number is a place of a tensor: where it is none, the operator that takes it fails, or counts from the end. */
  readonly isRange?: true
  /** Called where the value is not the one that the region serves. */
  readonly missed?: () => void
  readonly gives:
    | { readonly kind: 'int' }
    /** The region serves no other value: it decided a branch, or went where a plan has a fixed number. */
    | { readonly kind: 'same'; readonly value: Value }
    /** It has checked its arguments. */
    | { readonly kind: 'nothing' }
    /** An input of the plan, which has the same form each time: a view of a tensor at another place, or a small new tensor. */
    | { readonly kind: 'tensor'; readonly like: TensorShape }
}

/** Calls an operator on arguments that are no objects of the run. Temporaries are released. */
export function callAside(op: LinkedOperator, args: readonly Value[]): Value[] {
  const stack = newStack()
  const scope: Scope = { created: [] }
  const before = enterScope(scope)
  let results: Value[] = []
  try {
    for (const arg of args) stack.values[stack.top++] = arg
    op.call(stack)
    results = stack.values.slice(0, stack.top)
    return results
  } finally {
    enterScope(before)
    for (const t of scope.created) if (!results.includes(t)) t.release()
  }
}

/**
 * Carries out the steps for a state and adds what they compute to it. False where the state is none that the region serves; nothing is
 * left then.
 */
export function runPrologue(steps: readonly PrologueStep[], parts: StateParts): boolean {
  try {
    for (const step of steps) {
      if (runStep(step, parts)) continue
      releaseMade(parts)
      return false
    }
    return true
  } catch (error) {
    releaseMade(parts)
    // the interpreter says what is wrong
    if (error instanceof PtliteError) return false
    throw error
  }
}

function runStep({ op, args, gives, missed }: PrologueStep, parts: StateParts): boolean {
  const values = args.map((arg) => valueOf(arg, parts))
  const results = op === null ? values : callAside(op, values)
  const [result] = results
  switch (gives.kind) {
    case 'int':
      if (typeof result !== 'number' && !(result instanceof Float)) return false
      parts.computed.push(result)
      return true
    case 'nothing':
      return true
    case 'same':
      if (isSame(result!, gives.value)) return true
      missed?.()
      return false
    case 'tensor': {
      if (!(result instanceof Tensor)) return false
      parts.made.push(result)
      return hasForm(result, gives.like)
    }
  }
}

function valueOf(arg: PrologueArg, { tensors, ints, computed, made }: StateParts): Value {
  switch (arg.kind) {
    case 'value':
      return arg.value
    case 'int':
      return ints[arg.index]!
    case 'computed':
      return computed[arg.index]!
    case 'tensor':
      return tensors[arg.index]!
    case 'made':
      return made[arg.index]!
  }
}

/** True for values that one recording can be bound to. */
export function isFixable(value: Value | undefined): boolean {
  return value === null || value instanceof Float || (value !== undefined && typeof value !== 'object')
}

function isSame(a: Value, b: Value): boolean {
  return a instanceof Float && b instanceof Float ? Object.is(a.value, b.value) : Object.is(a, b)
}

/** Like `fitsTensor`, wherever it begins. */
function hasForm({ type, shape, strides, quant }: Tensor, like: TensorShape): boolean {
  return type === like.type && quant === null && sameShape(shape, like.shape) && sameShape(strides, like.strides)
}

/** Gives back tensors that steps have made, but for those that the run holds by now. */
export function releaseMade({ made }: StateParts): void {
  for (const t of made) if (t.uses === 0 && !t.pinned) t.release()
}

/**
 * True where a step that has given `result` gives a tensor of another form for other numbers. `steps` come before it. Numbers that it fails
 * for say nothing.
 */
export function formVaries(
  steps: readonly PrologueStep[],
  op: LinkedOperator,
  args: readonly PrologueArg[],
  result: Tensor,
  start: StateParts,
): boolean {
  const like = tensorShape(result)
  for (const change of [1, -1]) {
    const parts: StateParts = {
      ...start,
      containers: [],
      ints: start.ints.map((n) => (n instanceof Float ? new Float(n.value + change) : n + change)),
      computed: [],
      made: [],
    }
    try {
      // branches would be others, which does not matter here
      for (const step of steps) {
        if (step.gives.kind !== 'same') runStep(step, parts)
        if (step.reads === true) parts.computed.push((parts.computed.pop() as number) + change)
      }
      const [other] = callAside(op, args.map((arg) => valueOf(arg, parts))) // prettier-ignore
      if (!(other instanceof Tensor)) return true
      parts.made.push(other)
      return !hasForm(other, like)
    } catch (error) {
      if (!(error instanceof PtliteError)) throw error
    } finally {
      releaseMade(parts)
    }
  }
  return false
}
