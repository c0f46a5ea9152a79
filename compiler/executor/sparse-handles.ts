import * as kernels from '../../runtime/native/generated/kernels.js'
import { PtliteError } from '../../runtime/error.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import type { CapturedFrame, CapturedRun, StoredBlocks } from '../capture/captured.js'
import { placesOf } from './stored-blocks.js'

/** A kernel over blocks that lie in a constant; plans of one file share it. */
interface Shared {
  readonly handle: number
  users: number
}

const shared = new WeakMap<StoredBlocks, Shared>()

const abandoned = /* @__PURE__ */ new FinalizationRegistry<readonly StoredBlocks[]>((held) => {
  for (const stored of held) giveUp(stored)
})

/**
 * The handles of block-sparse products whose weights come from a file: made over the blocks as they lie there, and given up by `release` when
 * no run is under way any more. Frames that were captured here have theirs.
 */
export class SparseHandles {
  private readonly held: readonly StoredBlocks[]

  /** Throws INVALID_FILE where blocks make no sense, OUT_OF_MEMORY. */
  constructor(private readonly run: Pick<CapturedRun, 'frames' | 'constants'>) {
    const held: StoredBlocks[] = []
    this.held = held
    try {
      for (const stored of new Set(run.frames.flatMap((frame) => frame.stored ?? []))) {
        take(stored, run.constants[stored.constant]!.storage)
        held.push(stored)
      }
    } catch (error) {
      this.release()
      throw error
    }
    if (held.length > 0) abandoned.register(this, held, this)
  }

  /** Writes the handles into a copy of the frames, which start at `offsets`. */
  fill(image: DataView, offsets: Uint32Array): void {
    this.run.frames.forEach(({ layout, stored }: CapturedFrame, frame) => {
      if (stored === undefined) return
      image.setBigInt64(offsets[frame]! + layout.fields.get('handle')!.offset, BigInt(shared.get(stored)!.handle), true)
    })
  }

  release(): void {
    abandoned.unregister(this)
    for (const stored of this.held) giveUp(stored)
  }
}

function take(stored: StoredBlocks, { address }: Storage): void {
  const known = shared.get(stored)
  if (known !== undefined) {
    known.users++
    return
  }
  const { blocks, width, description } = stored
  const { index, start } = placesOf(stored)
  const at = { values: address, index: address + index, start: address + start }
  const { handle } = kernels.sparse_gemm_load({ ...at, blocks, width, ...description })
  if (handle === 0) throw new PtliteError('INVALID_FILE', 'the blocks of a sparse weight are damaged')
  shared.set(stored, { handle, users: 1 })
}

function giveUp(stored: StoredBlocks): void {
  const known = shared.get(stored)!
  if (--known.users > 0) return
  shared.delete(stored)
  kernels.sparse_release({ handle: known.handle })
}
