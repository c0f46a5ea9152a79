// What the scripts of this folder wrote of a model: its programs, and calls of them with PyTorch's results.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readNpy } from '../../bench/lib/npy.mjs'
import { loadModule, tensor } from '../../dist/index.js'

/** Names of a model's programs, `model`, or `encoder` and `decoder`. */
export const programsOf = (folder) =>
  readdirSync(join(folder, '1'))
    .filter((name) => name.endsWith('.pt2'))
    .map((name) => name.slice(0, -'.pt2'.length))

/** Files of a program's calls: `inputs` and `outputs`, in their order. */
export function callFilesOf(folder, program) {
  const calls = []
  for (let i = 0; existsSync(join(folder, 'calls', `${program}-${i}`)); i++) {
    const path = join(folder, 'calls', `${program}-${i}`)
    const files = (kind) =>
      readdirSync(path)
        .filter((name) => name.startsWith(`${kind}-`))
        .map((_, k) => join(path, `${kind}-${k}.npy`))
    calls.push({ inputs: files('input'), outputs: files('output') })
  }
  return calls
}

/** Calls of a program: what it takes, and what PyTorch gives. */
export function callsOf(folder, program) {
  const read = (path) => {
    const { data, shape, dtype } = readNpy(path)
    return tensor(data, shape, dtype)
  }
  return callFilesOf(folder, program).map(({ inputs, outputs }) => ({ inputs: inputs.map(read), outputs: outputs.map(read) }))
}

/** Writes a program's plan of a call to `path`, by the command. */
export function compileAhead(folder, program, call, path, options = []) {
  const { inputs } = callFilesOf(folder, program)[call]
  compile(folder, program, path, [...options, '--input', ...inputs])
}

/** Compiles a language model for the calls that `generate` makes. Returns null for an encoder and a decoder. */
export function compileTokens(folder, path, options = []) {
  if (programsOf(folder).includes('decoder')) return null
  compile(folder, 'model', path, options)
  return path
}

function compile(folder, program, path, options) {
  const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
  const args = ['compile', join(folder, '1', `${program}.pt2`), '-o', path, ...options]
  execFileSync(process.execPath, [cli, ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
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
