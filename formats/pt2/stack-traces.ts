import { PtliteError } from '../../runtime/error.js'
import { pace } from '../../runtime/pace.js'
import type { GraphNode } from './graph.js'
import type { ValueBudget } from '../containers/value-budget.js'
import type { DebugInfo } from '../../program/program.js'
import { JsonReader } from '../exported/json.js'
import type { CompiledProgram } from './program.js'

const WANTED: ReadonlySet<string> = new Set(['stack_trace'])

/** A program, and its text again, which is kept as long as there is memory to spare. */
export interface TracedProgram {
  readonly program: CompiledProgram
  readonly read: () => Uint8Array
}

/** Python's stack traces of the nodes of programs, by function, which the file's texts have. They are read when an error needs one. */
export class NodeTraces implements DebugInfo {
  private readonly texts = new WeakMap<TracedProgram, WeakRef<Uint8Array>>()

  constructor(
    private readonly programs: ReadonlyMap<string, TracedProgram>,
    private readonly budget: () => ValueBudget,
  ) {}

  stackTraceAt(functionName: string, pc: number): string | undefined {
    const traced = this.programs.get(functionName)
    if (traced === undefined) return undefined
    const { origins, nodes } = traced.program
    const node: GraphNode | undefined = nodes[origins[pc] ?? -1]
    if (node === undefined || node.metadata === null) return undefined
    pace(1024)
    try {
      const text = this.texts.get(traced)?.deref() ?? traced.read()
      this.texts.set(traced, new WeakRef(text))
      const trace = new JsonReader(text, this.budget()).fieldsAt(node.metadata, WANTED).get('stack_trace')
      return typeof trace === 'string' ? `${trace.slice(0, 10_000)}\n(${node.name})` : undefined
    } catch (error) {
      // the file was closed or changed: the error that is being explained is worth more than this one
      if (error instanceof PtliteError) return undefined
      throw error
    }
  }
}
