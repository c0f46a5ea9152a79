import { HOW_TO_EXTEND } from '../../build.js'
import { editDistance } from '../../edit-distance.js'
import { entryAt, operatorCount } from './registry.js'
import * as features from '../../features.js'

/** Names closest to one that the table lacks: other overloads first, then similar names; at most `limit`. */
export function similarOperators(qualifiedName: string, limit = 4): string[] {
  if (!features.advice) return []
  const base = baseName(qualifiedName)
  const overloads: string[] = []
  const others: { name: string; distance: number }[] = []
  for (let i = 0; i < operatorCount(); i++) {
    const name = entryAt(i).qualifiedName
    if (baseName(name) === base) overloads.push(name)
    else {
      const distance = editDistance(base, baseName(name), 3)
      if (distance < 3) others.push({ name, distance })
    }
  }
  others.sort((a, b) => a.distance - b.distance)
  return [...overloads, ...others.map((o) => o.name)].slice(0, limit)
}

function baseName(qualifiedName: string): string {
  return qualifiedName.split('.', 1)[0]!
}

/** How to get an operator that the build lacks. */
export const HOW_TO_ADD: string =
  HOW_TO_EXTEND !== ''
    ? HOW_TO_EXTEND
    : "\nDeclare them in a custom_ops.yaml and run 'ptlite codegen --ops custom_ops.yaml --out DIR', or add them before the model is loaded: " +
      "registerOperator('NAMESPACE::NAME(Tensor x) -> Tensor', (x) => ...) (docs/custom-ops.md)."
