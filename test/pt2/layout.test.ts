import t from 'tap'
import { loadModule, tensor, type Tensor } from '../../src/index.js'
import { type Any, bytesOf, meta, node, program, tensorArgument } from './writer.js'

const x = tensorArgument('x')
const ints = (...values: number[]): Any => ({ as_ints: values })

/** A view of a transposed tensor, which only a copy can be: strides of a program may be those of another layout than is here. */
function viewed(more: Any[], output: string): Uint8Array {
  const nodes = [
    node('torch.ops.aten.permute.default', [['self', x], ['dims', ints(1, 0)]], [tensorArgument('p')], 'p'),
    node('torch.ops.aten.view.default', [['self', tensorArgument('p')], ['size', ints(6)]], [tensorArgument('v')], 'v'),
    ...more,
  ] // prettier-ignore
  return bytesOf(program({ nodes, outputs: [tensorArgument(output)], tensors: { x: meta([2, 3]) } }))
}

const input = (): Tensor => tensor([1, 2, 3, 4, 5, 6], [2, 3])

t.test('views of a functional program need not be views here', async (t) => {
  const module = await loadModule(viewed([], 'v'))
  for (let i = 0; i < 3; i++) t.strictSame([...((module.forward(input()) as Tensor).data() as Float32Array)], [1, 4, 2, 5, 3, 6])
  module.dispose()
})

t.test('where something is written to they have to be', async (t) => {
  const write = node('torch.ops.aten.relu_.default', [['self', tensorArgument('v')]], [tensorArgument('w')], 'w')
  const module = await loadModule(viewed([write], 'w'))
  t.throws(() => module.forward(input()), { message: /cannot be viewed/ })
  module.dispose()
})
