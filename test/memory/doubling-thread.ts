// Answers each detached tensor with twice its elements.
import { parentPort } from 'node:worker_threads'
import { callOperator, type DetachedTensor, Tensor } from '../../src/index.js'

parentPort!.on('message', (message: DetachedTensor) => {
  const x = Tensor.from(message)
  const detached = (callOperator('aten::add.Tensor', [x, x]) as Tensor).detach()
  parentPort!.postMessage(detached, [detached.buffer])
})
