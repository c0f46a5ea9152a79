// node app.js [--library libptlite.so] MODEL: an app that is one file, with a selective build of ptlite in it.
// The kernel library comes from --library, or from PTLITE_NATIVE_LIBRARY.
import { parseArgs } from 'node:util'
import { loadModule, setNativeLibrary, tensor } from 'selected-ptlite'

const { values, positionals } = parseArgs({ options: { library: { type: 'string' } }, allowPositionals: true })
if (values.library !== undefined) setNativeLibrary(values.library)
const module = await loadModule(positionals[0])
console.log(JSON.stringify(module.forward(tensor([1, -2, 3]), tensor([0.5, 0.5, 0.5])).toArray()))
