import { readdirSync, readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { type DTypeName, Tensor, tensor, type TypedArray } from '../../src/index.js'
import { readTar } from '../support/tar.js'
import { fixturePath } from './fixtures.js'

interface Described {
  readonly dtype: 'float32' | 'int64' | 'bool'
  readonly shape: readonly number[]
  /** Where its elements start in the network's binary file, in bytes. */
  readonly offset: number
}

export interface Call {
  readonly inputs: readonly Tensor[]
  readonly outputs: readonly { readonly shape: readonly number[]; readonly dtype: DTypeName; readonly data: TypedArray }[]
}

/** A network of fixtures/torch2: files of its forms, and calls with what PyTorch makes of them. */
export interface Network {
  readonly files: ReadonlyMap<'ptl' | 'mobile.ptl' | 'ff', Uint8Array>
  readonly calls: readonly Call[]
}

const FOLDER = fixturePath('torch2')
const ARRAYS = { float32: Float32Array, int64: BigInt64Array, bool: Uint8Array }

export function networkNames(): string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.tar.br'))
    .map((file) => file.slice(0, -'.tar.br'.length))
}

export function readNetwork(name: string): Network {
  const files = readTar(brotliDecompressSync(readFileSync(`${FOLDER}/${name}.tar.br`)))
  const file = (kind: string): Uint8Array => {
    const found = files.get(`${name}.${kind}`)
    if (found === undefined) throw new Error(`${name}.tar.br lacks ${name}.${kind}`)
    return found
  }
  const data = file('bin')
  const elements = ({ dtype, shape, offset }: Described): TypedArray => {
    const Elements = ARRAYS[dtype]
    const bytes = shape.reduce((a, b) => a * b, Elements.BYTES_PER_ELEMENT)
    return new Elements(data.slice(offset, offset + bytes).buffer)
  }
  const { calls } = JSON.parse(Buffer.from(file('json')).toString()) as { calls: { inputs: Described[]; outputs: Described[] }[] }
  return {
    files: new Map((['ptl', 'mobile.ptl', 'ff'] as const).map((form) => [form, file(form)])),
    calls: calls.map(({ inputs, outputs }) => ({
      inputs: inputs.map((value) => tensor(elements(value), [...value.shape], value.dtype)),
      outputs: outputs.map((value) => ({ ...value, data: elements(value) })),
    })),
  }
}

/** Largest difference of what a call returned from what was expected, of the largest value that was; throws where they cannot be compared. */
export function errorOfCall(output: unknown, { outputs }: Call): number {
  const found: unknown[] = Array.isArray(output) ? output : [output]
  if (found.length !== outputs.length) throw new Error(`expected ${outputs.length} outputs, found ${found.length}`)
  return Math.max(
    ...outputs.map(({ shape, dtype, data }, i) => {
      const value = found[i]
      if (!(value instanceof Tensor)) throw new Error(`output ${i} is not a tensor`)
      const [form, wanted] = [value, { dtype, shape }].map(({ dtype, shape }) => `${dtype}[${shape.join()}]`)
      if (form !== wanted) throw new Error(`output ${i}: expected ${wanted}, found ${form}`)
      const expected = Array.from(data, Number)
      const largest = Math.max(...expected.map(Math.abs))
      const got = Array.from(value.data(), Number)
      return Math.max(...expected.map((x, i) => (Object.is(x, got[i]) ? 0 : Math.abs(x - got[i]!)))) / largest
    }),
  )
}
