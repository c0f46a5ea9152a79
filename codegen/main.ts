import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { PtliteError } from '../runtime/error.js'
import { readHistory } from './argument-history.js'

import { readCommonOperators } from './common-operators.js'
import { emitArgumentHistory } from './emit/argument-history.js'
import { emitCoefficients, readCoefficients } from './emit/coefficients.js'
import { emitFunctions } from './emit/functions.js'
import { emitBackendIndexes } from './emit/backend-index.js'
import { emitOpcodes } from './emit/opcodes.js'
import { emitTargets } from './emit/targets.js'
import { emitTensorMethods } from './emit/tensor-methods.js'
import { CodegenError } from './error.js'
import { emitKernels, emitOperators, readKernels, readOperators } from './generate.js'
import { readFunctions } from './functions/program.js'
import { readOpcodes } from './opcodes.js'
import { backendsFrom, type BuildOptions, DEVICE_BACKENDS, everything, libraryNames } from './options.js'
import { readTensorMethods } from './tensor-methods.js'
import { writeFiles } from './write.js'
import { readEntries } from './yaml-file.js'

const HISTORY = 'codegen/argument_history.yaml'
const COEFFICIENTS = 'codegen/coefficients.yaml'
const FUNCTIONS = 'codegen/functions.yaml'
const METHODS = 'codegen/tensor_methods.yaml'
const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** `npm run codegen [-- --backends CPU,QuantizedCPU] [--out DIR]`: writes all generated files of the library. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      backends: { type: 'string', default: DEVICE_BACKENDS.join(',') },
      out: { type: 'string', default: root },
    },
  })
  const start = performance.now()
  const operators = readOperators(join(root, 'codegen/native_functions'), root)
  const options: BuildOptions = {
    backends: backendsFrom(values.backends.split(',')),
    selector: everything,
    names: libraryNames,
    notesCalls: true,
    common: readCommonOperators(join(root, 'codegen/common_operators.yaml'), operators),
  }
  const kernels = readKernels(join(root, 'codegen/kernels'), root)
  const history = readHistory(readEntries(join(root, HISTORY), HISTORY), operators)
  const coefficients = readCoefficients(readEntries(join(root, COEFFICIENTS), COEFFICIENTS))
  const numbers = new Map(coefficients.map(({ name, value }) => [name, value]))
  const files = new Map([
    ...emitOperators(operators, options),
    ...emitKernels(kernels, options),
    ...emitBackendIndexes(operators, root),
    ...emitOpcodes(readOpcodes(root)),
    ...emitTargets(root),
    ...emitCoefficients(coefficients),
    ...emitFunctions(readFunctions(readEntries(join(root, FUNCTIONS), FUNCTIONS), numbers)),
    ...emitTensorMethods(readTensorMethods(readEntries(join(root, METHODS), METHODS), operators)),
    ['runtime/operators/table/generated/argument-history.ts', emitArgumentHistory(history)],
  ])
  const written = await writeFiles(files, values.out)
  const time = Math.round(performance.now() - start)
  console.log(`codegen: ${operators.length} operators, ${kernels.kernels.length} kernels, ${written.length} files written in ${time} ms`)
}

try {
  await main()
} catch (error) {
  if (!(error instanceof CodegenError || error instanceof PtliteError)) throw error
  console.error(`codegen: ${error.message}`)
  process.exitCode = 1
}
