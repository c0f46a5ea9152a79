import { findOperator, type OperatorEntry, overloadsOf } from '../../../runtime/operators/table/registry.js'
import { isWritten, type SchemaArgument } from '../../../runtime/operators/table/schema.js'
import { damaged, guarded } from '../../../program/file-error.js'
import type { Kernel } from '../kernel.js'
import type { MethodEmitter } from '../method-emitter.js'
import { viewOf } from './views.js'

/** Where an argument of the operator that is called comes from. */
type Source =
  /** The argument of this number. */
  | { readonly kind: 'given'; readonly index: number }
  /** The dtype of the result, which the operator with `out` need not be told. */
  | { readonly kind: 'dtype' }
  | { readonly kind: 'default' }

/** How an operator with `out` is called as one that makes its results. */
interface Call {
  readonly entry: OperatorEntry
  readonly sources: readonly Source[]
  /** Numbers of the `out` arguments. */
  readonly outs: readonly number[]
  /** Arguments that the plan gives before it repeats the results. */
  readonly count: number
}

const calls = new Map<string, Call | null>()

/** What serves an operator that writes its results to `out` arguments; undefined where this build has none. */
export function atenKernel(name: string): Kernel | undefined {
  let call = calls.get(name)
  if (call === undefined) {
    call = resolve(name)
    calls.set(name, call)
  }
  return call === null ? undefined : kernelOf(call)
}

function resolve(name: string): Call | null {
  const base = name.replace(/\.[^.]*$/, '')
  const outVariant = findOperator(name)
  if (outVariant === undefined) return guessed(base, name)
  const args = outVariant.schema.arguments
  const outs = args.flatMap(({ isOut }, i) => (isOut ? [i] : []))
  if (outs.length === 0) return null
  const given = args.filter(({ isOut }) => !isOut)
  let best: Call | null = null
  for (const entry of overloadsOf(base)) {
    const others = entry.schema.arguments
    if (others.some(isChanged)) continue
    const sources = match(given, others)
    if (sources === null || (best !== null && best.sources.length <= sources.length)) continue
    best = { entry, sources, outs, count: args.length }
  }
  return best
}

/** Whether an argument is a result, or is written to. */
function isChanged(argument: SchemaArgument): boolean {
  return argument.isOut || isWritten(argument)
}

/** Of operators that have no variant with `out` here: the one overload that makes its results. */
function guessed(base: string, name: string): Call | null {
  const entries = overloadsOf(base).filter(({ schema }) => !schema.arguments.some(isChanged))
  const overload = name.slice(base.length + 1).replace(/_?out$/, '')
  const entry =
    entries.find(({ qualifiedName }) => qualifiedName === (overload === '' ? base : `${base}.${overload}`)) ??
    (entries.length === 1 ? entries[0] : undefined)
  if (entry === undefined || name === base) return null
  const { arguments: args, returns } = entry.schema
  const count = args.length
  return {
    entry,
    sources: args.map((_, index) => ({ kind: 'given', index })),
    outs: returns.map((_, i) => count + i),
    count: count + returns.length,
  }
}

/** The arguments of an operator from those of its variant with `out`; null where that has others. */
function match(given: readonly SchemaArgument[], wanted: readonly SchemaArgument[]): Source[] | null {
  const sources: Source[] = []
  let taken = 0
  for (const { name, type, defaultValue } of wanted) {
    const index = given.findIndex((arg) => arg.name === name)
    if (index >= 0) {
      if (plain(given[index]!.type) !== plain(type)) return null
      taken++
      sources.push({ kind: 'given', index })
    } else if (name === 'dtype' && type.startsWith('ScalarType')) sources.push({ kind: 'dtype' })
    else if (defaultValue !== undefined) sources.push({ kind: 'default' })
    else return null
  }
  return taken === given.length ? sources : null
}

function plain(type: string): string {
  return type
    .replace('Sym', '')
    .replace('Int', 'int')
    .replace(/\[\d+\]/, '[]')
}

function kernelOf({ entry, sources, outs, count }: Call): Kernel {
  const isOptional: boolean[] = []
  sources.forEach((source, i) => {
    if (source.kind === 'given') isOptional[source.index] = entry.schema.arguments[i]!.type.endsWith('?')
  })
  return {
    effects: (args, values) => ({
      // an argument that may be None is None, where it is a value of that kind
      reads: args.filter((arg, i) => i < count && !outs.includes(i) && !(isOptional[i] === true && values.isNone(arg))),
      writes: outs.flatMap((out) => (args[out] === undefined ? [] : [...values.items(args[out])])),
    }),
    emit(args, emitter) {
      if (args.length < count) throw damaged(`expected ${count} arguments, found ${args.length}`)
      const results = outs.map((out) => args[out]!)
      const view = viewOf(entry, args, results, emitter)
      if (view === null) return
      pushArguments(entry, sources, args, results[0]!, emitter)
      emitter.operator(view, lastGiven(sources) + 1)
      storeResults(entry, results, emitter)
    },
  }
}

/** Trailing defaults are filled in at the call. */
function lastGiven(sources: readonly Source[]): number {
  return sources.findLastIndex(({ kind }) => kind !== 'default')
}

function pushArguments(
  entry: OperatorEntry,
  sources: readonly Source[],
  args: readonly number[],
  result: number,
  emitter: MethodEmitter,
): void {
  const last = lastGiven(sources)
  sources.slice(0, last + 1).forEach((source, i) => {
    const { name, type, defaultValue } = entry.schema.arguments[i]!
    if (source.kind === 'default') emitter.constant(defaultValue!)
    else if (source.kind === 'dtype') emitter.constant(emitter.tensor(result).scalarType)
    else guarded(`argument '${name}'`, () => emitter.pushAs(args[source.index]!, type))
  })
}

function storeResults(entry: OperatorEntry, results: readonly number[], emitter: MethodEmitter): void {
  const first = emitter.value(results[0]!)
  if (first.kind === 'tensors') return emitter.storeList(first.items)
  if (entry.schema.returns.length !== results.length)
    throw damaged(`${entry.qualifiedName} has ${entry.schema.returns.length} results, the file gives ${results.length} tensors for them`)
  emitter.bound(results)
  for (const result of [...results].reverse()) emitter.store(result)
}

/** What serves an operator that writes to an argument, such as `aten::index_put_`; undefined for others. */
export function inPlaceKernel(name: string): Kernel | undefined {
  const entry = findOperator(name)
  const args = entry?.schema.arguments ?? []
  const written = args.flatMap((argument, i) => (isWritten(argument) && !argument.isOut ? [i] : []))
  if (entry === undefined || written.length === 0 || args.some(({ isOut }) => isOut)) return undefined
  const given = (values: readonly number[]): readonly number[] => values.slice(0, args.length)
  return {
    effects(values) {
      const self = values[written[0]!]
      const results = values.slice(args.length).filter((result) => result !== self)
      return {
        reads: given(values),
        writes: results,
        updates: written.flatMap((i) => (values[i] === undefined ? [] : [values[i]])),
        aliases: self === undefined ? [] : results.map((result) => [self, result] as const),
      }
    },
    emit(values, emitter) {
      if (values.length < args.length) throw damaged(`expected ${args.length} arguments, found ${values.length}`)
      given(values).forEach((value, i) => guarded(`argument '${args[i]!.name}'`, () => emitter.pushAs(value, args[i]!.type)))
      emitter.operator(entry.qualifiedName, args.length)
      const result = values[args.length]
      if (result === undefined || result === values[written[0]!]) emitter.builder.emit('DROP')
      else emitter.store(result)
    },
  }
}
