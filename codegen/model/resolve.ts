import { at, failAt } from '../error.js'
import { qualifiedName } from '../schema/model.js'
import { printType } from '../schema/printer.js'
import type { NativeFunction } from './native-function.js'
import { deriveVariants } from './autogen.js'
import { type Branch, isInplace, type Operator, outNames, ownBranches, parametersOf, unboxedName } from './operator.js'

/** All declared operators with their variants resolved, sorted by qualified name. Throws CodegenError. */
export function resolveOperators(natives: readonly NativeFunction[]): Operator[] {
  const byName = new Map<string, NativeFunction>()
  for (const native of natives) {
    const name = qualifiedName(native.schema)
    const other = byName.get(name)
    if (other !== undefined) failAt(native.source, name, `declared twice; the other declaration is at ${at(other.source)}`)
    byName.set(name, native)
  }
  const resolved = natives.map((native) => resolve(native, byName))
  const operatorOf = new Map(resolved.map((o) => [o.qualifiedName, o]))
  const operators = resolved.map((o) => (o.native.foreach === null ? o : appliedToEach(o, o.native.foreach, operatorOf)))
  const all = [...operators, ...deriveVariants(operators)]
  const functions = new Map<string, Operator>()
  for (const operator of all) {
    const other = functions.get(operator.unboxedName)
    if (other !== undefined)
      failAt(
        operator.native.source,
        operator.qualifiedName,
        `its function would be called '${operator.unboxedName}' as that of ${other.qualifiedName} (${at(other.native.source)})`,
      )
    functions.set(operator.unboxedName, operator)
  }
  return all.sort((a, b) => (a.qualifiedName < b.qualifiedName ? -1 : 1))
}

function resolve(native: NativeFunction, byName: ReadonlyMap<string, NativeFunction>): Operator {
  const own = ownBranches(native)
  const delegated = native.structuredDelegate === null ? [] : delegatedBranches(native, native.structuredDelegate, byName)
  const branches = [...own, ...delegated.filter((d) => !own.some((o) => o.backend === d.backend))]
  return {
    qualifiedName: qualifiedName(native.schema),
    schema: native.schema,
    native,
    unboxedName: unboxedName(native.schema),
    style: { builtin: branches.some((b) => b.backend === 'Builtin'), complex: native.complex },
    parameters: parametersOf(native.schema),
    branches,
    derivation: null,
    tags: [...new Set([...native.tags, ...(byName.get(`${native.schema.namespace ?? 'aten'}::${native.structuredDelegate}`)?.tags ?? [])])],
  }
}

function appliedToEach(operator: Operator, name: string, operators: ReadonlyMap<string, Operator>): Operator {
  const { native, qualifiedName } = operator
  const from = operators.get(`aten::${name}`)
  if (from === undefined) failAt(native.source, qualifiedName, `'foreach' names no declared operator: '${name}'`)
  return { ...operator, derivation: { from, kind: 'each' } }
}

/** The functional and in-place forms of a structured operator call its one native function. */
function delegatedBranches(native: NativeFunction, delegate: string, byName: ReadonlyMap<string, NativeFunction>): Branch[] {
  const name = qualifiedName(native.schema)
  const target = byName.get(`${native.schema.namespace ?? 'aten'}::${delegate}`)
  if (target === undefined) failAt(native.source, name, `structured_delegate '${delegate}' is not declared`)
  if (!target.structured) failAt(native.source, name, `structured_delegate '${delegate}' is not structured (${at(target.source)})`)
  const outs = new Set(outNames(target.schema))
  const shape = (f: NativeFunction): string =>
    f.schema.arguments
      .filter((a) => f === native || !outs.has(a.name))
      .map((a) => `${printType(a.type, false)} ${a.name}`)
      .join(', ')
  if (shape(native) !== shape(target)) {
    failAt(native.source, name, `its arguments (${shape(native)}) differ from those of '${delegate}' (${shape(target)})`)
  }
  const changed = native.schema.arguments.find(
    (a, i) => !(i === 0 && isInplace(native.schema)) && printType(a.type) !== printType(target.schema.arguments[i]!.type),
  )
  if (changed !== undefined) failAt(native.source, name, `the alias annotation of '${changed.name}' differs from that in '${delegate}'`)
  const results = (f: NativeFunction): string => f.schema.returns.map((r) => printType(r.type, false)).join(', ')
  if (results(native) !== results(target))
    failAt(native.source, name, `its results (${results(native)}) differ from those of '${delegate}' (${results(target)})`)
  return ownBranches(target).map((b) => ({ ...b, outs: isInplace(native.schema) ? ['self'] : [] }))
}
