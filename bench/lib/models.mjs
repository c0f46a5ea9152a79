import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const MODELS = ['mobilenet_v2', 'resnet18', 'encoder', 'lstm', 'mlp']
const folder = fileURLToPath(new URL('../models/out/', import.meta.url))

/** Path of a model file, `modelPath('mlp', 'mobile.ptl')`; exports all models where it is missing. */
export function modelPath(name, kind) {
  const path = `${folder}${name}.${kind}`
  if (!existsSync(path)) {
    console.error('exporting the models (once)')
    execFileSync(process.env.PYTHON ?? 'python3', [fileURLToPath(new URL('../models/export.py', import.meta.url)), folder], {
      stdio: ['ignore', 2, 2],
    })
  }
  return path
}
