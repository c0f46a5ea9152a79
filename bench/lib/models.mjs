import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** What bench/run.mjs measures; models/export.py can make others. */
export const MODELS = [
  'mobilenet_v2',
  'mobilenet_v3_small',
  'squeezenet1_1',
  'shufflenet_v2_x1_0',
  'resnet18',
  'resnet50',
  'efficientnet_b0',
  'encoder',
  'lstm',
  'mlp',
  'mobilenet_v2_quantized',
]
/** What is measured in WebAssembly, beside onnxruntime-web. */
export const WEB_MODELS = MODELS.filter((name) => name !== 'resnet50')
const folder = fileURLToPath(new URL('../models/out/', import.meta.url))

/** Path of a model file, `modelPath('mlp', 'mobile.ptl')`; exports the model where it is missing. */
export function modelPath(name, kind, { script = 'export.py', python = process.env.PYTHON ?? 'python3' } = {}) {
  const path = `${folder}${name}.${kind}`
  if (!existsSync(path)) {
    console.error(`exporting ${name} (once)`)
    const exporter = fileURLToPath(new URL(`../models/${script}`, import.meta.url))
    execFileSync(python, [exporter, folder, name], { stdio: ['ignore', 2, 2] })
  }
  return path
}
