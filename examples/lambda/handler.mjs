// A function as AWS Lambda runs it: the model is loaded once per instance, the library and the model stand beside this file.
import { fileURLToPath } from 'node:url'
import { loadModule, setNativeLibrary, tensor } from 'selected-ptlite'

const beside = (name) => fileURLToPath(new URL(name, import.meta.url))
setNativeLibrary(beside('libptlite.so'))
const model = loadModule(beside('model.ptl'))

/** {"x": [...], "y": [...]} -> {"result": [...]} */
export async function handler({ x, y }) {
  const result = (await model).forward(tensor(x), tensor(y))
  try {
    return { result: result.toArray() }
  } finally {
    result.dispose()
  }
}
