/*
 * What objects of JavaScript's own classes really are. A caller may give an array own properties, or a class derived from it getters, that say otherwise, and
 * `instanceof` knows the classes of one realm alone; these ask the engine.
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

/** Where a typed array begins in its memory. */
export function byteOffsetOf(array: ArrayBufferView): number {
  return byteOffset.get.call(array)
}

/** Elements of a typed array. */
export function lengthOf(array: ArrayBufferView): number {
  return length.get.call(array)
}

/** Its memory. */
export function bufferOf(array: ArrayBufferView): ArrayBufferLike {
  return buffer.get.call(array)
}

/** The name of a typed array's class, whatever class was derived from it; undefined for anything else. */
export function arrayName(data: unknown): string | undefined {
  return className.get.call(data)
}

export function isUint8Array(value: unknown): value is Uint8Array {
  return arrayName(value) === 'Uint8Array'
}

export const isArrayBuffer = /* @__PURE__ */ classTest<ArrayBuffer>(ArrayBuffer, 'byteLength')
/** Pages that are not isolated have no such class. */
export const isSharedArrayBuffer = /* @__PURE__ */ classTest<SharedArrayBuffer>(globalThis.SharedArrayBuffer, 'byteLength')
export const isMap = /* @__PURE__ */ classTest<Map<unknown, unknown>>(Map, 'size')

/** A test for objects of a class, whose own getter refuses all others. */
function classTest<T>(ofClass: { readonly prototype: object } | undefined, name: string): (value: unknown) => value is T {
  const get = ofClass && (Object.getOwnPropertyDescriptor(ofClass.prototype, name) as { readonly get: Getter<unknown> }).get
  return (value): value is T => {
    try {
      return get !== undefined && get.call(value) !== undefined
    } catch {
      return false
    }
  }
}
