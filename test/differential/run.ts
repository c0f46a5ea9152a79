import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeArguments } from '../support/node.js'
import type { ChildJob, ChildResult, Position } from './child.js'
import { generate } from './generator.js'
import { Prober } from './prober.js'
import { report } from './report.js'
import { shrink } from './shrink.js'

export interface ProgramsOptions {
  readonly families: readonly string[]
  readonly seed: number
  /** Programs of each family. */
  readonly count: number
  readonly milliseconds: number
  /** A part of the names of modes; all of them where it is null. */
  readonly modes: string | null
  readonly shrinks: boolean
  /** A file that gets a line a minute, which says how far it is; null for none. */
  readonly log: string | null
}

/** A program takes less, and so does making it smaller. */
const MAX_SILENCE = 300_000
const LOG_EVERY = 60_000
const [MIN_SHRINK, MAX_SHRINK] = [20_000, 300_000]

/** Programs leave much behind at once: with more space there is less to move. */
const YOUNG = '--max-semi-space-size=64'
const CHILD = fileURLToPath(new URL('child.ts', import.meta.url))

/** Runs programs in processes of their own, one after the other; a program that ends its process is a fault. */
export async function runPrograms(options: ProgramsOptions, print = (text: string): void => console.log(text)): Promise<ChildResult> {
  const { families, seed, count } = options
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-programs-'))
  const position = join(folder, 'position')
  const end = Date.now() + options.milliseconds
  const total: ChildResult = { programs: 0, calls: 0, errors: 0, refused: 0, faults: 0, isDone: false }
  let at = seed
  let skip = 0
  try {
    while (at < seed + count && Date.now() < end) {
      const left = Math.min(seed + count - at, 2 ** 31)
      const job: ChildJob = {
        families,
        seed: at,
        count: left,
        end: Math.min(end, 2 ** 52),
        modes: options.modes,
        shrinks: options.shrinks,
        position,
        skip,
      }
      const before = { ...total }
      const log = (now: Position): void => {
        if (options.log !== null)
          appendFileSync(options.log, `${JSON.stringify({ ...now, result: sum(before, now.result), at: new Date() })}\n`)
      }
      const how = await runChild(job, print, log)
      const text = readFileSync(position, 'utf8')
      if (text === '') throw new Error(`no program was run: ${how}`)
      const now = JSON.parse(text) as Position
      log(now)
      Object.assign(total, sum(total, now.result))
      if (how === '') {
        if (now.result.isDone) break
        ;[at, skip] = [now.seed, 0]
        continue
      }
      // a program that waited in vain has been told of
      if (!how.startsWith('status 3')) {
        total.faults++
        print(await crash(now, how, options.shrinks, end))
      }
      ;[at, skip] = [now.seed, families.indexOf(now.family) + 1]
      if (skip === families.length) [at, skip] = [at + 1, 0]
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  total.isDone = true
  return total
}

function sum(a: ChildResult, b: ChildResult): ChildResult {
  const both = { ...b }
  for (const key of ['programs', 'calls', 'errors', 'refused', 'faults'] as const) both[key] += a[key]
  return both
}

/** Tells of a program that ended its process. */
async function crash({ family, seed, mode }: Position, how: string, shrinks: boolean, end: number): Promise<string> {
  const program = generate(family, seed)
  const fault = { mode, call: 0, text: `the process ended, ${how}` }
  if (!shrinks) return report(program, fault).split('\n').slice(0, 2).join('\n')
  const prober = new Prober(mode)
  const smaller = await shrink(program, (candidate) => prober.ends(candidate), Math.min(MAX_SHRINK, Math.max(MIN_SHRINK, end - Date.now())))
  prober.dispose()
  return report(smaller, fault)
}

async function runChild(job: ChildJob, print: (text: string) => void, log: (now: Position) => void): Promise<string> {
  writeFileSync(job.position, '')
  const child = spawn(process.execPath, ['--enable-source-maps', YOUNG, ...nodeArguments(CHILD), JSON.stringify(job)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stdout.on('data', (text: Buffer) => print(text.toString().trimEnd()))
  child.stderr.on('data', (text: Buffer) => (stderr = (stderr + text.toString()).slice(-4000)))
  let [at, since] = ['', Date.now()]
  let logged = Date.now()
  let isLate = false
  const watch = setInterval(() => {
    const now = readFileSync(job.position, 'utf8')
    if (now !== at) [at, since] = [now, Date.now()]
    else if (Date.now() - since > MAX_SILENCE) isLate = child.kill('SIGKILL')
    if (now !== '' && Date.now() - logged > LOG_EVERY) {
      logged = Date.now()
      log(JSON.parse(now) as Position)
    }
  }, 1000)
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  clearInterval(watch)
  if (code === 0) return ''
  return isLate ? 'it does not end' : `${signal ?? `status ${code}`}\n${stderr}`
}
