import { lastSourceLine } from '../program/graph-info.js'
import { type Describe, printGraph } from './graph/print.js'
import type { Graph, Origin } from './graph/graph.js'
import type { PassOptions } from './passes/pass.js'
import { optimize } from './passes/pipeline.js'

/** The graph as it was recorded and after every pass that changed it, as text; `describe` gives stack traces. */
export function explainPasses(recorded: Graph, describe: Describe, options: PassOptions): string {
  const line = (origin: Origin): string | undefined => lastSourceLine(describe(origin))
  const sections = [`# recorded: ${count(recorded)}\n${printGraph(recorded, line)}`]
  const optimized = optimize(
    recorded,
    (pass, graph, changed) => {
      sections.push(changed ? `# after ${pass.name}: ${count(graph)}\n${printGraph(graph, line)}` : `# ${pass.name}: nothing to do\n`)
    },
    options,
  )
  for (const c of optimized.constants) if (c.derived) c.tensor.release()
  return sections.join('\n')
}

function count({ nodes }: Graph): string {
  return `${nodes.length} operator${nodes.length === 1 ? '' : 's'}`
}
