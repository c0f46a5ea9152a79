import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { callOperator, type DTypeName, type Output, type Tensor, tensor, type TypedArray } from '../../src/index.js'
import { elementsOf, fixturePath, type Golden } from '../module/fixtures.js'
import { readTar } from '../support/tar.js'

/** A tensor as plain data, which goes to other threads and libraries. */
export interface Data {
  readonly dtype: DTypeName
  readonly shape: readonly number[]
  readonly data: TypedArray
}

/** Arguments, and what PyTorch makes of them; null where it was not asked. */
export interface Call {
  readonly inputs: readonly Data[]
  readonly outputs: readonly Data[] | null
}

export interface Model {
  readonly name: string
  readonly path: string
  readonly calls: readonly Call[]
  /** Largest difference from PyTorch, of the largest value of an output. */
  readonly bound: number
  /** Another file than the first one with the same network. */
  readonly isOtherForm: boolean
}

export const inputOf = ({ dtype, shape, data }: Data): Tensor => tensor(data.slice(), [...shape], dtype)
const dataOf = (value: Tensor): Data => ({ dtype: value.dtype, shape: value.shape, data: value.data() })

/** The tensors of an output, which may be of another copy of the library. */
export const dataOfAll = (output: Output): Data[] =>
  [output].flat(3).flatMap((value) => (typeof value === 'object' && value !== null && 'dtype' in value ? [dataOf(value as Tensor)] : []))

/** Calls one after the other: the first one twice, all others, one with other numbers where there are floating-point ones, and the first one twice. */
export function turns([first, ...rest]: readonly Call[]): Call[] {
  const inputs = first!.inputs.map((input) =>
    input.dtype === 'float32' ? dataOf(callOperator('aten::mul.Scalar', [inputOf(input), 0.75]) as Tensor) : input,
  )
  return [first!, first!, ...rest, { inputs, outputs: null }, first!, first!]
}

/** Networks of torchvision and others in each form that PyTorch 1.13 writes. */
function* torchvision(): Generator<Model> {
  const folder = fixturePath('models')
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    const golden = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Golden
    const of = (described: Golden['inputs']): Data[] => described.map((each) => ({ ...each, data: elementsOf(each) }))
    for (const [i, [form, outputs]] of Object.entries(golden.outputs).entries()) {
      const name = file.replace('.json', `.${form}`)
      const calls = [{ inputs: of(golden.inputs), outputs: of(outputs) }]
      yield { name, path: join(folder, name), calls, bound: 1e-4, isOtherForm: i > 0 }
    }
  }
}

/** Networks as torchvision quantizes them; module/quantized.test.ts has what PyTorch makes of them. */
function* quantized(): Generator<Model> {
  const folder = fixturePath('quantized')
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.ptl'))) {
    const { input } = JSON.parse(readFileSync(join(folder, name.replace('.ptl', '.json')), 'utf8')) as { input: Golden['inputs'][0] }
    const inputs: Data[] = [{ shape: input.shape, dtype: 'float32', data: elementsOf({ ...input, dtype: 'float32' }) }]
    yield { name: `quantized ${name}`, path: join(folder, name), calls: [{ inputs, outputs: null }], bound: 0, isOtherForm: false }
  }
}

/** A tensor whose elements start at `offset` of a network's binary file, in bytes. */
interface Described {
  readonly dtype: 'float32' | 'int64' | 'bool'
  readonly shape: readonly number[]
  readonly offset: number
}
const ARRAYS = { float32: Float32Array, int64: BigInt64Array, bool: Uint8Array }

/** Networks of transformers, timm and torch.nn in each form that PyTorch 2.13 writes. */
function* torch2(work: string): Generator<Model> {
  const folder = fixturePath('torch2')
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.tar.br'))) {
    const network = file.slice(0, -'.tar.br'.length)
    const files = readTar(brotliDecompressSync(readFileSync(join(folder, file))))
    const part = (kind: string): Uint8Array => {
      const found = files.get(`${network}.${kind}`)
      if (found === undefined) throw new Error(`${file} lacks ${network}.${kind}`)
      return found
    }
    const data = part('bin')
    const of = (described: readonly Described[]): Data[] =>
      described.map(({ dtype, shape, offset }) => {
        const Elements = ARRAYS[dtype]
        const bytes = shape.reduce((a, b) => a * b, Elements.BYTES_PER_ELEMENT)
        return { dtype, shape, data: new Elements(data.slice(offset, offset + bytes).buffer) }
      })
    const { calls } = JSON.parse(Buffer.from(part('json')).toString()) as { calls: { inputs: Described[]; outputs: Described[] }[] }
    for (const form of ['ptl', 'mobile.ptl', 'ff']) {
      const name = `${network}.${form}`
      const path = join(work, name)
      writeFileSync(path, part(form))
      const both = calls.map(({ inputs, outputs }) => ({ inputs: of(inputs), outputs: of(outputs) }))
      yield { name: `torch2 ${name}`, path, calls: both, bound: 1e-5, isOtherForm: form !== 'ptl' }
    }
  }
}

/** All networks; those of archives are written to a folder. */
export function* models(work: string): Generator<Model> {
  yield* torchvision()
  yield* quantized()
  yield* torch2(work)
}

/** Largest difference, of the largest value of an output; infinite where they are not of one form. */
export function errorBetween(found: readonly Data[], wanted: readonly Data[]): number {
  if (found.length !== wanted.length) return Infinity
  return Math.max(
    ...wanted.map(({ dtype, shape, data }, k) => {
      const got = found[k]!
      if (got.dtype !== dtype || got.shape.join() !== shape.join()) return Infinity
      let [largest, most] = [1e-30, 0]
      for (const x of data) if (Number.isFinite(Number(x))) largest = Math.max(largest, Math.abs(Number(x)))
      for (let i = 0; i < data.length; i++) {
        const [a, b] = [Number(got.data[i]), Number(data[i])]
        if (!Object.is(a, b) && a !== b) most = Math.max(most, Math.abs(a - b) || Infinity)
      }
      return most / largest
    }),
  )
}
