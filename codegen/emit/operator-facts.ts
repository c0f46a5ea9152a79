import { inplaceViews, pointwiseOfOne } from '../model/facts.js'
import { FACTS } from '../model/tags.js'
import type { Operator } from '../model/operator.js'
import { banner, OPERATOR_INPUTS } from './file.js'

/** Facts that the recorder goes by. */
const RECORDED = FACTS.filter((fact) => fact !== 'moves' && fact !== 'side_effect' && fact !== 'in_rows')

/**
 * compiler/generated/operator-facts.ts: what the recorder of models has to know of operators beside their schemas, as names with a space between them.
 * Behind each of `inplace_views` stands the operator that makes its view.
 */
export function emitOperatorFacts(operators: readonly Operator[]): string {
  const rows = RECORDED.map((fact): [string, readonly string[]] => [
    fact,
    operators.filter(({ native }) => native.facts.includes(fact)).map((o) => o.qualifiedName),
  ])
  rows.push(['inplace_views', [...inplaceViews(operators)].flat()])
  const text = rows.map(([fact, names]) => `  ${fact}: '${names.join(' ')}',\n`).join('')
  return `${banner('operator-facts.ts', OPERATOR_INPUTS)}export const OPERATOR_FACTS = {\n${text}} as const\n`
}

/** compiler/generated/pointwise.ts: operators that compute each element of one tensor by itself, which passes have to know. */
export function emitPointwise(operators: readonly Operator[]): string {
  const names = pointwiseOfOne(operators).map((o) => o.qualifiedName)
  return `${banner('operator-facts.ts', OPERATOR_INPUTS)}export const POINTWISE_OF_ONE: ReadonlySet<string> = new Set('${names.join(' ')}'.split(' '))\n`
}

/** runtime/operators/table/generated/moves.ts: the operators whose results are their arguments, which the interpreter has to know. */
export function emitMoves(operators: readonly Operator[]): string {
  const names = operators.filter(({ native }) => native.facts.includes('moves')).map((o) => `'${o.qualifiedName}'`)
  return `${banner('operator-facts.ts', OPERATOR_INPUTS)}export const MOVES: readonly string[] = [${names.join(', ')}]\n`
}
