/**
 * The one frame of this thread. A kernel takes a pointer to a plain struct; generated writers fill it in place
 * and `launch` hands it over. It belongs to JavaScript: nothing here views native memory.
 */
export const FRAME_BYTES = 4096
const frame = new ArrayBuffer(FRAME_BYTES)
/** The frame as bytes. */
export const frameBytes: Uint8Array = new Uint8Array(frame)
/** The frame as 32-bit words. */
export const i32: Int32Array = new Int32Array(frame)
/** The frame as floats. */
export const f32: Float32Array = new Float32Array(frame)
/** The frame as doubles. */
export const f64: Float64Array = new Float64Array(frame)
