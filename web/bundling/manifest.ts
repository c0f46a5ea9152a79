/** Which files of the library have others in their place in a browser, relative to the project. */
export const REPLACED: Readonly<Record<string, string>> = {
  'runtime/native/library.ts': 'runtime/native/wasm/library.ts',
  'runtime/native/frame-memory.ts': 'runtime/native/wasm/frame-memory.ts',
  'runtime/native/system-memory.ts': 'runtime/native/wasm/linear-memory.ts',
  'runtime/native/custom-library.ts': 'web/stand-ins/custom-library.ts',
  'formats/containers/held-bytes.ts': 'web/stand-ins/held-bytes.ts',
  'src/at-hand.ts': 'web/stand-ins/at-hand.ts',
  'engine/replaced.ts': 'web/stand-ins/replaced.ts',
  'engine/background/interpret.ts': 'web/stand-ins/background.ts',
}

/** What selective builds leave as it is: they have one thread. */
export const WITH_THREADS: Readonly<Record<string, string>> = {
  'runtime/native/threads.ts': 'runtime/native/wasm/threads.ts',
}

/** What stands in the library as a whole, whose chunks have to be waited for. */
export const IN_CHUNKS: Readonly<Record<string, string>> = {
  'chunks/all.ts': 'web/chunk-loader.ts',
  'src/index.ts': 'src/library.ts',
}

/** Modules of Node that the library uses, by the files that have as much of them as it needs. */
export const NODE_MODULES: Readonly<Record<string, string>> = {
  'node:buffer': 'web/node/buffer.ts',
  'node:crypto': 'web/node/crypto.ts',
  'node:fs': 'web/node/fs.ts',
  'node:module': 'web/node/module.ts',
  'node:path': 'web/node/path.ts',
  'node:url': 'web/node/url.ts',
  'node:util': 'web/node/util.ts',
  'node:zlib': 'web/node/zlib.ts',
}

/** Files whose exports stand for globals of Node. */
export const GLOBALS: readonly string[] = ['web/node/buffer.ts', 'web/node/process.ts', 'web/node/timers.ts']
