import type { KernelAbi } from '../../codegen/kernel-abi/model.js'
import type { Operator } from '../../codegen/model/operator.js'
import { DEVICE_BACKENDS, type Selector } from '../../codegen/options.js'
import { type Format, formats } from '../../formats/registry.js'
import { READER_PARTS } from '../../program/reader-parts.js'
import { PtliteError } from '../../runtime/error.js'
import { USED_PARTS } from '../../runtime/traced-parts.js'
import { dtypeCode, dtypeTag } from '../trace/dtype-tags.js'
import type { Trace } from '../trace/trace.js'

/** What a build holds. */
export interface Selection {
  /** Qualified names that work. */
  readonly operators: ReadonlySet<string>
  /** Qualified names that models load with and that throw when called: the trace never came to them. */
  readonly uncalled: ReadonlySet<string>
  /** null for those that the operators can reach. */
  readonly kernels: ReadonlySet<string> | null
  /** c10::ScalarType numbers; null for all. */
  readonly dtypes: ReadonlySet<number> | null
  /** Values of each kernel enumeration; null for all. */
  readonly operations: ReadonlyMap<string, ReadonlySet<string>> | null
  readonly backends: ReadonlySet<string>
  /** Formats by name (`ptl`, `ff`) and parts of the runtime (see build/bundle.ts). */
  readonly loaders: ReadonlySet<string>
  readonly parts: ReadonlySet<string>
  /** Names of the instructions that run; null for all. */
  readonly instructions: ReadonlySet<string> | null
}

/** Instructions link it by themselves; it has no entry in the table. */
const BUILT_INTO_LINKER = new Set(['prim::RaiseException'])

/** Feature of traces that came to the plans of their runs, too. */
export const TRACED_PLANS = 'plans'

/** What stands before the name of a format among the features of a trace. */
const LOADER = 'loader:'

/** Families of kernels that the runtime itself launches, and that readers of plans do, which ask for the level. */
const ALWAYS = ['memory', 'mapping', 'threads']
const FOR_PLANS = [...ALWAYS, 'cpu']
/** Those that the compiler launches besides the operators of its plans. */
const FOR_COMPILER = [...FOR_PLANS, 'plan', 'jit']
/** Operators that only passes put into graphs. */
const OF_PASSES = 'ptlite::'

export interface SelectionOptions {
  /** Keep every dtype and operation of the kernels that ran. */
  readonly allDtypes: boolean
  /** Keep the compiler, with what its plans are made of. */
  readonly compiler: boolean
}

/** Turns a trace into what to build. Throws MISSING_OPERATOR naming what the library does not have. */
export function selectionOf(trace: Trace, declared: readonly Operator[], abi: KernelAbi, options: SelectionOptions): Selection {
  const names = trace.all ? new Set(declared.map((o) => o.qualifiedName)) : rootNames(trace, declared)
  // traces of plans name those that they came to
  const isUnknown = options.compiler && !trace.features.has(TRACED_PLANS)
  if (isUnknown) for (const { qualifiedName } of declared) if (qualifiedName.startsWith(OF_PASSES)) names.add(qualifiedName)
  const uncalled = trace.all ? [] : [...names].filter((name) => trace.operators.get(name)?.isCalled === false)
  const kernels = trace.all || isUnknown ? null : trace.kernels
  const families = options.compiler ? FOR_COMPILER : readsPlans(trace) ? FOR_PLANS : ALWAYS
  return {
    operators: new Set([...names].filter((name) => !uncalled.includes(name))),
    uncalled: new Set(uncalled),
    kernels: kernels === null ? null : new Set([...kernels.keys(), ...kernelsOf(abi, families)]),
    dtypes: kernels === null || options.allDtypes ? null : dtypesOf(trace),
    operations: kernels === null || options.allDtypes ? null : operationsOf(trace, abi, options.compiler),
    backends: new Set(backendsOf(trace, kernels === null)),
    loaders: new Set(featureNames(trace, LOADER, loadersOf('program'))),
    parts: new Set([
      ...trace.features,
      ...(trace.all || kernels === null ? ['debug-info', 'upgraders', 'argument-counts', ...USED_PARTS] : []),
      // lists of operators name no files
      ...(trace.all || !namesFiles(trace) ? READER_PARTS : []),
      ...(options.compiler ? ['compiler'] : []),
    ]),
    instructions: kernels === null ? null : instructionsOf(trace),
  }
}

/** Names of the formats that hold programs, or plans. */
export function loadersOf(what: Format['holds']): string[] {
  return formats()
    .filter(({ holds }) => holds === what)
    .map(({ name }) => name)
}

function namesFiles({ features }: Trace): boolean {
  return [...features].some((feature) => feature.startsWith(LOADER))
}

function readsPlans({ features }: Trace): boolean {
  return loadersOf('plans').some((name) => features.has(LOADER + name))
}

function rootNames(trace: Trace, declared: readonly Operator[]): Set<string> {
  const known = new Map(declared.map((o) => [o.qualifiedName, o]))
  const names = new Set<string>()
  const unknown: string[] = []
  for (const [name, use] of trace.operators) {
    if (!use.isRoot || BUILT_INTO_LINKER.has(name)) continue
    if (name.endsWith('.*')) {
      const base = name.slice(0, -2)
      const overloads = [...known.keys()].filter((other) => other.split('.', 1)[0] === base)
      if (overloads.length === 0) unknown.push(base)
      for (const overload of overloads) names.add(overload)
    } else if (known.has(name)) names.add(name)
    else unknown.push(name)
  }
  if (unknown.length > 0) throw new PtliteError('MISSING_OPERATOR', `the library has no ${unknown.sort().join(', ')}`)
  if (names.size === 0 && !readsPlans(trace))
    throw new PtliteError('INVALID_ARGUMENT', 'nothing is selected: the traces and models name no operator')
  return names
}

function kernelsOf(abi: KernelAbi, families: readonly string[]): string[] {
  return abi.kernels.filter((k) => families.some((family) => k.source.file.endsWith(`/${family}.yaml`))).map((k) => k.name)
}

function dtypesOf(trace: Trace): Set<number> {
  const tags = [...trace.kernels!.values()].flatMap((use) => [...use.dtypes])
  return new Set(tags.map((tag) => dtypeCode(tag)).filter((code) => code !== undefined))
}

function operationsOf(trace: Trace, abi: KernelAbi, compiler: boolean): Map<string, Set<string>> {
  // plans name their level, which traced runs did not ask for
  const asked = (name: string, values: readonly string[]): readonly string[] => (compiler && name === 'CpuText' ? values : [])
  const found = new Map<string, Set<string>>(abi.enums.map((e) => [e.name, new Set(asked(e.name, e.values))]))
  for (const { operations } of trace.kernels!.values()) {
    for (const operation of operations) {
      const [name, value] = operation.split('.') as [string, string]
      found.get(name)?.add(value)
    }
  }
  return found
}

function backendsOf(trace: Trace, isStatic: boolean): string[] {
  if (trace.all) return [...DEVICE_BACKENDS]
  const quantized = [...trace.operators.keys()].some((name) => name.startsWith('quantized::'))
  const noted = featureNames(trace, 'backend:', ['CPU'])
  return isStatic || quantized ? [...new Set([...noted, 'CPU', 'QuantizedCPU'])] : noted
}

/** Traces that were not made by this library name none. */
function instructionsOf(trace: Trace): Set<string> | null {
  const names = featureNames(trace, 'instruction:', [])
  return names.length === 0 ? null : new Set(names)
}

function featureNames(trace: Trace, prefix: string, otherwise: readonly string[]): string[] {
  const names = [...trace.features].filter((f) => f.startsWith(prefix)).map((f) => f.slice(prefix.length))
  return names.length === 0 || trace.all ? [...otherwise] : names
}

/** The selection as codegen asks for it. */
export function selectorOf(selection: Selection, kernels: ReadonlySet<string> | null): Selector {
  return {
    operator: ({ qualifiedName }) => selection.operators.has(qualifiedName) || selection.uncalled.has(qualifiedName),
    kernel: (name) => kernels === null || kernels.has(name),
    dtypes: selection.dtypes,
    values: (name) => selection.operations?.get(name) ?? null,
  }
}

export function dtypeNames(dtypes: ReadonlySet<number> | null): string {
  return dtypes === null ? 'all' : [...dtypes].map((code) => dtypeTag(code) ?? String(code)).join(', ') || 'none'
}
