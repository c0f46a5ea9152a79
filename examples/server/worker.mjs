// A thread of the server: the weights are mapped from the file, so threads share them.
import { fileURLToPath } from 'node:url'
import { parentPort } from 'node:worker_threads'
import { loadModule, tensor } from 'ptlite'

const model = await loadModule(fileURLToPath(new URL('../digits/digits.ptl', import.meta.url)))

parentPort.on('message', (pixels) => {
  try {
    const scores = model.forward(tensor(pixels, [1, 1, 8, 8], 'uint8'))
    const probabilities = scores.toArray()[0]
    scores.dispose()
    parentPort.postMessage({ value: { digit: probabilities.indexOf(Math.max(...probabilities)), probabilities } })
  } catch (error) {
    parentPort.postMessage({ error: error.message })
  }
})
