import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { KERNEL_EXTENTS } from '../../../runtime/native/generated/extents.js'
import { nodeArguments } from '../../support/node.js'
import { roundOf } from './rounds.js'
import type { Report, Task } from './task.js'

/** Frames of kernels, random ones that pass the check of frames from files, launched in child processes. */
export interface Options {
  readonly seed: number
  readonly rounds: number
  readonly milliseconds: number
  readonly kernels?: readonly string[]
  /** Hears of findings as they come. */
  readonly found?: (finding: Finding) => void
}

export interface Finding {
  readonly kernel: string
  readonly seed: number
  readonly round: number
  readonly guard: string
  readonly level: string
  /** A signal, 'hang', or what an exception said. */
  readonly what: string
}

export interface Summary {
  readonly findings: readonly Finding[]
  readonly launched: Readonly<Record<string, number>>
  readonly statuses: Readonly<Record<string, number>>
}

/** Kernels that cannot be launched so, with the reason. */
export const EXEMPT: Readonly<Record<string, string>> = {
  sparse_gemm: 'its handle is an address of generated code; files have none',
}

/** Processor time in seconds after which a frame hangs. */
const HANG = 5
/** Of one child. */
const MAX_MILLISECONDS = 10_000
/** Findings of a kernel after which it is left out. */
const ENOUGH = 1
const CHILD = fileURLToPath(new URL('child.ts', import.meta.url))
const GUARDS = ['end', 'start', 'end:16'] as const
const LEVELS = ['', 'default', 'avx2'] as const

/** All kernels whose frames a file may hold. */
export function fuzzedKernels(): string[] {
  return Object.keys(KERNEL_EXTENTS).filter((name) => !Object.hasOwn(EXEMPT, name))
}

export async function fuzzFrames(options: Options): Promise<Summary> {
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-frames-'))
  try {
    return await run(options, join(folder, 'round'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function run(
  { seed, rounds, milliseconds, kernels = fuzzedKernels(), found = () => undefined }: Options,
  progress: string,
): Promise<Summary> {
  const summary: { findings: Finding[]; launched: Record<string, number>; statuses: Record<string, number> } = {
    findings: [],
    launched: {},
    statuses: {},
  }
  const end = Date.now() + milliseconds
  const skip: string[] = []
  const share = Math.ceil(rounds / 9)
  for (let turn = 0, from = 0; from < rounds && Date.now() < end; turn++) {
    const guard = GUARDS[turn % 3]!
    const level = LEVELS[Math.floor(turn / 3) % 3]!
    const left = Math.max(500, Math.min(end - Date.now(), milliseconds / 9, MAX_MILLISECONDS))
    writeFileSync(progress, new Uint8Array(8))
    const task: Task = { seed, from, to: Math.min(rounds, from + share), milliseconds: left, kernels, skip, progress }
    const { report, what } = await runChild(task, guard, level)
    if (report !== null) {
      add(summary.launched, report.launched)
      add(summary.statuses, report.statuses)
      from = report.next
      continue
    }
    const round = roundUnderWay(progress)
    const { kernel } = roundOf({ seed, kernels }, round)
    const finding = { kernel, seed, round, guard, level, what }
    summary.findings.push(finding)
    found(finding)
    if (summary.findings.filter((f) => f.kernel === kernel).length >= ENOUGH) skip.push(kernel)
    from = round + 1
  }
  return summary
}

function add(to: Record<string, number>, from: Readonly<Record<string, number>>): void {
  for (const [key, count] of Object.entries(from)) to[key] = (to[key] ?? 0) + count
}

function roundUnderWay(progress: string): number {
  return new DataView(Uint8Array.from(readFileSync(progress)).buffer).getFloat64(0, true)
}

/** What the child reports, or how it ended. */
function runChild(task: Task, guard: string, level: string): Promise<{ report: Report | null; what: string }> {
  const env: NodeJS.ProcessEnv = { ...process.env, PTLITE_GUARD: guard }
  if (level !== '') env['ATEN_CPU_CAPABILITY'] = level
  const child = spawn(process.execPath, [...nodeArguments(CHILD), JSON.stringify(task)], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  child.stdout.on('data', (text: Buffer) => (out += text.toString()))
  child.stderr.on('data', (text: Buffer) => (err += text.toString()))
  let isHanging = false
  const watch = watchRounds(child, task.progress, () => {
    isHanging = true
    child.kill('SIGKILL')
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearInterval(watch)
      const what = isHanging ? 'hang' : (signal ?? /\w*Error: .*/.exec(err)?.[0] ?? `status ${code}`)
      resolve({ report: code === 0 ? (JSON.parse(out) as Report) : null, what })
    })
  })
}

/** Calls `hangs` where a round takes more than HANG seconds of processor time. */
function watchRounds(child: ChildProcess, progress: string, hangs: () => void): NodeJS.Timeout {
  let round = -1
  let since = 0
  return setInterval(() => {
    const now = roundUnderWay(progress)
    const time = secondsOf(child.pid!)
    if (now !== round) [round, since] = [now, time]
    else if (time - since > HANG) hangs()
  }, 500)
}

/** Processor time of a process. */
function secondsOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return 0
  }
}
