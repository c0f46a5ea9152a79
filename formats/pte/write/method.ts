import { compiler } from '../../../compiler/lazy.js'
import { TieredModule } from '../../../compiler/tier.js'
import type { ScriptModule } from '../../../interpreter/script-module.js'
import { guarded, unsupported } from '../../../program/file-error.js'
import type { LinkedFunction } from '../../../program/linked.js'
import { PtliteError } from '../../../runtime/error.js'
import { writeTensor } from '../../../runtime/tensor/data.js'
import { isIntegral } from '../../../runtime/tensor/dtype.js'
import { Tensor } from '../../../runtime/tensor/tensor.js'
import type { Value } from '../../../runtime/tensor/value.js'
import { align, type AlignedArg, type AlignedGraph, type AlignedNode, type AlignedValue } from './aligned.js'
import type { ConstantTable } from './constants.js'
import { Lowering } from './lowering.js'
import { NodeArguments } from './node.js'
import { PlanWriter, type WrittenPlan } from './plan-writer.js'
import { ELEMENTS } from './rules-elements.js'
import { LAYERS } from './rules-layers.js'
import { RECURRENT } from './rules-recurrent.js'
import { SHAPES } from './rules-shapes.js'
import type { InitialState } from './state.js'
import { type RecordedCall, statefulCall, statelessCall } from './stateful-call.js'
import { argumentTree, leavesIn, leavesOfResult, resultTree } from './trees.js'

/** Recordings that tell what depends on a size, and how. */
const LEAST_SAMPLES = 3
const MAX_SAMPLES = 6

const RULES = { ...LAYERS, ...RECURRENT, ...ELEMENTS, ...SHAPES }

/** Arguments of the sizes of a sample, the largest first; undefined for one that cannot be. */
export type Examples = readonly (() => readonly Value[])[]

/** The constants of a file, and what its state begins with. */
export interface Tables {
  readonly constants: ConstantTable
  readonly initial: ConstantTable
  /** What outlives calls is in a memory that methods share, rather than in that of each. */
  readonly isShared: boolean
}

/** A method as it was recorded, with arguments of the first of several sizes. */
export interface RecordedMethod {
  readonly name: string
  readonly calls: readonly [RecordedCall, ...RecordedCall[]]
  readonly args: readonly Value[]
}

/** Records calls of a method with the examples. Throws UNSUPPORTED_FILE, saying why, for methods that cannot be written. */
export function recordMethod(script: ScriptModule, fn: LinkedFunction, examples: Examples, initial: InitialState | null): RecordedMethod {
  return guarded(`method '${fn.source.method}'`, () => {
    const { calls, args } = recordSamples(script, fn, examples, initial)
    const [first] = calls as [RecordedCall, ...RecordedCall[]]
    const isAlike = ({ inputs, changed, states, numbers }: RecordedCall): boolean =>
      isSame([inputs, changed, numbers], [first.inputs, first.changed, first.numbers]) &&
      states.every((state, i) => state === first.states[i])
    if (!calls.every(isAlike))
      throw unsupported('for inputs of other sizes it changes other attributes; give --shape to write it for one size')
    return { name: fn.source.method, calls: calls as [RecordedCall, ...RecordedCall[]], args }
  })
}

/** Writes a method as a plan that calls ExecuTorch's operators in place of this runtime's. Throws UNSUPPORTED_FILE for what has no form, with all operators that have none. */
export function writeMethod({ name, calls, args }: RecordedMethod, tables: Tables): WrittenPlan {
  return guarded(`method '${name}'`, () => planOf(name, align(calls.map(({ graph }) => graph)), calls[0], args, tables))
}

/** Gives back what passes have made for a recording. */
export function releaseMethod({ calls }: RecordedMethod): void {
  for (const { graph } of calls) for (const { derived, tensor } of graph.constants) if (derived) tensor.release()
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/**
 * What a call of a method computes, with as few spellings of one operator as there are; the module is as before then. Throws UNSUPPORTED_FILE, saying why, for methods that
 * cannot be written so.
 */
function recordCall(script: ScriptModule, fn: LinkedFunction, args: readonly Value[], initial: InitialState | null): RecordedCall {
  try {
    const tiers = new TieredModule(script, 'off')
    // what other methods change is no constant of this one
    const isShared = initial !== null && initial.markIn(tiers.parts)
    const found = isShared ? null : tiers.record(fn, args)
    const call = found !== null && 'graph' in found ? statelessCall(found.graph) : withState(tiers, fn, args, initial, found?.reason)
    return { ...call, graph: compiler().plainGraph(call.graph) }
  } finally {
    initial?.restore()
  }
}

/** A call that reads or changes attributes that calls change. `reason` is why it is no graph by itself. */
function withState(
  tiers: TieredModule,
  fn: LinkedFunction,
  args: readonly Value[],
  initial: InitialState | null,
  reason = 'it has parts that cannot be recorded',
): RecordedCall {
  const [region, ...others] = initial === null ? [] : tiers.recordRegions(fn, args, () => initial.restore())
  if (initial === null || region === undefined || others.length > 0 || region.end.kind !== 'return')
    throw unsupported(`it cannot be written as ExecuTorch's operators: ${region?.end.kind === 'step' ? region.end.reason : reason}`)
  initial.restore()
  return statefulCall(region, args, initial)
}

function recordSamples(
  script: ScriptModule,
  fn: LinkedFunction,
  examples: Examples,
  initial: InitialState | null,
): { calls: RecordedCall[]; args: readonly Value[] } {
  const record = (args: readonly Value[]): RecordedCall => {
    try {
      return recordCall(script, fn, args, initial)
    } catch (error) {
      if (!(error instanceof PtliteError) || error.code !== 'INVALID_ARGUMENT' || !fillWithOnes(args)) throw error
      return recordCall(script, fn, args, initial)
    }
  }
  const [first] = examples
  const args = first!()
  const calls = [record(args)]
  if (examples.length === 1) return { calls, args }
  let failure: unknown
  for (const example of examples.slice(1)) {
    if (calls.length === MAX_SAMPLES) break
    try {
      calls.push(record(example()))
    } catch (error) {
      // not all sizes that are within bounds need fit the model
      if (!(error instanceof PtliteError)) throw error
      failure = error
    }
  }
  if (calls.length < LEAST_SAMPLES)
    throw unsupported(`too few of its sizes could be tried to see what depends on them (${String(failure)}); give --shape`)
  return { calls, args }
}

/** Zeros of whole numbers are no divisors. False where there are none. */
function fillWithOnes(args: readonly Value[]): boolean {
  const whole = args.flatMap(leavesIn).filter((leaf): leaf is Tensor => leaf instanceof Tensor && isIntegral(leaf.type))
  for (const t of whole) {
    const ones = t.data()
    writeTensor(t, ones.fill((typeof ones[0] === 'bigint' ? 1n : 1) as never))
  }
  return whole.length > 0
}

function planOf(
  name: string,
  graph: AlignedGraph,
  { inputs: kinds, states, changed, numbers }: RecordedCall,
  args: readonly Value[],
  { constants, initial, isShared }: Tables,
): WrittenPlan {
  const plan = new PlanWriter(constants)
  const lowering = new Lowering(plan)
  const leaves = args.flatMap(leavesIn)
  const given = leaves.filter((leaf): leaf is Tensor => leaf instanceof Tensor)
  const tensors = new Map<Tensor, AlignedValue>()
  const kept = new Map<number, AlignedValue>()
  kinds.forEach(({ kind, index }, i) => {
    if (kind === 'argument') tensors.set(given[index]!, graph.inputs[i]!)
    else kept.set(index, graph.inputs[i]!)
  })
  const inputs = leaves.map((leaf) => {
    if (leaf instanceof Tensor) return plan.define(tensors.get(leaf) ?? unread(leaf))
    return plan.leaf(typeof leaf === 'number' || typeof leaf === 'bigint' ? { kind: 'int', at: [leaf] } : { kind: 'plain', value: leaf })
  })
  for (const [index, value] of kept) {
    const { name: path, first, offset } = states[index]!
    plan.keep(value, { name: path, initial: initial.add(first), offset: isShared ? offset : null })
  }
  const lacking = new Map<string, string>()
  for (const node of graph.nodes) {
    try {
      writeNode(node, lowering)
    } catch (error) {
      if (!(error instanceof PtliteError) || error.code !== 'UNSUPPORTED_FILE') throw error
      lacking.set(node.op, error.message)
    }
  }
  if (lacking.size > 0) {
    const texts = [...lacking].map(([op, why]) => (why === '' ? op : why.includes(op) ? why : `${op} (${why})`))
    throw unsupported(`ExecuTorch's portable operators cannot say ${texts.join(', ')}`)
  }
  const returned = lowering.arg(graph.output)
  const [result, ...news] = ('items' in returned ? returned.items : []) as [AlignedArg, ...AlignedArg[]]
  // what is kept is written to behind everything else that reads it
  const aside = (arg: AlignedArg): AlignedArg => {
    if (arg.kind !== 'value' || ![...kept.values()].some((value) => lowering.resolve(value) === arg.value)) return arg
    return { kind: 'value', value: lowering.call('aten::clone.out', [arg.value, null], lowering.like(arg.value)) }
  }
  const leavesOut = leavesOfResult(result)
  const outputs = leavesOut.map((leaf, i) => {
    if (numbers.includes(i)) return leaf.kind === 'value' ? plan.read(leaf.value) : plan.leaf(leaf)
    return changed.length === 0 ? leaf : aside(leaf)
  })
  const written = news.map(aside)
  for (const [i, arg] of written.entries()) if (arg.kind === 'value') plan.update(kept.get(changed[i]!)!, arg.value)
  return plan.finish(
    name,
    inputs,
    outputs.map((leaf) => (typeof leaf === 'number' ? leaf : plan.leaf(leaf))),
    argumentTree(args),
    resultTree(result),
  )
}

/** An argument that nothing depends on. */
function unread({ type, shape }: Tensor): AlignedValue {
  return { dtype: type, shape: shape.map((size) => [size]), tensor: null }
}

function writeNode(node: AlignedNode, lowering: Lowering): void {
  if (node.isInPlace) throw unsupported(`${node.op} writes to a part of a tensor, or to one that is seen elsewhere`)
  const rule = Object.hasOwn(RULES, node.op) ? RULES[node.op] : undefined
  if (rule !== undefined) rule(new NodeArguments(node, lowering), lowering)
  else if (!lowering.direct(node)) throw unsupported('')
}
