import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeArguments } from '../../support/node.js'
import { BROKEN, type Current, CURRENT, CURRENT_BYTES, type Fault, FAULTS, type Job, STATISTICS, type Statistics } from './job.js'
import { ALL } from './mutant.js'

export interface FuzzOptions {
  readonly target: string
  readonly seed: number
  /** Mutants, all jobs together. */
  readonly count?: number
  readonly milliseconds?: number
  readonly jobs?: number
  readonly guided?: boolean
  /** Where findings are written to, with the files; nowhere without. */
  readonly findings?: string
  readonly onProgress?: (report: FuzzReport) => void
}

export interface FuzzReport {
  readonly mutants: number
  readonly outcomes: ReadonlyMap<string, number>
  /** One of each signature, with how often it came. */
  readonly findings: ReadonlyMap<string, { readonly fault: Fault; readonly seed: number; readonly mask: number; times: number }>
  readonly blocks: number
  readonly kept: number
  readonly slowest: readonly [milliseconds: number, seed: number, index: number]
}

/** Processor time of one mutant, after which it hangs. */
const MAX_SECONDS = 5
/** And time on the clock, where it waits. */
const MAX_WAIT = 60
/** Resident memory of a child. */
const MAX_RESIDENT = 1.5 * 2 ** 30
/** Blocks are filled then (docs/reliability.md), so those that a file asks for and does not use are resident, too. */
const IS_FILLED = process.env['PTLITE_GUARD'] !== undefined
/** Mutants that one process runs. */
const PER_CHILD = 20_000
const POLL = 50
/** Ticks of a second in /proc. */
const TICKS = 100
const PAGE = 4096
/** Findings of processes that ended, which may all be of one kind. */
const MAX_UNTOLD = 100

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url))

/** How a child ended. */
interface Ending {
  readonly kind: 'done' | 'crash' | 'hang' | 'memory'
  readonly text: string
  readonly current: Current | null
  readonly statistics: Statistics
  readonly faults: readonly Fault[]
}

/** Runs a child to its end, or to that of one of its mutants. */
async function runChild(job: Job): Promise<Ending> {
  const { folder } = job
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const args = ['--max-old-space-size=1024', '--stack-size=984', ...nodeArguments(CHILD), JSON.stringify(job)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, PTLITE_CODE_CACHE: '0' } })
  let stderr = ''
  child.stderr.on('data', (text: Buffer) => (stderr = (stderr + text.toString()).slice(-4000)))
  const ended = new Promise<string>((resolve) =>
    child.once('close', (code, signal) => resolve(code === 0 ? '' : `${signal ?? `status ${code}`}`)),
  )
  const killed = await watch(child, ended, folder)
  const how = await ended
  const read = (name: string): string => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '')
  if (how === `status ${BROKEN}`) throw new Error(stderr)
  const current = read(CURRENT).trim()
  const statistics = read(STATISTICS)
  return {
    kind: killed ?? (how === '' ? 'done' : 'crash'),
    text: `${how}\n${stderr}`,
    current: current === '' ? null : (JSON.parse(current) as Current),
    statistics: statistics === '' ? { done: 0, outcomes: {}, blocks: 0, kept: 0, slowest: [0, 0] } : (JSON.parse(statistics) as Statistics),
    faults: read(FAULTS)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Fault),
  }
}

/** Ends a child that takes too long with a mutant, or too much memory. */
async function watch(child: ChildProcess, ended: Promise<string>, folder: string): Promise<'hang' | 'memory' | null> {
  let isRunning = true
  void ended.then(() => (isRunning = false))
  let at = ''
  let since = { used: 0, time: Date.now() }
  while (isRunning) {
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, POLL))])
    const usage = usageOf(child.pid!)
    if (usage === null) continue
    const now = readCurrent(folder)
    if (now !== at) [at, since] = [now, { used: usage.seconds, time: Date.now() }]
    const isOver = usage.resident > MAX_RESIDENT
    // before the first mutant the library loads
    const isLate = at !== '' && (usage.seconds - since.used > MAX_SECONDS || Date.now() - since.time > 1000 * MAX_WAIT)
    if (!isOver && !isLate) continue
    child.kill('SIGKILL')
    return isOver ? 'memory' : 'hang'
  }
  return null
}

function readCurrent(folder: string): string {
  try {
    return readFileSync(join(folder, CURRENT), 'utf8')
  } catch {
    return ''
  }
}

function usageOf(pid: number): { seconds: number; resident: number } | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    const resident = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE
    return { seconds: (Number(fields[11]) + Number(fields[12])) / TICKS, resident }
  } catch {
    return null
  }
}

class Run {
  private readonly outcomes = new Map<string, number>()
  private readonly findings = new Map<string, { fault: Fault; seed: number; mask: number; times: number }>()
  private mutants = 0
  private blocks = 0
  private kept = 0
  private slowest: readonly [number, number, number] = [0, 0, 0]
  private next = 0
  private readonly end: number

  constructor(
    private readonly options: FuzzOptions,
    private readonly folder: string,
  ) {
    this.end = Date.now() + (options.milliseconds ?? Infinity)
  }

  get report(): FuzzReport {
    const { mutants, outcomes, findings, blocks, kept, slowest } = this
    return { mutants, outcomes, findings, blocks, kept, slowest }
  }

  /** Takes stretches of mutants until there are none left. */
  async work(number: number): Promise<void> {
    const { count = Infinity, guided = false, target, seed } = this.options
    while (this.next < count && Date.now() < this.end) {
      const first = this.next
      const to = Math.min(first + this.stretch(count), count)
      this.next = to
      for (let from = first; from < to && Date.now() < this.end;) {
        const folder = join(this.folder, `job-${number}`)
        const ending = await runChild({
          target,
          seed,
          from,
          to,
          until: Number.isFinite(this.end) ? this.end : null,
          guided,
          mask: ALL,
          folder,
        })
        from = await this.settle(ending, folder, from, to)
        this.options.onProgress?.(this.report)
      }
    }
  }

  private stretch(count: number): number {
    return Math.min(PER_CHILD, Math.max(Math.ceil(count / (this.options.jobs ?? 1)), 1))
  }

  /** Counts what a child did. Returns where to go on. */
  private async settle(ending: Ending, folder: string, from: number, to: number): Promise<number> {
    const { kind, current, statistics, faults, text } = ending
    for (const [outcome, times] of Object.entries(statistics.outcomes))
      this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + times)
    this.blocks = Math.max(this.blocks, statistics.blocks)
    this.kept = Math.max(this.kept, statistics.kept)
    if (statistics.slowest[0] > this.slowest[0]) this.slowest = [statistics.slowest[0], this.options.seed, statistics.slowest[1]]
    for (const fault of faults) await this.note(fault, join(folder, `fault-${fault.index}.bin`))
    if (kind === 'done') {
      this.mutants += statistics.done
      return to
    }
    if (current === null) throw new Error(`a child did not start: ${text}`)
    this.mutants += current.index + 1 - from
    this.outcomes.set(kind.toUpperCase(), (this.outcomes.get(kind.toUpperCase()) ?? 0) + 1)
    if (kind === 'memory' && IS_FILLED) return current.index + 1
    // nothing tells one from another
    const signature = `${kind} ${this.findings.size < MAX_UNTOLD ? current.index : ''} ${text.split('\n', 1)[0]!}`
    await this.note({ ...current, kind, signature, text }, join(folder, CURRENT_BYTES))
    return current.index + 1
  }

  private async note(fault: Fault, path: string): Promise<void> {
    const known = this.findings.get(fault.signature)
    if (known !== undefined) {
      known.times++
      return
    }
    const { findings, guided = false, seed } = this.options
    const kept = join(this.folder, 'finding.bin')
    copyFileSync(path, kept)
    const found = { fault, seed, mask: ALL, times: 1 }
    this.findings.set(fault.signature, found)
    if (!guided) found.mask = await this.fewest(fault, kept)
    if (findings === undefined) return
    mkdirSync(findings, { recursive: true })
    const name = join(findings, `${fault.kind}-${seed}-${fault.index}`)
    copyFileSync(kept, `${name}.bin`)
    writeFileSync(`${name}.json`, JSON.stringify({ ...fault, seed, mask: found.mask }, null, 2))
  }

  /** The changes without which the fault does not come. Puts the smaller mutant in the place of the file. */
  private async fewest(fault: Fault, kept: string): Promise<number> {
    const { target, seed } = this.options
    const folder = join(this.folder, `less-${fault.index}`)
    let mask = (1 << fault.steps) - 1
    for (let step = 0; step < fault.steps; step++) {
      const less = mask & ~(1 << step)
      const ending = await runChild({
        target,
        seed,
        from: fault.index,
        to: fault.index + 1,
        until: null,
        guided: false,
        mask: less,
        folder,
      })
      const isSame = ending.kind === fault.kind || ending.faults.some(({ signature }) => signature === fault.signature)
      if (!isSame) continue
      mask = less
      copyFileSync(join(folder, CURRENT_BYTES), kept)
    }
    rmSync(folder, { recursive: true, force: true })
    return mask
  }
}

/** Runs mutants in processes of their own and reports their outcomes. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'ptlite-fuzz-'))
  try {
    const jobs = options.jobs ?? availableParallelism()
    const run = new Run({ ...options, jobs }, folder)
    await Promise.all(Array.from({ length: jobs }, (_, number) => run.work(number)))
    return run.report
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
