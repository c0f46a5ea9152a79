import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileAhead } from '../../src/ahead.js'
import { cpu, loadModule } from '../../src/index.js'
import { bits, MODELS, subjectOf } from './support.js'

/** Compiles models to files of a folder, at the level that ATEN_CPU_CAPABILITY sets, runs them, and prints the bits of the results. */
const folder = process.argv[2]!
const results: Record<string, unknown> = {}
for (const name of MODELS) {
  const { path, inputs } = subjectOf(name)
  const bytes = compileAhead(path, () => [{ method: 'forward', args: inputs }])
  writeFileSync(join(folder, `${name.replace('/', '-')}.ptlc`), bytes)
  const module = await loadModule(bytes)
  results[name] = bits(module.forward(...inputs))
  module.dispose()
}
console.log(JSON.stringify({ level: cpu.currentLevel(), results }))
