import { constant, type GraphNode, value, type ValueId } from '../graph/graph.js'
import { Analysis, onlyResult } from './analysis.js'
import { Editor } from './editor.js'
import { madeBy, near, plusNumber, productOf, replacesDense, sumOf } from './expression.js'
import type { Pass } from './pass.js'

/**
 * Recognises gelu written out, by the error function or by its approximation (Hendrycks and Gimpel, "Gaussian Error Linear
 * Units"): x / 2 (1 + erf(x / √2)) and x / 2 (1 + tanh(√(2/π) (x + 0.044715 x³))), with factors in any order.
 *
 *     %1 = aten::div.Scalar(%0, 1.41421)
 *     %2 = aten::erf(%1)
 *     %3 = aten::add.Scalar(%2, 1, 1)
 *     %4 = aten::mul.Scalar(%0, 0.5)
 *     %5 = aten::mul.Tensor(%4, %3)              →   %5 = aten::gelu(%0, "none")
 */
export const gelu: Pass = {
  name: 'gelu',
  run(graph) {
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      const found = geluOf(node, analysis)
      if (found === null || !replacesDense(node, found.input, analysis)) continue
      editor.replaceNode(node, [{ ...node, op: 'aten::gelu', args: [value(found.input), constant(found.approximate)] }])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

function geluOf(node: GraphNode, analysis: Analysis): { input: ValueId; approximate: string } | null {
  const result = onlyResult(node)
  if (result === undefined || !/^aten::(mul|div)\./.test(node.op)) return null
  const { scale, factors } = productOf(value(result), analysis)
  if (factors.length !== 2 || !near(scale, 0.5)) return null
  for (const [input, other] of [factors, [...factors].reverse()] as [ValueId, ValueId][]) {
    const plus = plusNumber(value(other), analysis)
    if (plus?.number !== 1) continue
    const curve = madeBy(plus.term, analysis)
    if (curve?.op === 'aten::erf') {
      const inner = productOf(curve.args[0]!, analysis)
      if (inner.factors.length === 1 && inner.factors[0] === input && near(inner.scale, Math.SQRT1_2)) return { input, approximate: 'none' }
    }
    if (curve?.op === 'aten::tanh' && isCubic(productOf(curve.args[0]!, analysis), input, analysis)) return { input, approximate: 'tanh' }
  }
  return null
}

const CUBIC = 0.044715

/** √(2/π) (x + 0.044715 x³), or √(2/π) x (1 + 0.044715 x²). */
function isCubic({ scale, factors }: ReturnType<typeof productOf>, input: ValueId, analysis: Analysis): boolean {
  if (!near(scale, Math.sqrt(2 / Math.PI))) return false
  const isPower = (arg: Parameters<typeof productOf>[0], exponent: number): boolean => {
    const product = productOf(arg, analysis)
    return product.factors.length === exponent && product.factors.every((id) => id === input) && near(product.scale, CUBIC)
  }
  if (factors.length === 1) {
    const sum = sumOf(value(factors[0]!), analysis)
    if (sum === null) return false
    const [a, b] = sum
    const isInput = (arg: typeof a): boolean => arg.kind === 'value' && arg.id === input
    return (isInput(a) && isPower(b, 3)) || (isInput(b) && isPower(a, 3))
  }
  const rest = factors.filter((id) => id !== input)
  if (factors.length !== 2 || rest.length !== 1) return false
  const plus = plusNumber(value(rest[0]!), analysis)
  return plus?.number === 1 && isPower(plus.term, 2)
}
