import { parentPort } from 'node:worker_threads'
import { loadModule } from '../../src/index.js'
import { type Data, dataOfAll, inputOf } from './models.js'

// Loads a model, calls it, and answers with the results, or with the text of the error.
parentPort!.on('message', ({ path, calls }: { path: string; calls: Data[][] }) => {
  const answer = async (): Promise<Data[][]> => {
    const module = await loadModule(path)
    const results = calls.map((inputs) => dataOfAll(module.forward(...inputs.map(inputOf))))
    module.dispose()
    return results
  }
  answer().then(
    (results) => parentPort!.postMessage(results),
    (error: unknown) => parentPort!.postMessage(String(error)),
  )
})
