/**
 * What typed arrays really are. A caller may give an array own properties, or a class derived from it getters, that say otherwise; these ask
 * the engine, of arrays of other realms, too.
 */

type Getter<T> = (this: unknown) => T
type Getters = Record<'byteLength' | 'length' | 'byteOffset', { get: Getter<number> }> & {
  readonly buffer: { readonly get: Getter<ArrayBufferLike> }
  readonly [Symbol.toStringTag]: { readonly get: Getter<string | undefined> }
}

const {
  byteLength,
  length,
  byteOffset,
  buffer,
  [Symbol.toStringTag]: className,
} = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(Uint8Array.prototype)) as unknown as Getters

/** Bytes of a typed array; 0 where its memory was transferred or shrank away. */
export function byteLengthOf(array: ArrayBufferView): number {
  return byteLength.get.call(array)
}

/** Elements of a typed array. */
export function lengthOf(array: ArrayBufferView): number {
  return length.get.call(array)
}

/** The name of a typed array's class, whatever class was derived from it; undefined for anything else. */
export function arrayName(data: unknown): string | undefined {
  return className.get.call(data)
}

/** Not in the library's types. */
const resizable = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, 'resizable') as { readonly get: Getter<boolean> }

/** Its memory. */
export function bufferOf(array: ArrayBufferView): ArrayBufferLike {
  return buffer.get.call(array)
}

/** The array, for native code to read, or a copy where other threads share its memory or that can be resized. */
export function steady(array: ArrayBufferView): ArrayBufferView {
  return isFixed(buffer.get.call(array))
    ? array
    : Uint8Array.from(new Uint8Array(buffer.get.call(array), byteOffset.get.call(array), byteLength.get.call(array)))
}

function isFixed(memory: ArrayBufferLike): boolean {
  try {
    return !resizable.get.call(memory)
  } catch {
    // shared memory has another getter
    return false
  }
}
