import { readFileSync } from 'node:fs'
import { hashOf } from '../../runtime/tensor/hash.js'
import { PREAMBLE_BYTES, readPreamble, writePreamble } from '../../formats/ptlc/preamble.js'
import { type Output, Tensor, tensor } from '../../src/index.js'
import { fixturePath, type Golden, inputOf } from '../module/fixtures.js'

/** The file with checksums that fit what it holds now. */
export function sealed(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice()
  const preamble = readPreamble(copy, copy.length, 'a test', hashOf)
  const header = copy.subarray(PREAMBLE_BYTES, PREAMBLE_BYTES + preamble.headerBytes)
  const data = copy.subarray(preamble.dataStart)
  copy.set(writePreamble({ ...preamble, headerHash: hashOf(header), dataHash: hashOf(data) }, hashOf))
  return copy
}

export function headerBytes(bytes: Uint8Array): number {
  return readPreamble(bytes, bytes.length, 'a test', hashOf).headerBytes
}

/** Numbers in [0, 1) by a linear congruence. */
export function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Everything that a result says, bit by bit. */
export function bits(output: Output): unknown {
  if (output instanceof Tensor) {
    const data = output.data()
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')
    return [output.dtype, [...output.shape], [...output.strides], output.quant, bytes]
  }
  if (Array.isArray(output)) return output.map(bits)
  return output instanceof Map ? [...output].map(([key, value]) => [key, bits(value)]) : output
}

/** Models whose plans have packed operands of every kind: products, convolutions, depthwise and quantized ones, recurrent layers. */
export const MODELS = ['models/mobilenet_v2', 'models/tagger', 'models/encoder', 'models/resnet18', 'quantized/mobilenet_v2'] as const

/** A fixture with the arguments that it was exported with. */
export function subjectOf(name: string): { readonly path: string; readonly inputs: Tensor[] } {
  const { inputs, input } = JSON.parse(readFileSync(fixturePath(`${name}.json`), 'utf8')) as Partial<Golden> & { input?: FloatInput }
  return {
    path: fixturePath(`${name}.ptl`),
    inputs: input === undefined ? inputs!.map((each) => inputOf(each) as Tensor) : [floatsOf(input)],
  }
}

/** float32 numbers in base64. */
interface FloatInput {
  readonly shape: number[]
  readonly data: string
}

function floatsOf({ shape, data }: FloatInput): Tensor {
  const bytes = new Uint8Array(Buffer.from(data, 'base64'))
  return tensor(new Float32Array(bytes.buffer), shape)
}
