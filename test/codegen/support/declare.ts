import type { Backend, Operator } from '../../../codegen/model/operator.js'
import { parseEntry } from '../../../codegen/model/parse-entry.js'
import { resolveOperators } from '../../../codegen/model/resolve.js'
import { type BuildOptions, everything, libraryNames } from '../../../codegen/options.js'
import { parseEntries } from '../../../codegen/yaml-file.js'

/** Operators of a YAML text, which errors call `ops.yaml`. */
export function declare(yaml: string): Operator[] {
  return resolveOperators(parseEntries(yaml, 'ops.yaml').map(parseEntry))
}

export function build(...backends: Backend[]): BuildOptions {
  return { backends: new Set<Backend>(['Composite', 'Builtin', ...backends]), selector: everything, names: libraryNames }
}

/** The text of one function of a generated file, from its `export` to the closing brace. */
export function functionText(file: string, name: string): string {
  const start = file.indexOf(`export function ${name}(`)
  return start < 0 ? '' : file.slice(start, file.indexOf('\n}\n', start) + 2)
}
