import type { FunctionCode } from '../../program/code.js'
import { PtliteError } from '../../runtime/error.js'
import type { Value } from '../../runtime/tensor/value.js'
import { damaged, unexpected, integerOf, textOf, tupleOf } from '../../program/file-error.js'
import type { DebugInfo } from '../../program/program.js'
import { LISTS_ONLY } from '../containers/pickle/lists.js'
import { type SourceRange, sourceRangesOf } from './source-range.js'
import { unpickle } from '../containers/pickle/unpickler.js'
import { ValueBudget } from '../containers/value-budget.js'

/** The debug records of an archive. */
export interface DebugRecords {
  /** callstack_debug_map.pkl */
  readonly callStacks: Uint8Array
  /** The .debug_pkl records below code/. */
  readonly ranges: readonly Uint8Array[]
  /** Of the file, for what its values may take. */
  readonly bytes: number
}

/** One call that was inlined: where the call stands, and into which function it goes. */
interface InlinedCall {
  readonly rangeTag: number
  readonly functionName: string
}

/** Where one instruction comes from. */
interface Origin {
  readonly rangeTag: number
  /** The calls that it is inlined by, as the file nests them: many origins may have one stack. */
  readonly stack: Value
}

interface LoadedRecords {
  readonly origins: ReadonlyMap<number, Origin>
  readonly ranges: ReadonlyMap<number, SourceRange>
}

const MAX_INLINED = 1000
/** Calls that a stack trace shows, and characters of source that are looked through for them. */
const MAX_CALLS = 100
const MAX_CHARACTERS = 1 << 23

/** Handles per function of a `mobile_debug_handles.pkl`: (version, (name, (('function_debug_handles', (list,)),)), ...) */
export function debugHandlesOf(bytes: Uint8Array, budget?: ValueBudget): Map<string, Int32Array> {
  const [, ...functions] = tupleOf(unpickle(bytes, LISTS_ONLY, budget))
  return new Map(
    functions.map((item) => {
      const [name, parts] = tupleOf(item, 2)
      const [pair] = tupleOf(parts, 1)
      const [handles] = tupleOf(tupleOf(pair, 2)[1], 1)
      if (!Array.isArray(handles)) throw unexpected('a list of debug handles', handles)
      // functions may have one list
      budget?.spend(handles.length)
      return [textOf(name), Int32Array.from(handles, (handle) => integerOf(handle))]
    }),
  )
}

/** Debug information of a .ptl file. Nothing is parsed before the first question. */
export class PickledDebugInfo implements DebugInfo {
  private readonly functions: ReadonlyMap<string, FunctionCode>
  private loaded: LoadedRecords | undefined

  constructor(
    functions: readonly FunctionCode[],
    private readonly records: () => DebugRecords,
  ) {
    this.functions = new Map(functions.map((fn) => [fn.name, fn]))
  }

  stackTraceAt(functionName: string, pc: number, most = MAX_CALLS): string | undefined {
    const fn = this.functions.get(functionName)
    const handle = fn?.debugHandles?.[pc]
    if (fn === undefined || handle === undefined) return undefined
    try {
      return this.describe(fn.method, handle, most)
    } catch (error) {
      // the records are damaged or the file was closed: the error that is being explained is worth more than this one
      if (error instanceof PtliteError) return undefined
      throw error
    }
  }

  private describe(method: string, handle: number, most: number): string | undefined {
    const { origins, ranges } = (this.loaded ??= this.load())
    const origin = origins.get(handle)
    if (origin === undefined) return undefined
    const calls = callsOf(origin.stack)
    const places = [...calls.map((call) => call.rangeTag), origin.rangeTag]
    const names = [method, ...calls.map((call) => call.functionName)]
    const lines: string[] = []
    let characters = 0
    // from the innermost on
    for (let i = places.length - 1; i >= Math.max(places.length - most, 0) && characters < MAX_CHARACTERS; i--) {
      const range = ranges.get(places[i]!)
      if (range === undefined) continue
      lines.unshift(...range.describe(names[i]!))
      characters += range.length
    }
    return lines.length > 0 ? lines.join('\n') : undefined
  }

  private load(): LoadedRecords {
    const { callStacks, ranges, bytes } = this.records()
    const budget = new ValueBudget(bytes)
    return { origins: originsOf(callStacks, budget), ranges: sourceRangesOf(ranges, budget) }
  }
}

/** (handle, source range tag, node name, inlined call stack) each */
function originsOf(bytes: Uint8Array, budget: ValueBudget): Map<number, Origin> {
  const origins = new Map<number, Origin>()
  for (const item of tupleOf(unpickle(bytes, LISTS_ONLY, budget))) {
    const [handle, rangeTag, , stack = null] = tupleOf(item, 4)
    origins.set(integerOf(handle), { rangeTag: integerOf(rangeTag), stack })
  }
  return origins
}

/** ((class name, instance name), source range tag, callee or None, function name), nested; outermost first. */
function callsOf(stack: Value | undefined): InlinedCall[] {
  const calls: InlinedCall[] = []
  for (let next = stack; next !== null && next !== undefined;) {
    const [, rangeTag, callee, functionName] = tupleOf(next, 4)
    if (calls.length === MAX_INLINED) throw damaged('endless call stack')
    calls.push({ rangeTag: integerOf(rangeTag), functionName: textOf(functionName) })
    next = callee
  }
  return calls
}
