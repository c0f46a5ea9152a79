import { absent, PtliteError } from '../error.js'
import { pace } from '../pace.js'
import { kernelTimeError } from './budget.js'
import { f32, f64, FRAME_BYTES, frameBytes, i32 } from './frame-memory.js'
import type { Launch } from './host.js'
import { nativeLaunch } from './library.js'
import { Status } from './generated/numbers.js'
import * as features from '../features.js'

/** Sees each launch before it runs; the frame is filled. `own` is false for kernels of another library. */
export type LaunchObserver = (id: number, name: string, host: ArrayBufferView | null, own: boolean) => void

let launchObserver: LaunchObserver | null = null

/** Makes `next` see all launches of this thread and returns who saw them before, to be put back when done. */
export function observeLaunches(next: LaunchObserver | null): LaunchObserver | null {
  const before = launchObserver
  launchObserver = next
  return before
}

export { f32, f64, FRAME_BYTES, frameBytes, i32 }

/** Steps that a launch takes, beside what its kernel does. */
const LAUNCH = 64

/** Writes an int64 or address (an integer number) at 32-bit word `word`. */
export function putI64(word: number, value: number): void {
  i32[word] = value | 0
  i32[word + 1] = Math.floor(value / 4294967296) | 0
}

/** Writes the number of a dtype; throws INVALID_DTYPE for complex ones, which kernels see as pairs of reals alone. */
export function putDtype(word: number, dtype: number): void {
  if (dtype > 7 && dtype < 11) refuseComplex(dtype)
  i32[word] = dtype
}

function refuseComplex(dtype: number): never {
  throw new PtliteError('INVALID_DTYPE', `expected real numbers, found complex${32 << (dtype - 8)}`)
}

/** Reads an int64 at word `word`; beyond 2^53 it is rounded. */
export function getI64(word: number): number {
  return i32[word + 1]! * 4294967296 + (i32[word]! >>> 0)
}

/**
 * Writes `values` from word `word` on; throws where the frame has room for fewer. Room that is left is cleared where launches are
 * recorded, since it holds addresses and numbers of other frames. The same goes for those for other numbers.
 */
export function putI64s(word: number, values: readonly number[], room: number): void {
  if (values.length > room) tooMany(values.length, room)
  for (let i = 0; i < values.length; i++) putI64(word + 2 * i, values[i]!)
  if (features.compiler && launchObserver !== null) i32.fill(0, word + 2 * values.length, word + 2 * room)
}

/** putI64s of int32 numbers. */
export function putI32s(word: number, values: readonly number[], room: number): void {
  if (values.length > room) tooMany(values.length, room)
  for (let i = 0; i < values.length; i++) i32[word + i] = values[i]!
  if (features.compiler && launchObserver !== null) i32.fill(0, word + values.length, word + room)
}

/** putI64s of doubles; `word` is even. */
export function putF64s(word: number, values: readonly number[], room: number): void {
  if (values.length > room) tooMany(values.length, room)
  for (let i = 0; i < values.length; i++) f64[word / 2 + i] = values[i]!
  if (features.compiler && launchObserver !== null) i32.fill(0, word + 2 * values.length, word + 2 * room)
}

/** putI64s of floats. */
export function putF32s(word: number, values: readonly number[], room: number): void {
  if (values.length > room) tooMany(values.length, room)
  for (let i = 0; i < values.length; i++) f32[word + i] = values[i]!
  if (features.compiler && launchObserver !== null) i32.fill(0, word + values.length, word + room)
}

function tooMany(count: number, room: number): never {
  throw new PtliteError('INVALID_ARGUMENT', `expected at most ${room} dimensions or operands, found ${count}`)
}

/**
 * Runs kernel `id` on the frame: the only way native work starts. `host` is JavaScript memory that the kernel
 * reads or writes during the call (data in, data out, a path). Throws PtliteError on a non-zero status.
 */
export function launch(id: number, name: string, host: ArrayBufferView | null = null): void {
  launchWith(nativeLaunch, id, name, host)
}

/** launch for a kernel of another library (see openLibrary). */
export function launchWith(call: Launch, id: number, name: string, host: ArrayBufferView | null): void {
  pace(LAUNCH)
  i32[0] = id
  if (features.compiler && launchObserver !== null) launchObserver(id, name, host, call === nativeLaunch)
  const status = call(host)
  if (status !== Status.OK) fail(name, status)
}

export function fail(name: string, status: number): never {
  switch (status) {
    case Status.NO_MEMORY:
      throw new PtliteError('OUT_OF_MEMORY', `kernel ${name}: the system has no memory left for this tensor`)
    case Status.INDEX_RANGE:
      throw new PtliteError('INVALID_ARGUMENT', `kernel ${name}: an index is out of range`)
    case Status.NO_DTYPE:
    case Status.NOT_SELECTED:
      throw absent(`the dtype or operation that is asked for of kernel ${name}`)
    case Status.FILE:
      throw new PtliteError('INVALID_FILE', 'the system does not map it, or it was cut off while it was read')
    case Status.SINGULAR:
      throw new PtliteError('INVALID_ARGUMENT', `kernel ${name}: the matrix is singular or not positive definite`)
    case Status.NO_KERNEL:
      throw absent(`kernel ${name}`, 'NATIVE_LIBRARY')
    case Status.ZERO_DIVISION:
      throw new PtliteError('INVALID_ARGUMENT', `kernel ${name}: integer division by zero`)
    case Status.CANCELLED:
      throw new PtliteError('ABORTED', `kernel ${name}: the run was given up`)
    case Status.NOT_FINITE:
      throw new PtliteError('INVALID_ARGUMENT', `kernel ${name}: expected finite numbers to quantize, found an infinity or NaN`)
    case Status.TIME_LIMIT:
      throw kernelTimeError(name)
    default:
      throw new PtliteError('INTERNAL', `kernel ${name}: status ${status}`)
  }
}

/** What a selective build calls in place of a kernel that it leaves out. */
export function absentKernel(name: string): never {
  throw absent(`kernel ${name}`, 'MISSING_KERNEL')
}

/** Ends a launch before the kernel runs. */
const WITHHELD = new PtliteError('INTERNAL', 'a launch was withheld')

/** A frame of its own for the kernel that `launchIt` launches, which does not run. */
export function frameOf(launchIt: () => void): Uint8Array {
  const before = observeLaunches(() => {
    throw WITHHELD
  })
  try {
    launchIt()
  } catch (error) {
    if (error !== WITHHELD) throw error
  } finally {
    observeLaunches(before)
  }
  return frameBytes.slice()
}
