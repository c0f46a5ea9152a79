import { openSync, writeSync } from 'node:fs'
import { HOST_OFFSET } from '../../../compiler/capture/frame-layout.js'
import { PtliteError } from '../../../runtime/error.js'
import * as kernels from '../../../runtime/native/generated/kernels.js'
import { withLevels } from '../../../runtime/native/level-limit.js'
import { allocate, type Block, release } from '../../../runtime/native/memory.js'
import { setNumThreads } from '../../../runtime/native/threads.js'
import { type Candidate, candidate } from './generate.js'
import { fill } from './contents.js'
import type { Random } from './random.js'
import { roundOf } from './rounds.js'
import type { Report, Task } from './task.js'

/** Launches random frames in blocks between guard pages. Writes each round's number to a file first, so that it is known which one ended the process. */

/** Of a frame, in nanoseconds: what takes longer must see that it is over. */
const DEADLINE = 2e9

const task = JSON.parse(process.argv[2]!) as Task
const file = openSync(task.progress, 'r+')
const mark = new Float64Array(1)

const report: Report = { launched: {}, statuses: {}, next: task.from }
const end = Date.now() + task.milliseconds
for (let round = task.from; round < task.to && Date.now() < end; round++) {
  report.next = round + 1
  const { kernel, random, levels, threads } = roundOf(task, round)
  if (task.skip.includes(kernel)) continue
  mark[0] = round
  writeSync(file, mark, 0, 8, 0)
  // packed operands are of the level that a file was compiled for
  const found = withLevels(levels, () => candidate(kernel, random))
  if (found === null) continue
  setNumThreads(threads)
  const status = launch(found, random, levels)
  report.launched[kernel] = (report.launched[kernel] ?? 0) + 1
  report.statuses[status] = (report.statuses[status] ?? 0) + 1
}
console.log(JSON.stringify(report))

/** Runs a frame as a plan would; 'ok', or the code of the error. */
function launch({ bytes, reach }: Candidate, random: Random, levels: number): string {
  const blocks: Block[] = []
  const memory = (size: number): number => {
    const block = allocate(size)
    blocks.push(block)
    return block.address
  }
  const frame = bytes.slice()
  const view = new DataView(frame.buffer)
  const isShared = random.chance(0.1)
  let shared = 0
  const most = Math.max(0, ...reach.map((r) => r.bytes))
  for (const { at, bytes: size, below } of reach) {
    if (at !== HOST_OFFSET && view.getBigInt64(at, true) === 0n) continue
    let address: number
    // two addresses of one block
    if (isShared && shared !== 0 && below === 0 && random.chance(0.5)) address = shared
    else {
      address = memory(isShared && shared === 0 && below === 0 ? most : size)
      fill(address, isShared && shared === 0 && below === 0 ? most : size, random)
      if (isShared && shared === 0 && below === 0) shared = address
    }
    view.setBigInt64(at, BigInt(address + below), true)
  }
  const frames = memory(frame.length)
  kernels.mem_write({ address: frames, bytes: frame.length }, frame)
  const offsets = memory(4)
  kernels.mem_fill({ address: offsets, bytes: 4, value: 0 })
  try {
    kernels.plan_run({
      count: 1,
      patch_count: 0,
      cancel: 0,
      levels,
      frames,
      offsets,
      patches: 0,
      times: 0,
      nanoseconds: DEADLINE,
      slots: [],
    })
    return 'ok'
  } catch (error) {
    if (error instanceof PtliteError && error.code !== 'INTERNAL') return error.code
    throw error
  } finally {
    for (const block of blocks) release(block)
  }
}
