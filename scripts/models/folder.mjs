// What the scripts of this folder wrote of a model: its programs, and calls of them with PyTorch's results.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readNpy } from '../../bench/lib/npy.mjs'
import { loadModule, tensor } from '../../dist/index.js'

const read = (folder, kind) => {
  const names = readdirSync(folder).filter((name) => name.startsWith(`${kind}-`))
  return names.map((_, i) => {
    const { data, shape, dtype } = readNpy(join(folder, `${kind}-${i}.npy`))
    return tensor(data, shape, dtype)
  })
}

/** Names of a model's programs, `model`, or `encoder` and `decoder`. */
export const programsOf = (folder) =>
  readdirSync(join(folder, '1'))
    .filter((name) => name.endsWith('.pt2'))
    .map((name) => name.slice(0, -'.pt2'.length))

/** Calls of a program: what it takes, and what PyTorch gives. */
export function callsOf(folder, program) {
  const calls = []
  for (let i = 0; existsSync(join(folder, 'calls', `${program}-${i}`)); i++) {
    const path = join(folder, 'calls', `${program}-${i}`)
    calls.push({ inputs: read(path, 'input'), outputs: read(path, 'output') })
  }
  return calls
}

/** Writes a program's plan of a call to `path`, by the command. */
export function compileAhead(folder, program, call, path, options = []) {
  const kept = join(folder, 'calls', `${program}-${call}`)
  const names = readdirSync(kept).filter((name) => name.startsWith('input-'))
  const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
  const args = [
    'compile',
    join(folder, '1', `${program}.pt2`),
    ...options,
    '-o',
    path,
    '--input',
    ...names.map((_, i) => join(kept, `input-${i}.npy`)),
  ]
  execFileSync(process.execPath, [cli, ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
}

/** All tensors of a result, in order. */
export function tensorsOf(value) {
  if (Array.isArray(value)) return value.flatMap(tensorsOf)
  if (value instanceof Map) return [...value.values()].flatMap(tensorsOf)
  if (value?.constructor?.name === 'Tensor') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(tensorsOf) : []
}

export const jsonOf = (folder, name) => {
  const path = join(folder, name)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
}

/** What generates: one program, or an encoder and a decoder. */
export async function generatorOf(folder, options) {
  const open = (name) => loadModule(join(folder, '1', `${name}.pt2`), options)
  return programsOf(folder).includes('decoder') ? { encoder: await open('encoder'), decoder: await open('decoder') } : open('model')
}

/** What `generate` is given for a prompt: of an encoder and a decoder with what the encoder takes. */
export function promptOf(folder, { prompt }) {
  const [call] = callsOf(folder, 'encoder')
  return call === undefined ? prompt : { input_features: call.inputs[0], decoder_input_ids: prompt }
}
