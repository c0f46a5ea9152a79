import { readProgram, openProgram } from '../../formats/read.js'
import { writableFormats } from '../../formats/registry.js'
import { allSteps } from '../../formats/steps.js'
import { withExplicitCounts } from '../../formats/writing/explicit-counts.js'

/** The mobile modules that `ptlite convert` makes of a `.pt` file: `.ptl` and `.ff`. */
export function convert(pt: Uint8Array): { readonly ptl: Uint8Array; readonly ff: Uint8Array } {
  const hooks = {
    runSetState: () => {
      throw new Error('no program has __setstate__')
    },
  }
  const program = allSteps(readProgram(openProgram(pt), hooks, {}))
  try {
    const functions = [...withExplicitCounts(program).values()]
    const written = (extension: string): Uint8Array =>
      writableFormats()
        .find((format) => format.extension === extension)!
        .write({ ...program, functions }, new Map())
    return { ptl: written('.ptl'), ff: written('.ff') }
  } finally {
    program.close()
  }
}
