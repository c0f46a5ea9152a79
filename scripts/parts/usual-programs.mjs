// What most programs do with the library: eager arithmetic, and networks on images, rows and text, interpreted, compiled and from files that
// are compiled ahead.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const FIXTURES = new URL('../../test/fixtures/', import.meta.url)
const FOLDER = fileURLToPath(FIXTURES)
const ARRAYS = { float32: Float32Array, int64: BigInt64Array }
const NETWORKS = ['mobilenet_v2', 'mobilenet_v3', 'resnet18', 'resnet50', 'shufflenet_v2', 'squeezenet', 'efficientnet', 'vit', 'encoder']
/** Operators, called with a matrix before other arguments: 'x' is it again, 'i' a matrix of indices, 'c' one of conditions. */
const EAGER = {
  x: 'add.Tensor sub.Tensor mul.Tensor div.Tensor matmul mm maximum minimum eq.Tensor linear add_.Tensor mul_.Tensor',
  '': 'relu sigmoid tanh exp log sqrt neg abs round sum mean max min t clone zeros_like ones_like std var isnan flatten.using_ints gelu silu',
  1: 'softmax.int log_softmax.int argmax unsqueeze cumsum topk add.Scalar mul.Scalar gt.Scalar pow.Tensor_Scalar clamp sort',
  '[1]': 'mean.dim sum.dim_IntList amax',
  '[4]': 'reshape view',
  '[1,0]': 'permute',
  '0,1': 'transpose.int select.int',
  '0,0,1': 'slice.Tensor',
  '0,"i"': 'gather',
  '"c",0': 'masked_fill.Scalar',
}

/** An archive of more than a megabyte, as most models are, by a gap in front of its directory. */
function enlarged(zip) {
  const end = zip.lastIndexOf('PK\x05\x06')
  const directory = zip.readUInt32LE(end + 16)
  const gap = Buffer.alloc(1 << 20)
  const result = Buffer.concat([zip.subarray(0, directory), gap, zip.subarray(directory)])
  result.writeUInt32LE(directory + gap.length, end + gap.length + 16)
  return result
}

/** Runs them in a build of the library. `compiled`: a `.ptlc` file for an image of 384x384. */
export async function runUsualPrograms({ callOperator, loadModule, tensor, Tensor }, compiled) {
  const x = tensor([
    [1, 2],
    [3, 4],
  ])
  const given = {
    x,
    i: tensor([
      [0n, 1n],
      [1n, 0n],
    ]),
    c: callOperator('aten::gt.Scalar', [x, 2]),
  }
  for (const [others, names] of Object.entries(EAGER)) {
    const args = others === 'x' ? ['x'] : JSON.parse(`[${others}]`)
    for (const name of names.split(' ')) show(callOperator(`aten::${name}`, [x, ...args.map((arg) => given[arg] ?? arg)]))
  }
  for (const name of ['cat', 'stack']) show(callOperator(`aten::${name}`, [[x, x]]))
  show(callOperator('aten::where.self', [given.c, x, x]))
  const image = tensor(new Float32Array(16), [1, 1, 4, 4])
  for (const name of ['max_pool2d', 'avg_pool2d']) show(callOperator(`aten::${name}`, [image, [2, 2]]))
  x.data()
  x.dispose()
  const inputOf = ({ dtype, shape, data }) => {
    const bytes = Buffer.from(data, 'base64')
    return tensor(new ARRAYS[dtype](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)), shape, dtype)
  }
  for (const network of NETWORKS) {
    const { inputs } = JSON.parse(readFileSync(new URL(`models/${network}.json`, FIXTURES), 'utf8'))
    for (const kind of ['ptl', 'mobile.ptl']) await runModel(`models/${network}.${kind}`, inputs.map(inputOf))
  }
  // what lies between the layers of large images is more than caches hold
  for (const file of ['models/mobilenet_v2.ptl', compiled])
    await runModel(file, [tensor(new Float32Array(3 * 384 * 384), [1, 3, 384, 384])])
  await runModel('linear.ptl', [tensor(new Float32Array(3).fill(1), [1, 3])])
  const large = await loadModule(enlarged(readFileSync(resolve(FOLDER, 'linear.ptl'))))
  large.dispose()

  function show(y) {
    for (const output of Array.isArray(y) ? y : [y]) if (output instanceof Tensor) output.toArray()
  }

  async function runModel(file, inputs) {
    const m = await loadModule(resolve(FOLDER, file))
    // the third call is one of its plan
    for (let i = 0; i < 3; i++) {
      const y = m.forward(...inputs)
      if (y instanceof Tensor) y.data()
      for (const output of Array.isArray(y) ? y : [y]) if (output instanceof Tensor) output.dispose()
    }
    m.dispose()
  }
}
