import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { float, int, Tensor, tuple } from '../../dist/index.js'

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int64: BigInt64Array,
  int32: Int32Array,
  uint8: Uint8Array,
  bool: Uint8Array,
}

/** An argument as `meta.json` describes it. */
function valueOf(described, folder) {
  const items = (list) => list.map((item) => valueOf(item, folder))
  if ('tensor' in described) {
    const { dtype, shape, tensor } = described
    const data = new ARRAYS[dtype](new Uint8Array(readFileSync(join(folder, tensor))).buffer)
    return Tensor.fromStorage(data, { dtype, shape })
  }
  if ('none' in described) return null
  if ('int' in described) return int(described.int)
  if ('float' in described) return float(Number(described.float))
  if ('list' in described) return items(described.list)
  if ('tuple' in described) return tuple(...items(described.tuple))
  if ('dict' in described) return new Map(described.dict.map(([key, item]) => [Object.values(key)[0], valueOf(item, folder)]))
  return Object.values(described)[0]
}

/** Folders with a `meta.json` that names a model and calls of its methods. */
export function* realModels(root) {
  for (const name of readdirSync(root).sort()) {
    const folder = join(root, name)
    if (!existsSync(join(folder, 'meta.json'))) continue
    const { file, kind, cases } = JSON.parse(readFileSync(join(folder, 'meta.json'), 'utf8'))
    // TorchScript archives have no code for the lite interpreter
    if (kind === 'torchscript') continue
    const calls = cases.map(({ method, inputs }) => ({ method, makeArgs: () => inputs.map((input) => valueOf(input, folder)) }))
    yield { name, folder, file: join(folder, file), calls }
  }
}
