import { open, readdir, stat, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { ConfigError, DEFAULT_CONFIG, type ModelConfig, parseConfig } from './config.js'
import { compareVersions, isModelFile, isModelName, isVersion, withoutExtension } from './names.js'

export interface FoundVersion {
  readonly version: string
  /** Of the model's file, links followed. */
  readonly path: string
  /** Of the encoder, where `path` is that of a decoder, links followed. */
  readonly encoder: string | null
  /** What turns text into tokens; null where there is none, or none is needed. */
  readonly tokenizer: TokenizerPaths | null
}

/** Files of a tokenizer as transformers writes them, links followed; null: not there. */
export interface TokenizerPaths {
  /** null: a model of speech whose letters are in `vocabulary`. */
  readonly tokenizer: string | null
  readonly config: string | null
  readonly template: string | null
  /** `generation_config.json` */
  readonly generation: string | null
  /** `vocab.json` */
  readonly vocabulary: string | null
}

/** A model as it lies in the repository. */
export interface FoundModel {
  readonly name: string
  readonly config: ModelConfig
  readonly labels: readonly string[] | null
  /** Those that are to be served, the latest last. */
  readonly versions: readonly FoundVersion[]
}

/** A model that cannot be served as it lies there. */
export interface FaultyModel {
  readonly name: string
  readonly fault: string
}

/** Bytes of config.json, and of a file of labels. */
const MAX_TEXT = 4 << 20

/** All models of a repository by name; `root` is its real path. */
export async function scanRepository(root: string): Promise<Map<string, FoundModel | FaultyModel>> {
  const names = new Set<string>()
  for (const entry of await readdir(root)) {
    const name = isModelFile(entry) ? withoutExtension(entry) : entry
    if (!isModelName(name)) continue
    if (isModelFile(entry) || (await isFolder(join(root, entry)))) names.add(name)
  }
  const found = new Map<string, FoundModel | FaultyModel>()
  for (const name of [...names].sort()) found.set(name, (await scanModel(root, name)) ?? { name, fault: 'it was removed meanwhile' })
  return found
}

/** One model; null where there is none of that name. */
export async function scanModel(root: string, name: string): Promise<FoundModel | FaultyModel | null> {
  if (!isModelName(name)) return null
  try {
    const bare = (await readdir(root)).filter((entry) => isModelFile(entry) && withoutExtension(entry) === name)
    const hasFolder = await isFolder(join(root, name))
    if (bare.length === 0 && !hasFolder) return null
    if (hasFolder && bare.length > 0) throw new ConfigError(`there is a folder ${name} and a file ${bare[0]}; keep one of them`)
    if (!hasFolder) {
      const file = preferred(bare)
      if (file === null) throw new ConfigError(`there are ${bare.join(' and ')}; keep one of them, or put them into folders`)
      return {
        name,
        config: DEFAULT_CONFIG,
        labels: null,
        versions: [{ version: '1', path: await modelPath(root, root, file), encoder: null, tokenizer: null }],
      }
    }
    return await scanFolder(root, await within(root, join(root, name)), name)
  } catch (error) {
    if (error instanceof ConfigError || error instanceof OutsideError) return { name, fault: error.message }
    const { code, message } = error as NodeJS.ErrnoException
    return { name, fault: code === undefined ? message : `its files cannot be read (${code})` }
  }
}

/** A folder with versions, or with one model file. */
export async function scanFolder(root: string, folder: string, name: string): Promise<FoundModel> {
  const entries = await readdir(folder)
  const text = entries.includes('config.json') ? await readText(await within(root, join(folder, 'config.json'))) : null
  const config = text === null ? DEFAULT_CONFIG : parseConfig(text)
  const all: FoundVersion[] = []
  for (const version of entries.filter(isVersion).sort(compareVersions)) {
    const versionFolder = await within(root, join(folder, version))
    if (!(await isFolder(versionFolder))) continue
    const files = (await readdir(versionFolder)).filter(isModelFile)
    const pair = config.text === null ? null : pairOf(files)
    const file = pair?.decoder ?? preferred(files)
    if (file === null) throw new ConfigError(`version ${version} has no model file; expected one, or model.ptl and its like among several`)
    all.push({
      version,
      path: await modelPath(root, versionFolder, file),
      encoder: pair === null ? null : await modelPath(root, versionFolder, pair.encoder),
      tokenizer: await tokenizerOf(root, [versionFolder, folder], config),
    })
  }
  const pair = config.text === null ? null : pairOf(entries.filter(isModelFile))
  const own = pair?.decoder ?? preferred(entries.filter(isModelFile))
  if (all.length === 0 && own !== null)
    all.push({
      version: '1',
      path: await modelPath(root, folder, own),
      encoder: pair === null ? null : await modelPath(root, folder, pair.encoder),
      tokenizer: await tokenizerOf(root, [folder], config),
    })
  if (all.length === 0) throw new ConfigError('it has no model file; expected VERSION/model.ptl and its like')
  return { name, config, labels: await labelsOf(root, folder, config), versions: wantedVersions(all, config) }
}

/** Of the first folder that has one: a version's own before that of all. Throws ConfigError where a language model has none. */
async function tokenizerOf(root: string, folders: readonly string[], { text }: ModelConfig): Promise<TokenizerPaths | null> {
  if (text === null) return null
  for (const folder of folders) {
    const entries = await readdir(folder)
    const path = async (name: string): Promise<string | null> => (entries.includes(name) ? within(root, join(folder, name)) : null)
    const tokenizer = await path('tokenizer.json')
    const vocabulary = text.task === 'transcribe' ? await path('vocab.json') : null
    if (tokenizer !== null || vocabulary !== null)
      return {
        ...{ tokenizer, vocabulary, config: await path('tokenizer_config.json') },
        ...{ template: await path('chat_template.jinja'), generation: await path('generation_config.json') },
      }
  }
  throw new ConfigError(
    'text: the model has no tokenizer; expected tokenizer.json of transformers in its folder, or in that of the version',
  )
}

/** Beside a compiled file the library looks for the one that it was made from, whatever that is called. */
async function modelPath(root: string, folder: string, file: string): Promise<string> {
  if (file.endsWith('.ptlc')) for (const entry of await readdir(folder)) await within(root, join(folder, entry))
  return within(root, join(folder, file))
}

function wantedVersions(all: readonly FoundVersion[], { versions }: ModelConfig): readonly FoundVersion[] {
  if (versions === 'all') return all
  if (versions === 'latest') return all.slice(-1)
  const missing = versions.filter((wanted) => !all.some(({ version }) => version === wanted))
  if (missing.length > 0) throw new ConfigError(`versions: there is no version ${missing.join(', ')}`)
  return all.filter(({ version }) => versions.includes(version))
}

/** An encoder and a decoder, each called so. */
function pairOf(files: readonly string[]): { readonly encoder: string; readonly decoder: string } | null {
  const [encoder, decoder] = ['encoder', 'decoder'].map((part) => preferred(files.filter((file) => withoutExtension(file) === part)))
  return typeof encoder === 'string' && typeof decoder === 'string' ? { encoder, decoder } : null
}

/** Of several files the compiled one, then what is called `model`; null where it cannot be told. */
function preferred(files: readonly string[]): string | null {
  const named = files.filter((file) => withoutExtension(file) === 'model')
  const among = named.length > 0 ? named : files
  const compiled = among.filter((file) => file.endsWith('.ptlc'))
  if (compiled.length === 1) return compiled[0]!
  return among.length === 1 ? among[0]! : null
}

async function labelsOf(root: string, folder: string, { labels }: ModelConfig): Promise<readonly string[] | null> {
  if (typeof labels !== 'string') return labels
  const text = await readText(await within(root, join(folder, labels)))
  return text.replace(/\r?\n$/, '').split(/\r?\n/)
}

async function readText(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    if (size > MAX_TEXT) throw new ConfigError(`${path.slice(path.lastIndexOf('/') + 1)} has ${size} bytes; at most ${MAX_TEXT}`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}

/** A file or folder that links lead out of the repository. */
class OutsideError extends Error {}

/** Where a path of the repository leads, links followed. Throws OutsideError unless that is in the repository, whose own real path is `root`. */
async function within(root: string, path: string): Promise<string> {
  const real = await realpath(path)
  if (real !== root && !real.startsWith(root.endsWith(sep) ? root : root + sep))
    throw new OutsideError(`${path.slice(root.length + 1) || path} leads out of the repository`)
  return real
}
