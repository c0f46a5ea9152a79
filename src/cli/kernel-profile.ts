import type { Profiler } from '../index.js'
import { formatBytes } from '../format-bytes.js'
import { formatMilliseconds, table } from './format.js'

type KernelEvent = Profiler['events'][number]

/** One kernel call of a replay. */
export interface KernelTime {
  /** Its number in the plan. */
  readonly frame: number
  readonly kernel: string
  /** The operator of the compiled graph that it belongs to; null in plans of a file. */
  readonly operator: string | null
  /** Median over the replays. */
  readonly ms: number
  /** Of the time of all of them. */
  readonly share: number
  /** Operations, 0 where they are not counted, and bytes of the memory that it reaches; and both per second, in 1e9. */
  readonly flops: number
  readonly bytes: number
  readonly gflops: number
  readonly gbytes: number
}

/** The kernel calls of replays of one plan, those that take longest first. */
export function kernelTimes(replays: readonly (readonly KernelEvent[])[]): KernelTime[] {
  const events = replays[0] ?? []
  const times = events.map((_, frame) => median(replays.map((replay) => replay[frame]!.duration)))
  const total = times.reduce((a, b) => a + b, 0)
  const rows = events.map(({ name, label, work = { flops: 0, bytes: 0 } }, frame): KernelTime => {
    const microseconds = times[frame]!
    const perSecond = (amount: number): number => (microseconds === 0 ? 0 : amount / microseconds / 1000)
    return {
      frame,
      kernel: name,
      operator: label ?? null,
      ms: microseconds / 1000,
      share: total === 0 ? 0 : microseconds / total,
      ...work,
      gflops: perSecond(work.flops),
      gbytes: perSecond(work.bytes),
    }
  })
  return rows.sort((a, b) => b.ms - a.ms || a.frame - b.frame)
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** One line for each kernel call, and their sum. */
export function kernelTable(rows: readonly KernelTime[]): string {
  const sumOf = (field: 'ms' | 'flops' | 'bytes'): number => rows.reduce((sum, row) => sum + row[field], 0)
  const rate = (amount: number, ms: number): string => (amount === 0 || ms === 0 ? '' : (amount / ms / 1e6).toPrecision(3))
  const cells = (ms: number, flops: number, bytes: number): string[] => [
    formatMilliseconds(ms),
    rate(flops, ms),
    rate(bytes, ms),
    formatBytes(bytes),
  ]
  return table(
    [
      ['frame', 'time', 'GFLOP/s', 'GB/s', 'bytes', 'share', 'kernel', 'operator'],
      ...rows.map((r) => [
        String(r.frame),
        ...cells(r.ms, r.flops, r.bytes),
        `${(100 * r.share).toFixed(1)} %`,
        r.kernel,
        r.operator ?? '',
      ]),
      ['all', ...cells(sumOf('ms'), sumOf('flops'), sumOf('bytes')), '', `${rows.length} kernel calls`, ''],
    ],
    [0, 1, 2, 3, 4, 5],
  )
}
