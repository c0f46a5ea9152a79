import t from 'tap'
import { callOperator, custom, loadModule, memoryStats, type Tensor, tensor } from '../../src/index.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { fixturePath } from '../module/fixtures.js'

t.test('memory is given back once', (t) => {
  const address = kernels.mem_alloc({ bytes: 4096 })
  kernels.mem_free({ address })
  t.throws(() => kernels.mem_free({ address }), { code: 'INTERNAL' }, 'a block that was given back')
  t.throws(() => kernels.mem_free({ address: 64 }), { code: 'INTERNAL' }, 'an address of none')
  t.throws(() => kernels.mem_unmap({ address: 4096, size: 4096 }), { code: 'INTERNAL' }, 'an unknown mapping')
  t.end()
})

t.test('a tensor that the system has no memory for leaves nothing half made', async (t) => {
  const module = await loadModule(fixturePath('compile.ptl'))
  const expected = (module.forward(tensor([[1, 2, 3, 4]])) as Tensor).toArray()
  const x = tensor([1, 2])
  const { live } = memoryStats()
  const refused = { code: 'OUT_OF_MEMORY' }
  t.throws(() => custom.empty([2 ** 45], custom.dtypes.float32), refused)
  t.throws(() => callOperator('aten::resize_', [x, [2 ** 45], null]), refused)
  t.throws(() => callOperator('aten::repeat', [x, [2 ** 45]]), refused)
  t.same(memoryStats().live, live, 'nothing is counted')
  t.same([x.shape, x.toArray()], [[2], [1, 2]], 'the tensor is as it was')
  t.same((module.forward(tensor([[1, 2, 3, 4]])) as Tensor).toArray(), expected)
  module.dispose()
})
