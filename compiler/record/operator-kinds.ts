import { isWritten, type OperatorSchema } from '../../runtime/operators/table/schema.js'
import { OPERATOR_FACTS } from '../generated/operator-facts.js'

type Fact = Exclude<keyof typeof OPERATOR_FACTS, 'inplace_views'>

const sets = new Map<Fact, ReadonlySet<string>>()
let views: Map<string, string> | null = null

/** True where the declaration of an operator says so (codegen/model/facts.ts says what each fact means). */
export function hasFact(qualifiedName: string, fact: Fact): boolean {
  let names = sets.get(fact)
  if (names === undefined) sets.set(fact, (names = new Set(OPERATOR_FACTS[fact].split(' '))))
  return names.has(qualifiedName)
}

/** An operator without results may be left out of a replay where it does nothing, or changes containers: those belong to the run. */
export function isTimeless(qualifiedName: string, { arguments: declared }: OperatorSchema): boolean {
  return hasFact(qualifiedName, 'no_effect') || declared.some(isWritten)
}

/** The operator that makes the view which this one turns its argument into; null for all others. */
export function viewOperator(qualifiedName: string): string | null {
  if (views === null) {
    views = new Map()
    const names = OPERATOR_FACTS.inplace_views.split(' ')
    for (let i = 0; i + 1 < names.length; i += 2) views.set(names[i]!, names[i + 1]!)
  }
  return views.get(qualifiedName) ?? null
}
