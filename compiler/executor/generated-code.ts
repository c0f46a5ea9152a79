import * as kernels from '../../runtime/native/generated/kernels.js'
import { DType } from '../../runtime/tensor/dtype.js'
import type { CapturedFrame } from '../capture/captured.js'
import { fieldOf } from '../capture/frame-layout.js'

/** The handle of a kernel that was generated for frame number `frame`. */
interface Generated {
  readonly frame: number
  readonly handle: number
}

const abandoned = /* @__PURE__ */ new FinalizationRegistry<readonly number[]>((handles) => {
  for (const handle of handles) kernels.jit_release({ handle })
})

/**
 * Generated code for the element-wise steps in the frames of a plan: chains, and post-ops of dense kernels. Frames of captured runs have
 * none; the compiled kernels, which give the same bits, do the work wherever it cannot be had. Code is shared by all plans with
 * the same steps and freed with the last of them: `release` when no run is under way any more.
 */
export class GeneratedCode {
  private readonly generated: readonly Generated[]

  constructor(private readonly frames: readonly CapturedFrame[]) {
    const withSteps = frames.flatMap((f, frame) => (hasSteps(f) ? [{ f, frame }] : []))
    this.generated =
      withSteps.length > 0 && kernels.jit_info().state === kernels.JitState.ready
        ? withSteps.flatMap(({ f, frame }) => generate(f).map((handle) => ({ frame, handle })))
        : []
    if (this.generated.length > 0) {
      const handles = this.generated.map((g) => g.handle)
      abandoned.register(this, handles, this)
    }
  }

  /** Frames whose steps run generated code. */
  get count(): number {
    return this.generated.length
  }

  /** Writes the handles into a copy of the frames, which start at `offsets`. */
  fill(image: DataView, offsets: Uint32Array): void {
    for (const { frame, handle } of this.generated) {
      const { layout } = this.frames[frame]!
      const at = (layout.fields.get('code') ?? layout.fields.get('post_code')!).offset
      image.setBigInt64(offsets[frame]! + at, BigInt(handle), true)
    }
  }

  release(): void {
    abandoned.unregister(this)
    for (const { handle } of this.generated) kernels.jit_release({ handle })
  }
}

function hasSteps({ layout }: CapturedFrame): boolean {
  return layout.fields.has('code') || layout.fields.has('post_code')
}

/** Inputs and further outputs of a generated loop. */
const ADDRESSES = 8

/** A handle for the steps of one frame, or nothing. */
function generate({ layout, bytes }: CapturedFrame): number[] {
  const isChain = layout.fields.has('code')
  const prefix = isChain ? '' : 'post_'
  const field = (name: string, i = 0): number => fieldOf(layout, bytes, name, i)
  const steps = field(`${prefix}steps`)
  const inputs = field(`${prefix}inputs`)
  // from element to element of an input; the block is the first input of post-ops
  const stride = (k: number): number => (isChain ? field('strides', 6 * k) : k === 0 ? 1 : field('post_col', k - 1))
  const strides = Array.from({ length: inputs }, (_, k) => stride(k))
  const more = isChain ? field('more') : 0
  // addresses share registers
  if (inputs + more > ADDRESSES) return []
  if (steps === 0 || inputs === 0 || strides.some((s) => s !== 0 && s !== 1)) return []
  const list = (name: string): number[] => Array.from({ length: steps }, (_, i) => field(`${prefix}${name}`, i))
  const { handle } = kernels.jit_elementwise_create({
    inputs,
    steps,
    out_dtype: isChain ? field('out_dtype') : DType.float32,
    streaming: isChain ? field('streaming') : 0,
    access: strides.map((s) => (s === 1 ? kernels.JitAccess.full : kernels.JitAccess.scalar)),
    dtypes: strides.map((_, k) => (isChain ? field('dtypes', k) : DType.float32)),
    ops: list('op'),
    a: list('a'),
    b: list('b'),
    p0: list('p0'),
    p1: list('p1'),
    p2: list('p0').map(() => 1),
    lut: 0,
    more,
    kept: Array.from({ length: more }, (_, i) => field('kept', i)),
    more_dtypes: Array.from({ length: more }, (_, i) => field('more_dtypes', i)),
  })
  return handle === 0 ? [] : [handle]
}
