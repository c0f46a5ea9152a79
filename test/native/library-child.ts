import { callOperator, loadModule, PtliteError, tensor } from '../../src/index.js'

/** What an operator says, and loading a model. */
const of = (error: unknown): string => (error instanceof PtliteError ? `${error.code}: ${error.message}` : `raw ${String(error)}`)
try {
  console.log(JSON.stringify(callOperator('aten::neg', [tensor([1])])))
} catch (error) {
  console.log(of(error))
}
await loadModule(process.argv[2]!).then(
  () => console.log('loaded'),
  (error: unknown) => console.log(of(error)),
)
