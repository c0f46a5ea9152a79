import { type Describe, printGraph } from './graph/print.js'
import type { Graph, Origin } from './graph/graph.js'
import type { PassOptions } from './passes/pass.js'
import { optimize } from './passes/pipeline.js'

/** The graph as it was recorded and after every pass that changed it, as text; `describe` gives stack traces. */
export function explainPasses(recorded: Graph, describe: Describe, options: PassOptions): string {
  const line = (origin: Origin): string | undefined => lastLine(describe(origin))
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

/** The source line in which a stack trace ends, without the pointer below it. */
function lastLine(trace: string | undefined): string | undefined {
  const lines = trace?.split('\n').filter((text) => /\S/.test(text) && !/^[\s~^]*(~|\^|<--- HERE)/.test(text.trim()))
  return lines?.at(-1)?.replace('<--- HERE', '').trim()
}
