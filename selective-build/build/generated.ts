import { emitPlainSchemas } from '../../codegen/emit/schemas.js'
import { emitKernels, emitOperators, type GeneratedFiles } from '../../codegen/generate.js'
import type { KernelAbi } from '../../codegen/kernel-abi/model.js'
import type { Operator } from '../../codegen/model/operator.js'
import { backendsFrom, type BuildOptions, DEVICE_BACKENDS, libraryNames } from '../../codegen/options.js'
import { type Selection, selectorOf } from '../selection/selection.js'

/** Generated files of a selective build. `kernels` are those it holds, null for all. */
export function generatedFiles(
  selection: Selection,
  declared: readonly Operator[],
  abi: KernelAbi,
  kernels: ReadonlySet<string> | null,
): GeneratedFiles {
  const options: BuildOptions = {
    backends: backendsFrom(DEVICE_BACKENDS.filter((name) => selection.backends.has(name))),
    selector: selectorOf(selection, kernels),
    names: libraryNames,
  }
  const operators = declared.flatMap((o) => (selection.uncalled.has(o.qualifiedName) ? withoutTable(o) : [o]))
  operators.sort((a, b) => (a.qualifiedName < b.qualifiedName ? -1 : a.qualifiedName > b.qualifiedName ? 1 : 0))
  const stubs = new Set(operators.filter((o) => o.unboxedName.startsWith(UNCALLED)))
  const selector = { ...options.selector, operator: (o: Operator) => stubs.has(o) || selection.operators.has(o.qualifiedName) }
  const inTable = operators.filter(selector.operator)
  const schemas: [string, string][] = inTable.length > FEW ? [] : [['runtime/operators/table/decode-schema.ts', emitPlainSchemas(inTable)]]
  return new Map([...emitOperators(operators, { ...options, selector }), ...emitKernels(abi, options), ...schemas])
}

/** Operators up to which plain schemas are shorter than packed ones and what unpacks them. */
const FEW = 40

const UNCALLED = 'uncalled_'

/**
 * For an operator that is named and never called: one of its schema that says it is missing, for the table, and itself outside of the
 * table, since other operators may call it.
 */
function withoutTable(operator: Operator): Operator[] {
  return [{ ...operator, unboxedName: `${UNCALLED}${operator.unboxedName}`, branches: [], derivation: null }, operator]
}
