/**
 * The one frame of this thread. A kernel takes a pointer to a plain struct; generated writers fill it in place
 * and `launch` hands it over. It belongs to JavaScript: nothing here views native memory.
 */
export const FRAME_BYTES = 4096
const frame = new ArrayBuffer(FRAME_BYTES)
export const frameBytes = new Uint8Array(frame)
export const i32 = new Int32Array(frame)
export const f32 = new Float32Array(frame)
export const f64 = new Float64Array(frame)
