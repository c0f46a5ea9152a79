// What most programs do with the library: eager arithmetic, and networks on images, rows and text, interpreted and compiled.
import { readFileSync } from 'node:fs'

const FIXTURES = new URL('../../test/fixtures/', import.meta.url)
const ARRAYS = { float32: Float32Array, int64: BigInt64Array }
const NETWORKS = ['mobilenet_v2', 'mobilenet_v3', 'resnet18', 'resnet50', 'shufflenet_v2', 'squeezenet', 'efficientnet', 'vit', 'encoder']
const EAGER = [
  ...['add.Tensor', 'sub.Tensor', 'mul.Tensor', 'div.Tensor', 'matmul', 'maximum', 'eq.Tensor'].map((name) => [name, (x) => [x, x]]),
  ...['relu', 'sigmoid', 'tanh', 'exp', 'sqrt', 'neg', 'abs', 'sum', 'mean', 'max', 't', 'clone', 'zeros_like'].map((name) => [
    name,
    (x) => [x],
  ]),
  ...['softmax.int', 'argmax', 'mean.dim', 'sum.dim_IntList', 'unsqueeze'].map((name) => [
    name,
    (x) => [x, name.startsWith('mean') || name.startsWith('sum') ? [1] : 1],
  ]),
  ['cat', (x) => [[x, x]]],
  ['stack', (x) => [[x, x]]],
  ['reshape', (x) => [x, [4]]],
  ['view', (x) => [x, [4]]],
  ['permute', (x) => [x, [1, 0]]],
  ['transpose.int', (x) => [x, 0, 1]],
  ['flatten.using_ints', (x) => [x]],
  ['select.int', (x) => [x, 0, 1]],
  ['slice.Tensor', (x) => [x, 0, 0, 1]],
  ['linear', (x) => [x, x]],
  ['mul.Scalar', (x) => [x, 2]],
  ['add.Scalar', (x) => [x, 1.5]],
]

/** Runs them in a build of the library. */
export async function runUsualPrograms({ callOperator, loadModule, tensor, Tensor }) {
  const x = tensor([
    [1, 2],
    [3, 4],
  ])
  for (const [name, args] of EAGER) {
    const y = callOperator(`aten::${name}`, args(x))
    if (y instanceof Tensor) y.toArray()
  }
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
  await runModel('linear.ptl', [tensor(new Float32Array(3).fill(1), [1, 3])])

  async function runModel(file, inputs) {
    const m = await loadModule(new URL(file, FIXTURES).pathname)
    // the third call is one of its plan
    for (let i = 0; i < 3; i++) {
      const y = m.forward(...inputs)
      if (y instanceof Tensor) y.data()
      for (const output of Array.isArray(y) ? y : [y]) if (output instanceof Tensor) output.dispose()
    }
    m.dispose()
  }
}
