/** Which files of the library have others in their place in a browser, relative to the project. */
export const BROWSER_FILES: Readonly<Record<string, string>> = {
  'runtime/platform.ts': 'web/platform/platform.ts',
  'runtime/native/library.ts': 'runtime/native/wasm/library.ts',
  'runtime/native/frame-memory.ts': 'runtime/native/wasm/frame-memory.ts',
  'runtime/native/system-memory.ts': 'runtime/native/wasm/linear-memory.ts',
  'runtime/native/custom-library.ts': 'web/platform/unsupported.ts',
  'formats/containers/model-memory.ts': 'web/platform/model-memory.ts',
  'formats/containers/zip/inflate.ts': 'web/platform/inflate.ts',
  'src/at-hand.ts': 'web/platform/at-hand.ts',
  'src/remote/node.ts': 'web/platform/unsupported.ts',
  'engine/replaced.ts': 'web/platform/unsupported.ts',
  'selective-build/trace/model-file.ts': 'web/platform/unsupported.ts',
  'engine/background/interpret.ts': 'web/platform/unsupported.ts',
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

/** What packages that are part of bundles are imported by, and which of their files are modules: of others what is not used cannot be left out. */
export const PACKAGES: Readonly<Record<string, string>> = {
  flatbuffers: 'flatbuffers/mjs/flatbuffers.js',
  fflate: 'fflate/esm/browser.js',
  '@noble/hashes/sha2.js': '@noble/hashes/sha2.js',
}
