/** A matrix [outputs, inputs] of integers with a scale for each group of a row. */
export interface IntegerMatrix {
  readonly outputs: number
  readonly inputs: number
  readonly group: number
  readonly bits: 4 | 8
  readonly numbers: readonly number[]
  readonly scales: readonly number[]
}

/** Random numbers of so many bits. `integer` draws one. */
export function integerMatrix(
  outputs: number,
  inputs: number,
  group: number,
  bits: 4 | 8,
  integer: (low: number, high: number) => number,
): IntegerMatrix {
  const most = 2 ** (bits - 1)
  const numbers = Array.from({ length: outputs * inputs }, () => integer(-most, most - 1))
  const scales = Array.from({ length: (outputs * inputs) / group }, () => integer(1, 64) / (128 * most))
  return { outputs, inputs, group, bits, numbers, scales }
}

/** The float at a place of a matrix. */
export function numberAt({ inputs, group, numbers, scales }: IntegerMatrix, output: number, input: number): number {
  return numbers[output * inputs + input]! * Math.fround(scales[(output * inputs + input - (input % group)) / group]!)
}

/** Bytes of a matrix as torchao packs it for its target `universal`: a header, and for each 8 outputs groups of integers, scales and sums. */
export function packedMatrix({ outputs, inputs, group, bits, numbers, scales }: IntegerMatrix): Uint8Array {
  const tiles = Math.ceil(outputs / 8)
  const bytes = new Uint8Array(64 + tiles * (inputs * bits + (inputs / group) * 64))
  const view = new DataView(bytes.buffer)
  ;[6712, 1, bits, 0, 0, 8, 16, 2].forEach((field, i) => view.setInt32(4 * i, field, true))
  let at = 64
  for (let first = 0; first < outputs; first += 8) {
    const number = (n: number, k: number): number => (first + n < outputs ? numbers[(first + n) * inputs + k]! : 0)
    for (let start = 0; start < inputs; start += group) {
      for (let k = start; k < start + group; k += 16) {
        // inputs 0 to 7 of all outputs, then inputs 8 to 15
        const values = Array.from({ length: 128 }, (_, i) => number((i >> 3) & 7, k + 8 * (i >> 6) + (i & 7)))
        for (const [i, value] of values.entries()) {
          if (bits === 8) view.setInt8(at + i, value)
          else bytes[at + (i >> 5) * 16 + (i & 15)]! |= (value + 8) << ((i & 16) / 4)
        }
        at += 16 * bits
      }
      for (let n = 0; n < 8; n++)
        view.setFloat32(at + 4 * n, first + n < outputs ? scales[((first + n) * inputs + start) / group]! : 0, true)
      for (let n = 0; n < 8; n++) {
        const sum = Array.from({ length: group }, (_, k) => number(n, start + k)).reduce((a, b) => a + b, 0)
        view.setInt32(at + 32 + 4 * n, sum, true)
      }
      at += 64
    }
  }
  return bytes
}

/** Packed matrices of all experts, one after the other. */
export function packedMatrices(matrices: readonly IntegerMatrix[]): { readonly data: Uint8Array; readonly shape: [number, number] } {
  const all = matrices.map(packedMatrix)
  const data = new Uint8Array(all.length * all[0]!.length)
  all.forEach((bytes, i) => data.set(bytes, i * bytes.length))
  return { data, shape: [all.length, all[0]!.length] }
}
