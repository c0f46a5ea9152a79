import { parentPort } from 'node:worker_threads'
import { loadModule, Tensor } from '../../src/index.js'
import { type Data, dataOf, inputOf } from './models.js'

// Loads a model, calls it, and answers with the results, or with the text of the error.
parentPort!.on('message', ({ path, calls }: { path: string; calls: Data[][] }) => {
  const answer = async (): Promise<Data[][]> => {
    const module = await loadModule(path)
    const results = calls.map((inputs) =>
      [module.forward(...inputs.map(inputOf))].flat(3).flatMap((value) => (value instanceof Tensor ? [dataOf(value)] : [])),
    )
    module.dispose()
    return results
  }
  answer().then(
    (results) => parentPort!.postMessage(results),
    (error: unknown) => parentPort!.postMessage(String(error)),
  )
})
