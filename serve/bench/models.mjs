// The models that the server is measured with, as a repository of its own, and requests for them.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const folder = fileURLToPath(new URL('models/', import.meta.url))
export const repository = `${folder}repository`

/** `binary`: how a client sends so many numbers. */
const MODELS = { mlp: {}, mobilenet_v2: { binary: true }, encoder: {}, encoder_short: {}, encoder_words: {} }

/** Models that are served with batching, too, under a name of their own. */
const BATCHED = { encoder: 16, encoder_short: 32, encoder_words: 32 }

/** Exports the models where they are missing, and lays the repository out. */
export function prepare() {
  if (!Object.keys(MODELS).every((name) => existsSync(`${folder}${name}.json`))) {
    console.error('exporting models (once)')
    const script = fileURLToPath(new URL('export.py', import.meta.url))
    execFileSync(process.env.PYTHON ?? 'python3', [script, folder], { stdio: ['ignore', 2, 2] })
  }
  rmSync(repository, { recursive: true, force: true })
  for (const name of Object.keys(MODELS)) {
    const { datatype, shape, data } = exampleOf(name)
    const outputs = undefined
    const config = { inputs: [{ name: 'input', datatype, shape: [-1, ...shape.slice(1)] }], outputs, warmUp: [[{ datatype, shape, data }]] }
    add(name, name, { ...config, batching: false })
    if (name in BATCHED) add(`${name}_batched`, name, { ...config, batching: { maxSize: BATCHED[name] } })
  }
}

function add(name, model, config) {
  mkdirSync(`${repository}/${name}/1`, { recursive: true })
  copyFileSync(`${folder}${model}.ptl`, `${repository}/${name}/1/model.ptl`)
  writeFileSync(`${repository}/${name}/config.json`, JSON.stringify(config))
}

export function exampleOf(name) {
  return JSON.parse(readFileSync(`${folder}${name.replace(/_batched$/, '')}.json`, 'utf8'))
}

/** What a client sends for one inference. */
export function requestFor(name) {
  const { datatype, shape, data } = exampleOf(name)
  const input = { name: 'input', datatype, shape }
  if (!MODELS[name.replace(/_batched$/, '')].binary)
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ inputs: [{ ...input, data }] }) }
  const bytes = Buffer.from(Float32Array.from(data).buffer)
  const header = Buffer.from(
    JSON.stringify({ inputs: [{ ...input, parameters: { binary_data_size: bytes.length } }], parameters: { binary_data_output: true } }),
  )
  return {
    headers: { 'content-type': 'application/octet-stream', 'inference-header-content-length': String(header.length) },
    body: Buffer.concat([header, bytes]),
  }
}

/** The numbers of an answer. */
export async function numbersOf(answer) {
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  const length = answer.headers.get('inference-header-content-length')
  if (length === null) return (await answer.json()).outputs[0].data
  return [...new Float32Array((await answer.arrayBuffer()).slice(Number(length)))]
}
