import type { Branch, Operator, Parameter } from '../model/operator.js'
import { typescriptReturn, typescriptType } from '../types/typescript.js'

export function parameterType(parameter: Parameter, operator: Operator): string {
  return parameter.type === null ? 'TensorOptions' : typescriptType(parameter.type, operator.style)
}

/** `self: Tensor, other: Tensor, alpha: Scalar` */
export function parameterList(operator: Operator): string {
  const list = operator.parameters.map((p) => `${p.name}: ${parameterType(p, operator)}`)
  if (operator.schema.isVararg) list.push('rest: Value[]')
  return list.join(', ')
}

export function returnType(operator: Operator): string {
  return typescriptReturn(operator.schema.returns, operator.schema.isVarret, operator.style)
}

/** What a branch passes to its native function, given the text of each parameter. */
export function branchArguments(operator: Operator, branch: Branch, text: (parameter: Parameter) => string, rest = 'rest'): string[] {
  const outs = new Set(branch.outs)
  const isOutForm = operator.parameters.some((p) => outs.has(p.name)) && !(branch.outs.length === 1 && branch.outs[0] === 'self')
  const list = operator.parameters.filter((p) => !isOutForm || !outs.has(p.name)).map(text)
  if (operator.schema.isVararg) list.push(rest)
  for (const out of branch.outs) list.push(text(operator.parameters.find((p) => p.name === out)!))
  return list
}

/** The type that the native function of a branch must have: for structured ones with optional `out` tensors at the end. */
export function nativeType(operator: Operator, branch: Branch, outCount: number): string {
  const outs = new Set(branch.outs.includes('self') ? [] : branch.outs)
  const list = operator.parameters.filter((p) => !outs.has(p.name)).map((p) => `${p.name}: ${parameterType(p, operator)}`)
  if (operator.schema.isVararg) list.push('rest: Value[]')
  if (branch.structured) for (let i = 0; i < outCount; i++) list.push(`out${outCount > 1 ? i : ''}?: Tensor`)
  return `(${list.join(', ')}) => ${returnType(operator)}`
}
