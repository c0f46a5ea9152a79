import { spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import ts from 'typescript'
import t from 'tap'
import { root } from './rooms.js'

/** Pages whose code is an application's. */
const PAGES = [
  'README.md',
  'docs/getting-started.md',
  'docs/api.md',
  'docs/generation.md',
  'docs/limits.md',
  'docs/weights.md',
  'docs/model-formats.md',
  'docs/selective-build.md',
  'docs/custom-ops.md',
  'docs/models/chat.md',
  'docs/models/embeddings.md',
  'docs/models/whisper.md',
  'docs/models/clip.md',
  'docs/models/detection.md',
  'docs/models/depth.md',
  'docs/models/segment-anything.md',
  'docs/models/voice-activity.md',
  'docs/models/text-to-speech.md',
]

interface Snippet {
  readonly page: string
  readonly line: number
  readonly code: string
}

function snippetsOf(page: string): Snippet[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^( *)```(?:ts|js)\n([^]*?)^ *```/gm)].flatMap(({ index, 1: indent, 2: body }) => {
    const plain = body!.replaceAll(new RegExp(`^${indent!}`, 'gm'), '')
    // what stands in a snippet before
    const code = plain.replace(
      /^\/\/ function (\w+) is as above$/m,
      (_, name) => new RegExp(`^function ${name}\\([^]*?^}$`, 'm').exec(text)![0],
    )
    // of the repository itself: what is generated, and what stands in a clone
    const isOurs = /from '\.\.\//.test(code)
    return isOurs ? [] : [{ page, line: text.slice(0, index).split('\n').length, code }]
  })
}

/** What pages speak of without making it. */
const GIVEN: Readonly<Record<string, string>> = {
  source: `declare const source: import('ptlite').ModelSource`,
  options: `declare const options: import('ptlite').LoadOptions`,
  model: `declare const model: import('ptlite').Module`,
  module: `declare const module: import('ptlite').Module`,
  signal: `declare const signal: AbortSignal`,
  x: `declare const x: import('ptlite').Tensor`,
  register: `declare function register(): void`,
  loadKernels: `declare function loadKernels(path: string): void`,
  readFile: `import { readFile } from 'node:fs/promises'`,
  writeFileSync: `import { writeFileSync } from 'node:fs'`,
  // declarations of what is called
  canvas: `declare const canvas: { width: number; height: number; getContext(kind: '2d'): { getImageData(x: number, y: number, width: number, height: number): Pixels; putImageData(pixels: Pixels, x: number, y: number): void } | null }
interface Pixels { data: Uint8ClampedArray; width: number; height: number }`,
  AudioBuffer: `declare class AudioBuffer { constructor(options: { length: number; sampleRate: number }); readonly duration: number; copyToChannel(samples: Float32Array, channel: number): void }`,
  AudioContext: `declare class AudioContext { constructor(options: { sampleRate: number }); readonly audioWorklet: { addModule(address: string): Promise<void> }; createMediaStreamSource(stream: object): { connect(node: object): void } }
declare class AudioWorkletNode { constructor(context: AudioContext, name: string); readonly port: { onmessage: ((event: { data: Float32Array<ArrayBuffer> }) => void) | null } }
declare const navigator: { mediaDevices: { getUserMedia(what: { audio: true }): Promise<object> } }`,
  sharp: `declare function sharp(path: string): { raw(): { toBuffer(options: { resolveWithObject: true }): Promise<{ data: Buffer; info: { format: string; width: number; height: number; channels: 1 | 2 | 3 | 4 } }> } }`,
}

/** What of Vitest's declarations is used, with the matcher that a program adds. */
const VITEST = `export declare const expect: { extend(matchers: object): void; (value: unknown): import('ptlite/testing').TensorMatchers<void> }`

/** A file with what a snippet leaves out; the snippet is a function there, whose variables hide others. */
function fileOf({ code }: Snippet, names: readonly string[]): string {
  const imports = [...code.matchAll(/^import .*$/gm)].map(([line]) => line)
  const body = code.replaceAll(/^import .*$/gm, '')
  const isUsed = (name: string): boolean =>
    new RegExp(`\\b${name}\\b`).test(body) && !new RegExp(`[{,] *(?:type )?${name}\\b`).test(imports.join('\n'))
  const given = Object.entries(GIVEN).flatMap(([name, text]) => (isUsed(name) ? [text] : []))
  const from = names.filter(isUsed)
  const lines = [...imports, ...(from.length > 0 ? [`import { ${from.join(', ')} } from 'ptlite'`] : []), ...given]
  // what exports is a module itself
  return [...lines, ...(/^export /m.test(body) ? [body] : [`export async function snippet() {\n${body}\n}`])].join('\n')
}

const snippets = PAGES.flatMap(snippetsOf)

t.test('code of the documentation passes the compiler', async (t) => {
  t.ok(snippets.length > 8, `${snippets.length} snippets`)
  const folder = t.testdir({
    'package.json': '{ "type": "module" }',
    node_modules: { '@types': {}, vitest: { 'package.json': '{ "types": "index.d.ts" }', 'index.d.ts': VITEST } },
  })
  const link = (name: string): void => symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  symlinkSync(root, join(folder, 'node_modules/ptlite'))
  for (const name of ['@types/node', 'undici-types']) link(name)
  const names = Object.keys((await import(join(root, 'dist/index.js'))) as object)
  const files = snippets.map((snippet, i) => {
    const path = join(folder, `${i}.ts`)
    writeFileSync(path, fileOf(snippet, names))
    return path
  })
  const { ModuleKind, ModuleResolutionKind, ScriptTarget } = ts
  const program = ts.createProgram(files, {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: ['node'], target: ScriptTarget.ES2022, lib: ['lib.esnext.d.ts'] },
    ...{ module: ModuleKind.NodeNext, moduleResolution: ModuleResolutionKind.NodeNext },
  })
  for (const [i, path] of files.entries()) {
    const found = ts.getPreEmitDiagnostics(program, program.getSourceFile(path))
    const texts = found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
    t.same(texts, [], `${snippets[i]!.page}:${snippets[i]!.line}`)
  }
})

t.test('and needs no casts', async (t) => {
  for (const { page, line, code } of snippets) {
    const casts = [...code.replaceAll(/\/\/.*$|^import .*$|'[^']*'/gm, '').matchAll(/^.*\bas (?!const\b).*$|^.*<any>.*$/gm)].map(
      ([text]) => text,
    )
    t.same(casts, [], `${page}:${line}`)
  }
})

t.test('code about pictures and sound runs', (t) => {
  const of = (name: string): string => snippetsOf('docs/api.md').find(({ code }) => code.includes(`${name}(`))!.code
  const model = join(root, 'test/fixtures/models/mobilenet_v2.ptl')
  // sharp is not among the packages of this project: what it makes of a file is
  const sharp = `const sharp = () => ({ raw: () => ({ toBuffer: async () => ({ data: Buffer.alloc(300 * 260 * 3, 7), info: { width: 300, height: 260, channels: 3 } }) }) })`
  const pictures = `${sharp}\nconst model = await loadModule(${JSON.stringify(model)})\n${of('imageToTensor')}\nconsole.log(x.shape, values.shape, classes.shape)`
  const word = JSON.stringify(join(root, 'examples/speech/twice.wav'))
  const sound = `import { readFile } from 'node:fs/promises'\n${of('melSpectrogram').replace("'word.wav'", word)}\nconsole.log(x.shape.slice(0, 2))`
  const run = (code: string): string => {
    const text = transformSync(
      `import { imageToTensor, loadModule, melSpectrogram, readWav, resampleAudio, Tensor } from 'ptlite'\n${code}`,
      { loader: 'ts' },
    ).code
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', text], { cwd: root, encoding: 'utf8' })
    return stdout + stderr
  }
  t.equal(run(pictures), '[ 1, 3, 224, 224 ] [ 1, 5 ] [ 1, 5 ]\n')
  t.equal(run(sound), '[ 1, 80 ]\n')
  t.end()
})
