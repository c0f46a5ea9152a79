import { damaged } from '../../program/file-error.js'
import type { ValueBudget } from '../containers/value-budget.js'
import { type CallArgument, callArguments, flatArguments } from '../exported/arguments.js'
import { leavesOf, readTree } from '../exported/tree.js'
import type { Plan } from './plan.js'

/** Old files have trees in another form, which says nothing that is needed. */
export function isTree(text: string): boolean {
  return text.startsWith('[')
}

/** The arguments that a method is called with, each of them one or more of its inputs. */
export function argumentsOf({ inputs, inputTree }: Plan, budget: ValueBudget): CallArgument[] {
  if (!isTree(inputTree)) return flatArguments(inputs.length, [])
  const args = callArguments(readTree(inputTree, new Map(), budget), null)
  const leaves = args.reduce((sum, { tree }) => sum + leavesOf(tree), 0)
  if (leaves !== inputs.length) throw damaged(`the arguments have ${leaves} values, the method takes ${inputs.length}`)
  return args
}
