import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ScriptModule } from '../../interpreter/script-module.js'
import type { Exercise } from '../../selective-build/build/observed.js'
import type { Trace } from '../../selective-build/trace/trace.js'
import * as full from '../index.js'
import { carry, type Runtime, runsOf, type VerifiedRun } from './verify.js'

/** Makes the runs of a trace; or why they cannot be made: each of its models must be there as it was. */
export function exerciseOf(trace: Trace): Exercise | string {
  const files = [...new Set(trace.runs.map((run) => run.model))]
  if (files.length === 0) return 'the traces name no runs that can be made again'
  const lost = [...files, ...trace.runs.flatMap((run) => run.files ?? [])].find((file) => !existsSync(file))
  if (lost !== undefined) return `${lost} is not there`
  const hashes = new Set(files.map((file) => createHash('sha256').update(readFileSync(file)).digest('hex')))
  const other = trace.models.find((model) => model.sha256 === null || !hashes.has(model.sha256))
  if (other !== undefined) return `the traces name no run of ${other.file} as it was`
  return (...how) => exercise(trace, ...how)
}

/** Loads every model from its path and from memory, and makes its runs on all. */
const exercise = async (trace: Trace, ...[folder, observer, library, { formsOf }]: Parameters<Exercise>): Promise<void> => {
  const runtime = (await import(pathToFileURL(join(folder, 'index.js')).href)) as Runtime
  runtime.setNativeLibrary(library)
  const runs = await runsOf(trace)
  const models = new Map<string, full.Module[]>()
  for (const run of runs) {
    if (models.has(keyOf(run))) continue
    const loaded: full.Module[] = []
    const mode = run.eval === true ? { eval: true } : {}
    for (const form of formsOf(run.model)) loaded.push(await runtime.loadModule(form, { onWarning: () => undefined, ...mode }))
    // apps take a module out of training mode in either way
    if (run.eval === true) for (const module of loaded) module.eval()
    models.set(keyOf(run), loaded)
  }
  for (const module of [...models.values()].flat()) readCode(module, observer.seen.opcodes)
  await observer.loaded()
  for (const { method, args, ...run } of runs) {
    for (const module of models.get(keyOf(run))!) {
      module.call(
        method,
        args.map((arg) => carry(arg, full, runtime)),
      )
    }
  }
  for (const module of [...models.values()].flat()) {
    // what apps may ask of any module
    module.parameters()
    module.dispose()
  }
  observer.called()
}

/** Runs with the same one are made on the same module. */
function keyOf({ model, eval: isOut }: Pick<VerifiedRun, 'model' | 'eval'>): string {
  return JSON.stringify([model, isOut])
}

/** Notes the instructions of a model, and reads of its file what errors in its code do when they are made. */
function readCode(module: object, opcodes: Set<number>): void {
  const { script } = (module as { readonly engine: { readonly script?: ScriptModule } }).engine
  for (const { source } of script?.functions ?? []) {
    source.code.forEach((word, at) => {
      if (at % 3 !== 0) return
      opcodes.add(word)
      script!.file.debug?.stackTraceAt(source.name, at / 3)
    })
  }
}
