import { checkFrame, isCheckable, workOf } from '../../../compiler/frames/check-frame.js'
import type { CapturedFrame, Pointer } from '../../../compiler/capture/captured.js'
import { layoutOf } from '../../../compiler/capture/frame-layout.js'
import { frameBytes, getI64, observeLaunches } from '../../../runtime/native/frame.js'
import { PtliteError } from '../../../runtime/error.js'
import { EXPECTED_LONG } from './endless.js'
import { type Storage } from '../../../runtime/tensor/storage.js'
import { observeStorages } from '../../../runtime/tensor/observe.js'

/** A kernel was about to leave the memory that it was given. */
export class ReachError extends Error {
  override readonly name = 'ReachError'
}

/** Launches of one call; some operators make as many as a number says. */
export const MAX_LAUNCHES = 2_000

/** Not run, since it would take long. */
export class LongLaunch extends PtliteError {
  constructor(kernel: string) {
    super('ABORTED', `kernel ${kernel} would take long`)
  }
}

/** Kernels of the allocator, of files and of code: their addresses are none of tensors. */
const OTHER_KERNELS = /^(mem_(?!copy|read|write)|file_|map_|jit_|owner_|pool_|thread|cpu_|code_)/

/**
 * Calls `run` with every launch looked at first: each address of its frame must lie in a storage whose address was asked for, and what the kernel is declared
 * to reach from there inside of it. Throws ReachError in place of the launch.
 */
export function withCheckedLaunches<T>(run: () => T): T {
  const storages = new Set<Storage>()
  const known = (storage: Storage): void => void storages.add(storage)
  const before = observeStorages({ used: known, allocated: known, freed: (storage) => void storages.delete(storage), moved: known })
  let count = 0
  const launches = observeLaunches((id, name, host, own) => {
    if (++count > MAX_LAUNCHES) throw new LongLaunch(name)
    if (own && isCheckable(name) && !OTHER_KERNELS.test(name)) checkLaunch(id, host, [...storages])
  })
  try {
    return run()
  } finally {
    observeLaunches(launches)
    observeStorages(before)
  }
}

function checkLaunch(id: number, host: ArrayBufferView | null, storages: readonly Storage[]): void {
  const layout = layoutOf(id)
  const pointers: Pointer[] = []
  for (const at of layout.pointers) {
    const address = getI64(at / 4)
    const index = placeOf(address, storages)
    if (index >= 0) pointers.push({ at, target: { kind: 'buffer', index }, offset: address - storages[index]!.startAddress })
  }
  const bytes = frameBytes.slice(0, layout.size)
  const hostBytes = host === null ? null : new Uint8Array(host.buffer, host.byteOffset, host.byteLength)
  const frame: CapturedFrame = { layout, bytes, host: hostBytes, pointers }
  // to check a frame kernels are asked for sizes, by way of the same bytes
  const pending = frameBytes.slice()
  const fault = checkFrame(frame, ({ index }) => storages[index]!.byteLength)
  frameBytes.set(pending)
  // what files may hold is narrower than what operators may ask for
  if (fault !== null && / (is too large|has no size|it computes too long on \d+ bytes)$/.test(fault)) throw new LongLaunch(layout.name)
  if (fault !== null && !/ expected /.test(fault)) throw new ReachError(fault)
  const work = reckoned(frame)
  if (work !== null && !(work.flops < EXPECTED_LONG && work.bytes < EXPECTED_LONG)) throw new LongLaunch(layout.name)
}

/** What a frame asks for; endless where its walks are too large for a file. */
function reckoned(frame: CapturedFrame): ReturnType<typeof workOf> {
  try {
    return workOf(frame)
  } catch {
    return { flops: Infinity, bytes: Infinity }
  }
}

/** The storage that an address lies in; a view of no elements may begin where its storage ends. */
function placeOf(address: number, storages: readonly Storage[]): number {
  const inside = storages.findIndex(
    ({ startAddress: start, byteLength }) => start !== 0 && address >= start && address < start + byteLength,
  )
  return inside >= 0 ? inside : storages.findIndex(({ startAddress: start, byteLength }) => start !== 0 && address === start + byteLength)
}
