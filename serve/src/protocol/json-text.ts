import type { Datatype, ElementArray } from './datatypes.js'
import { invalid } from './error.js'

/** Of results that a client has to ask for in another form. */
export class InexpressibleError extends Error {}

/** The text of the elements in JSON, without brackets. Throws for what it cannot say, and RangeError for more than a string has. */
export function toJsonText(datatype: Datatype, data: ElementArray | readonly Uint8Array[], name: string): string {
  switch (datatype) {
    case 'BYTES':
      return (data as readonly Uint8Array[])
        .map((each) => JSON.stringify(Buffer.from(each.buffer, each.byteOffset, each.length).toString('utf8')))
        .join()
    case 'BOOL':
      return Array.from(data as Uint8Array, (each) => (each === 0 ? 'false' : 'true')).join()
    case 'FP16':
    case 'BF16':
      throw invalid(`output '${name}': ${datatype} has no form in JSON; ask for "binary_data"`)
    case 'FP32':
    case 'FP64':
      return floatsText(data as Float32Array | Float64Array, name)
    default:
      return (data as ElementArray).join()
  }
}

/** Numbers that are looked at together: lists of all would take twice the memory of what they are of. */
const CHUNK = 1 << 14

/** `join` would make a string of each number, which takes three times as long. */
function floatsText(data: Float32Array | Float64Array, name: string): string {
  let text = ''
  for (let at = 0; at < data.length; at += CHUNK) {
    const numbers: number[] = []
    for (let i = at; i < Math.min(at + CHUNK, data.length); i++) {
      const value = data[i]!
      if (!Number.isFinite(value))
        throw new InexpressibleError(`output '${name}' has ${value}, which JSON cannot say; ask for "binary_data"`)
      numbers.push(value)
    }
    text += `${at === 0 ? '' : ','}${JSON.stringify(numbers).slice(1, -1)}`
  }
  return text
}
