import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeArguments } from '../../support/node.js'
import { isEndless } from './endless.js'
import { callOf, operatorsLike } from './generate.js'
import type { CallSpec } from './spec.js'

export interface Finding {
  readonly seed: number
  /** An error's name, INTERNAL, `result`, `overwritten`, `hang`, `memory`, or how the process ended. */
  readonly kind: string
  readonly fault: string
  readonly call: CallSpec
}

export interface Report {
  readonly counts: Record<string, number>
  readonly findings: Finding[]
}

/** Processor time of one call, in seconds, from which on it hangs; a busy machine makes no difference. */
const HANGS_AFTER = 5
/** Where it uses no processor, it waits for what does not come. */
const WAITS_AFTER = 60
const MAX_RESIDENT = 3 * 2 ** 30
const TICKS_PER_SECOND = 100
const PAGE_BYTES = 4096

/** Processor time and resident bytes of a process; null where it has ended. */
function usageOf(pid: number): { seconds: number; bytes: number } | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return { seconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND, bytes: Number(fields[21]) * PAGE_BYTES }
  } catch {
    return null
  }
}

/** Makes the calls `from` up to `to` in child processes, of operators whose names match `only`: where one ends, the next goes on after the call that ended it. */
export async function fuzz(
  from: number,
  to: number,
  only?: string,
  onFinding: (finding: Finding) => void = () => undefined,
): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-fuzz-'))
  const report: Report = { counts: {}, findings: [] }
  const found = (finding: Finding): void => {
    report.findings.push(finding)
    onFinding(finding)
  }
  try {
    const numbers = only === undefined ? undefined : operatorsLike(only)
    for (let seed = from; seed < to;) {
      const ended = await runChild(join(folder, String(seed)), seed, to, only, report, found)
      if (ended === null) break
      const call = callOf(ended.seed, numbers)
      if (ended.kind === 'hang' && isEndless(call.args)) report.counts['long'] = (report.counts['long'] ?? 0) + 1
      else found({ ...ended, call })
      seed = ended.seed + 1
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  return report
}

/** Null where the child made all calls, else the call that ended it. */
function runChild(
  path: string,
  from: number,
  to: number,
  only: string | undefined,
  report: Report,
  found: (finding: Finding) => void,
): Promise<Omit<Finding, 'call'> | null> {
  const child = spawn(
    process.execPath,
    [
      '--max-old-space-size=1024',
      ...nodeArguments(fileURLToPath(new URL('child.ts', import.meta.url))),
      path,
      String(from),
      String(to),
      ...(only === undefined ? [] : [only]),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const current = (): number | null => {
    try {
      return readFileSync(path).readDoubleLE(0)
    } catch {
      return null
    }
  }
  let done = false
  let reason: string | undefined
  let errors = ''
  let text = ''
  child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-2000)))
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = (text + chunk.toString()).split('\n')
    text = lines.pop()!
    for (const line of lines) {
      const start = line.indexOf('\x1eptlite')
      if (start < 0) continue
      const message = JSON.parse(line.slice(start + '\x1eptlite'.length)) as Finding | { counts: Record<string, number>; done?: true }
      if ('counts' in message) {
        done = message.done === true
        for (const [kind, n] of Object.entries(message.counts)) report.counts[kind] = (report.counts[kind] ?? 0) + n
      } else found(message)
    }
  })
  let last = { seed: -1, seconds: 0, time: Date.now() }
  const timer = setInterval(() => {
    const usage = usageOf(child.pid!)
    if (usage === null) return
    const seed = current()
    // the program is still being compiled
    if (seed === null) return
    if (seed !== last.seed) last = { seed, seconds: usage.seconds, time: Date.now() }
    if (usage.seconds - last.seconds > HANGS_AFTER || Date.now() - last.time > 1000 * WAITS_AFTER) reason = 'hang'
    else if (usage.bytes > MAX_RESIDENT) reason = 'memory'
    if (reason !== undefined) child.kill('SIGKILL')
  }, 250)
  return new Promise((resolve) => {
    child.on('close', (status, signal) => {
      clearInterval(timer)
      if (done) resolve(null)
      else resolve({ seed: current() ?? from, kind: reason ?? signal ?? `status ${status}`, fault: errors })
    })
  })
}
