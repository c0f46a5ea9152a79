import { PtliteError } from '../../runtime/error.js'
import type { GraphNode } from './graph.js'
import type { ValueBudget } from '../containers/value-budget.js'
import type { DebugInfo } from '../../program/program.js'
import { JsonReader } from './json.js'
import type { CompiledProgram } from './program.js'

const WANTED: ReadonlySet<string> = new Set(['stack_trace'])

/** Python's stack traces of a program's nodes, which the file's text has. They are read when an error needs one. */
export class NodeTraces implements DebugInfo {
  constructor(
    private readonly program: CompiledProgram,
    /** The text again: it is not kept. */
    private readonly read: () => Buffer,
    private readonly budget: () => ValueBudget,
  ) {}

  stackTraceAt(functionName: string, pc: number): string | undefined {
    const { code, origins, nodes } = this.program
    if (functionName !== code.name) return undefined
    const node: GraphNode | undefined = nodes[origins[pc] ?? -1]
    if (node === undefined || node.metadata === null) return undefined
    try {
      const trace = new JsonReader(this.read(), this.budget()).fieldsAt(node.metadata, WANTED).get('stack_trace')
      return typeof trace === 'string' ? `${trace.slice(0, 10_000)}\n(${node.name})` : undefined
    } catch (error) {
      // the file was closed or changed: the error that is being explained is worth more than this one
      if (error instanceof PtliteError) return undefined
      throw error
    }
  }
}
