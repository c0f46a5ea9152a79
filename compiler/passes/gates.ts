import { type Arg, type GraphNode, value, type ValueId } from '../graph/graph.js'
import { Analysis, numberArg, onlyResult, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import { clampOf, madeBy, near, plusNumber, productOf, replacesDense } from './expression.js'
import { type Pass, untilStable } from './pass.js'

/**
 * Recognises silu, hardsigmoid, hardswish and mish written out: x sigmoid(x) or x / (1 + exp(-x)), relu6(x + 3) / 6, x relu6(x + 3) / 6,
 * x tanh(softplus(x)).
 *
 *     %1 = aten::add.Scalar(%0, 3, 1)
 *     %2 = aten::relu6(%1)
 *     %3 = aten::mul.Tensor(%0, %2)
 *     %4 = aten::div.Scalar(%3, 6)           →   %4 = aten::hardswish(%0)
 */
export const gates: Pass = {
  name: 'silu, hardsigmoid, hardswish, mish',
  // hardswish may be made of a hardsigmoid
  run: untilStable((graph) => {
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      const found = gateOf(node, analysis)
      if (found === null || !replacesDense(node, found.input, analysis)) continue
      editor.replaceNode(node, [{ ...node, op: found.op, args: [value(found.input)] }])
      changed = true
    }
    return changed ? editor.finish() : graph
  }),
}

function gateOf(node: GraphNode, analysis: Analysis): { op: string; input: ValueId } | null {
  const result = onlyResult(node)
  if (result === undefined || !/^aten::(mul|div|clamp|hardtanh)/.test(node.op)) return null
  const quotient = siluQuotient(node, analysis)
  if (quotient !== undefined) return { op: 'aten::silu', input: quotient }
  const { scale, factors } = productOf(value(result), analysis)
  const [first, second] = factors as [ValueId, ValueId | undefined]
  if (factors.length === 1) {
    const input = near(scale, 1 / 6) ? hardTerm(value(first), analysis) : near(scale, 1) ? unitHardTerm(value(first), analysis) : undefined
    return input === undefined ? null : { op: 'aten::hardsigmoid', input }
  }
  if (factors.length !== 2) return null
  for (const [input, gate] of [
    [first, second!],
    [second!, first],
  ] as const) {
    const made = madeBy(value(gate), analysis)
    const ofInput = made !== undefined && valueArg(made.args[0]) === input
    if (near(scale, 1) && ofInput && made.op === 'aten::sigmoid') return { op: 'aten::silu', input }
    if (near(scale, 1) && ofInput && made.op === 'aten::hardsigmoid') return { op: 'aten::hardswish', input }
    if (near(scale, 1) && made?.op === 'aten::tanh' && softplusTerm(made.args[0]!, analysis) === input) return { op: 'aten::mish', input }
    if (near(scale, 1 / 6) && hardTerm(value(gate), analysis) === input) return { op: 'aten::hardswish', input }
  }
  return null
}

/** x of x / (1 + exp(-x)). */
function siluQuotient({ op, args }: GraphNode, analysis: Analysis): ValueId | undefined {
  const plus = op === 'aten::div.Tensor' ? plusNumber(args[1], analysis) : null
  const exp = plus?.number === 1 ? madeBy(plus.term, analysis) : undefined
  const negated = exp?.op === 'aten::exp' ? madeBy(exp.args[0], analysis) : undefined
  const input = valueArg(args[0])
  return negated?.op === 'aten::neg' && input !== undefined && valueArg(negated.args[0]) === input ? input : undefined
}

/** x of softplus(x) as torch.nn.functional calls it. */
function softplusTerm(arg: Arg, analysis: Analysis): ValueId | undefined {
  const curve = madeBy(arg, analysis)
  const usual = curve?.op === 'aten::softplus' && numberArg(curve.args[1]) === 1 && numberArg(curve.args[2]) === 20
  return usual ? valueArg(curve.args[0]) : undefined
}

/** x of relu6(x + 3). */
function hardTerm(arg: Arg, analysis: Analysis): ValueId | undefined {
  const clamp = clampOf(arg, analysis)
  if (clamp?.min !== 0 || clamp.max !== 6) return undefined
  const plus = plusNumber(clamp.term, analysis)
  return plus?.number === 3 ? valueArg(plus.term) : undefined
}

/** x of clamp(x / 6 + 1/2, 0, 1). */
function unitHardTerm(arg: Arg, analysis: Analysis): ValueId | undefined {
  const clamp = clampOf(arg, analysis)
  if (clamp?.min !== 0 || clamp.max !== 1) return undefined
  const plus = plusNumber(clamp.term, analysis)
  if (plus === null || valueArg(plus.term) === undefined || !near(plus.number, 0.5)) return undefined
  const { scale, factors } = productOf(plus.term, analysis)
  return factors.length === 1 && near(scale, 1 / 6) ? factors[0] : undefined
}
