/** What the library uses of node:util: which class of JavaScript's own an object has, in whatever realm it was made. */
type Getter = ((this: unknown) => unknown) | undefined

const bufferLength = getter(ArrayBuffer.prototype, 'byteLength')
const sharedLength = typeof SharedArrayBuffer === 'undefined' ? undefined : getter(SharedArrayBuffer.prototype, 'byteLength')
const mapSize = getter(Map.prototype, 'size')
const className = getter(Object.getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag)

function getter(prototype: object, name: PropertyKey): Getter {
  const { get } = (Object.getOwnPropertyDescriptor(prototype, name) ?? {}) as { readonly get?: (this: unknown) => unknown }
  return get
}

/** Whether the engine has what `get` asks for in an object. */
function has(get: Getter, value: unknown): boolean {
  try {
    return get !== undefined && get.call(value) !== undefined
  } catch {
    return false
  }
}

export const types = {
  isArrayBuffer: (value: unknown): value is ArrayBuffer => has(bufferLength, value),
  isSharedArrayBuffer: (value: unknown): boolean => has(sharedLength, value),
  isMap: (value: unknown): value is Map<unknown, unknown> => has(mapSize, value),
  isUint8Array: (value: unknown): value is Uint8Array => className?.call(value) === 'Uint8Array',
}
