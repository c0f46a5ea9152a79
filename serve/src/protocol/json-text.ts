import type { Datatype, ElementArray } from './datatypes.js'
import { invalid } from './error.js'
import { float32Text } from './float-text.js'

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
      return float32Text(checkFinite(data as Float32Array, name))
    case 'FP64':
      return float64Text(checkFinite(data as Float64Array, name))
    default:
      return (data as ElementArray).join()
  }
}

function checkFinite<Data extends Float32Array | Float64Array>(data: Data, name: string): Data {
  for (let i = 0; i < data.length; i++)
    if (!Number.isFinite(data[i]))
      throw new InexpressibleError(`output '${name}' has ${data[i]}, which JSON cannot say; ask for "binary_data"`)
  return data
}

/** Numbers that are written at a time: a list of all would take as much memory again. */
const CHUNK = 1 << 14

/** `join` would make a string of each number, which takes three times as long. */
function float64Text(data: Float64Array): string {
  let text = ''
  for (let at = 0; at < data.length; at += CHUNK)
    text += `${at === 0 ? '' : ','}${JSON.stringify(Array.from(data.subarray(at, at + CHUNK))).slice(1, -1)}`
  return text
}
