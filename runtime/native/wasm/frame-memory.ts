/**
 * The one frame of this thread, in the memory of the kernels, which is another buffer after it has grown: whoever makes it grow calls `viewFrame`. Stands
 * for runtime/native/frame-memory.ts in builds for browsers.
 */
export const FRAME_BYTES = 4096
let frame: ArrayBufferLike = new ArrayBuffer(FRAME_BYTES)
export let frameBytes: Uint8Array = new Uint8Array(frame)
export let i32: Int32Array = new Int32Array(frame)
export let f32: Float32Array = new Float32Array(frame)
export let f64: Float64Array = new Float64Array(frame)

/** The frame is at this address of this memory from now on. */
export function viewFrame(memory: ArrayBufferLike, address: number): void {
  frame = memory
  frameBytes = new Uint8Array(memory, address, FRAME_BYTES)
  i32 = new Int32Array(memory, address, FRAME_BYTES / 4)
  f32 = new Float32Array(memory, address, FRAME_BYTES / 4)
  f64 = new Float64Array(memory, address, FRAME_BYTES / 8)
}
