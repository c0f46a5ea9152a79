import { invalid } from './error.js'
import type { NamedTensor } from './tensor.js'

/** The likeliest classes of each row, as `VALUE:INDEX` or `VALUE:INDEX:LABEL`. A tensor of more dimensions than one has rows. */
export function classify(tensor: NamedTensor, most: number, labels: readonly string[] | null): NamedTensor {
  const { name, datatype, shape, data } = tensor
  if (datatype === 'BYTES' || datatype === 'BOOL' || datatype === 'FP16' || datatype === 'BF16')
    throw invalid(`output '${name}' is ${datatype}, which has no likeliest classes`)
  const numbers = data as Float32Array
  const classes = shape.slice(shape.length > 1 ? 1 : 0).reduce((n, size) => n * size, 1)
  const kept = Math.min(most, classes)
  const found: Uint8Array[] = []
  for (let at = 0; classes > 0 && at < numbers.length; at += classes) {
    const row = numbers.subarray(at, at + classes)
    const order = Array.from(row.keys()).sort((a, b) => (row[a]! < row[b]! ? 1 : row[a]! > row[b]! ? -1 : a - b))
    for (const i of order.slice(0, kept)) {
      const label = labels?.[i]
      found.push(Buffer.from(`${textOf(row[i]!, datatype)}:${i}${label === undefined ? '' : `:${label}`}`))
    }
  }
  return { name, datatype: 'BYTES', shape: shape.length > 1 ? [shape[0]!, kept] : [kept], data: found }
}

/** As C prints floats, without zeros at the end. */
function textOf(value: number, datatype: string): string {
  return datatype === 'FP32' ? String(Number(value.toPrecision(7))) : String(value)
}
