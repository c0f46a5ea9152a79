// What an app does: loads a model, calls it, and calls it off the event loop. The path of the model is its argument.
import { loadModule, tensor } from 'ptlite'

async function main() {
  const model = await loadModule(process.argv[2])
  const x = tensor(new Uint8Array(64), [1, 1, 8, 8], 'uint8')
  console.log(model.forward(x).shape.join('x'), (await model.run('forward', [x])).shape.join('x'))
}

main().catch((error) => {
  console.log(`${error.code}: ${error.message}`)
  process.exitCode = 1
})
