import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('..', import.meta.url))

/** Where files that are not in this folder come from, by their place in the page. */
const OTHERS = {
  'ptlite/web.js': 'dist/web.js',
  'ptlite/web/ptlite.wasm': 'dist/web/ptlite.wasm',
  'ptlite/web/ptlite-relaxed.wasm': 'dist/web/ptlite-relaxed.wasm',
  'ptlite/web/thread.js': 'dist/web/thread.js',
  'models/digits.ptl': 'examples/digits/digits.ptl',
  'models/shapes.pt2': 'examples/classify/shapes.pt2',
  'models/detector.pt': 'examples/detect/detector.pt',
  'models/cells.ff': 'examples/segment/cells.ff',
  'models/whistles.ptl': 'examples/speech/whistles.ptl',
  'models/voice.ptl': 'examples/voice/voice.ptl',
  'models/segments.mjs': 'examples/voice/segments.mjs',
  'models/talk.wav': 'examples/voice/talk.wav',
  'models/spoken-digits/digits.ptl': 'examples/spoken-digits/digits.ptl',
  'models/spoken-digits/vocab.json': 'examples/spoken-digits/vocab.json',
  'models/spoken-digits/digits.arpa': 'examples/spoken-digits/digits.arpa',
  'models/spoken-digits/reader.mjs': 'examples/spoken-digits/reader.mjs',
  'models/spoken-digits/utterances.mjs': 'examples/spoken-digits/utterances.mjs',
  'models/spoken-digits/pin.wav': 'examples/spoken-digits/pin.wav',
  'models/chat/model.pt2': 'examples/chat/model.pt2',
  'models/chat/tokenizer.json': 'examples/chat/tokenizer.json',
  'models/chat/tokenizer_config.json': 'examples/chat/tokenizer_config.json',
  'packages/tokenizers.mjs': 'node_modules/@huggingface/tokenizers/dist/tokenizers.min.mjs',
  'packages/jinja.js': 'node_modules/@huggingface/jinja/dist/index.js',
}

/** All files of the page: where they are on this machine, by their place in it. */
export function pageFiles() {
  const files = new Map(['index.html', 'style.css', 'icon.svg'].map((name) => [name, join(here, name)]))
  for (const entry of readdirSync(join(here, 'src'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath ?? entry.path, entry.name)
    files.set(path.slice(here.length).replaceAll('\\', '/'), path)
  }
  for (const [place, path] of Object.entries(OTHERS)) files.set(place, join(root, path))
  // the library's parts
  for (const name of readdirSync(join(root, 'dist/web')))
    if (name.endsWith('.js')) files.set(`ptlite/web/${name}`, join(root, 'dist/web', name))
  return files
}
