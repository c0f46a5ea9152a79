import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PtliteError } from '../../runtime/error.js'
import type { Trace } from '../../selective-build/trace/trace.js'
import * as full from '../index.js'
import type * as whole from '../selected.js'
import { readCompiled } from './compiled-file.js'
import { argumentsOf } from './example-inputs.js'
import { readInputs } from './inputs.js'
import { knownRuns } from './planned-runs.js'
import { tensorsOfShapes } from './shapes.js'

/** A call to make in both runtimes. */
export interface VerifiedRun {
  readonly model: string
  readonly method: string
  /** Arguments of the whole runtime. */
  readonly args: readonly whole.Input[]
  readonly eval?: true
}

export type Runtime = typeof whole

/**
 * Makes the calls in the whole runtime and in the one that stands in `folder`, and compares the results bit for bit; those of their plans
 * where `compiled`. Throws INTERNAL naming the first difference. Both use the same level of instructions, so ATEN_CPU_CAPABILITY must name
 * one that both hold.
 */
export async function verifyRuns(
  runtime: Runtime,
  folder: string,
  runs: readonly VerifiedRun[],
  compiled = false,
  library = join(folder, 'libptlite.so'),
): Promise<void> {
  const selected = (await import(pathToFileURL(resolve(folder, 'index.js')).href)) as Runtime
  // not the library that PTLITE_NATIVE_LIBRARY names
  selected.setNativeLibrary(library)
  for (const { model, method, args, ...mode } of runs) {
    const [expected, found] = await Promise.all([
      callIn(runtime, model, method, args, compiled, mode),
      callIn(
        selected,
        model,
        method,
        args.map((a) => carry(a, runtime, selected)),
        compiled,
        mode,
      ),
    ])
    const where = difference(expected, found, 'result', runtime, selected)
    if (where !== null) throw new PtliteError('INTERNAL', `${model}, ${method}: the selected build differs from the whole one: ${where}`)
  }
}

/** The result of a call; where it is `compiled`, with how it was compiled in front. */
async function callIn(
  runtime: Runtime,
  model: string,
  method: string,
  args: readonly whole.Input[],
  compiled: boolean,
  mode: Pick<VerifiedRun, 'eval'>,
): Promise<whole.Output> {
  const module = await runtime.loadModule(model, { onWarning: () => undefined, ...mode })
  if (!compiled) return module.call(method, args)
  await module.compile(method, args)
  return [module.plans().map(({ state }) => state), module.call(method, args)]
}

/** An argument made anew with the classes of the other runtime. */
export function carry(value: whole.Input, from: Runtime, to: Runtime): whole.Input {
  if (value instanceof from.Tensor) {
    const { dtype, quant } = value
    const shape = [...value.shape]
    return to.Tensor.fromStorage(value.data(), { dtype, shape, ...(quant === undefined || quant === null ? {} : { quant }) })
  }
  if (value instanceof from.Float) return to.float(value.value)
  if (value instanceof from.Complex) return to.complex(value.re, value.im)
  if (Array.isArray(value)) return value.map((item: whole.Input) => carry(item, from, to))
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, carry(item as whole.Input, from, to)]))
  return value
}

/** Where two results differ, or null. */
function difference(a: whole.Output, b: whole.Output, where: string, runtime: Runtime, selected: Runtime): string | null {
  if (a instanceof runtime.Tensor) {
    if (!(b instanceof selected.Tensor)) return `${where} is a tensor in one only`
    if (a.dtype !== b.dtype || a.shape.join() !== b.shape.join())
      return `${where}: ${a.dtype}[${a.shape.join()}] and ${b.dtype}[${b.shape.join()}]`
    const [x, y] = [bytesOf(a.data()), bytesOf(b.data())]
    const at = x.findIndex((byte, i) => byte !== y[i])
    return at < 0 ? null : `${where}: byte ${at} of the data`
  }
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return `${where}: another length`
    for (const [i, item] of a.entries()) {
      const found = difference(item, b[i]!, `${where}[${i}]`, runtime, selected)
      if (found !== null) return found
    }
    return null
  }
  if (a instanceof Map) {
    if (!(b instanceof Map) || a.size !== b.size) return `${where}: another size`
    const others = [...b.values()]
    return [...a.values()].reduce<string | null>(
      (found, item, i) => found ?? difference(item, others[i]!, `${where}{${i}}`, runtime, selected),
      null,
    )
  }
  // objects of classes have no form of their own to compare
  if (typeof a === 'object' && a !== null) return typeof b === 'object' ? null : where
  return Object.is(a, b) ? null : `${where}: ${String(a)} and ${String(b)}`
}

function bytesOf(data: ArrayBufferView): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}

/** Levels that this CPU has not are left out, as are traces that name no runs: both are said on stderr. */
export function verifyLevels(trace: Trace, levels: readonly string[], args: readonly string[]): void {
  if (trace.runs.length === 0) {
    console.error('not compared with the whole runtime: the traces name no runs that can be made again')
    return
  }
  for (const level of levels) {
    // the level is chosen once per process
    const env = { ...process.env, ATEN_CPU_CAPABILITY: level }
    const command = [...process.execArgv, process.argv[1]!, ...args, '--verify-only']
    const { status, stderr } = spawnSync(process.execPath, command, { env, stdio: ['ignore', 'inherit', 'pipe'], encoding: 'utf8' })
    if (status !== 0) throw new PtliteError('INTERNAL', `level ${level}: ${stderr.trim()}`)
  }
}

/** The calls that a trace notes. */
export async function runsOf(trace: Trace): Promise<VerifiedRun[]> {
  const runs: VerifiedRun[] = []
  for (const { model, method, files, shapes, ...mode } of trace.runs) {
    if (shapes !== undefined) {
      const module = await full.loadModule(model)
      runs.push({ model, method, args: tensorsOfShapes(module, method, shapes).args, ...mode })
      module.dispose()
    } else if (files !== null) runs.push({ model, method, args: readInputs(files), ...mode })
    else for (const args of await argumentLists(model, method)) runs.push({ model, method, args, ...mode })
  }
  return runs
}

/** Those of the forms that a .ptlc file was compiled for; the inputs that are bundled with other models. */
async function argumentLists(model: string, method: string): Promise<(readonly full.Input[])[]> {
  const compiled = readCompiled(model)
  if (compiled !== null) return compiled.plans.filter((plan) => plan.method === method).map(argumentsOf)
  return knownRuns(await full.loadModule(model))
}

/** Compares the runs of a trace at the level that the process has. */
export async function verifyTrace(trace: Trace, folder: string, compiled: boolean): Promise<void> {
  const level = process.env['ATEN_CPU_CAPABILITY']
  if (level !== undefined && full.cpu.currentLevel() !== level) {
    console.log(`level ${level}: not compared, this machine or the whole library has not got it`)
    return
  }
  if (trace.runs.length === 0) {
    console.log(`level ${full.cpu.currentLevel()}: not compared, no file was compiled for it`)
    return
  }
  const runs = await runsOf(trace)
  await verifyRuns(full, folder, runs, compiled)
  console.log(
    `level ${full.cpu.currentLevel()}: ${runs.length} runs give the same bits as the whole runtime${compiled ? ', as plans' : ''}`,
  )
}
