import type { OperatorSchema } from './schema.js'

/** Says what the numbers in generated wrappers stand for. The registry puts itself here, so that wrappers need not import it. */
export interface OperatorNames {
  nameAt(index: number): string
  schemaAt(index: number): OperatorSchema
}

let source: OperatorNames | null = null

export function setOperatorNames(names: OperatorNames): void {
  source = names
}

export function operatorNameAt(index: number): string {
  return source?.nameAt(index) ?? `operator ${index}`
}

const NO_SCHEMA: OperatorSchema = { arguments: [], isVararg: false, returns: [], isVarret: false }

export function schemaAt(index: number): OperatorSchema {
  return source?.schemaAt(index) ?? NO_SCHEMA
}
