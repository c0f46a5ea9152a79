// What a package says that it has: the files that its package.json names, and those that these ask for by name.
import { basename, posix } from 'node:path'

/** Kernels for browsers, which `tensors.js` fetches from beside itself. */
export const KERNELS = ['dist/web/ptlite.wasm', 'dist/web/ptlite-relaxed.wasm']

/** Paths in all conditions of `exports`, `main`, `module`, `types` and `bin`. */
export function namedFiles({ main, module, types, bin, exports }) {
  const names = new Set()
  const add = (value) => {
    if (typeof value === 'string') names.add(posix.normalize(value))
    else if (value !== null && typeof value === 'object') Object.values(value).forEach(add)
  }
  ;[main, module, types, bin, exports].forEach(add)
  return [...names]
}

/** What a file of JavaScript loads from beside itself, wherever it stands: none that is looked for in other places, too. */
export function loadedFiles(path, code) {
  const found = [
    ...code.matchAll(/(?:\bfrom|\bimport|\brequire\(|\bimport\(|\.load\(|\bnew URL\()\s*["'](\.{1,2}\/[\w./-]+\.(?:js|cjs|mjs|wasm))["']/g),
  ]
  return [...new Set(found.map(([, name]) => posix.join(posix.dirname(path), name)))]
}

/** Throws an error that names what is missing. `paths` are those of all files that there are, `read` says what is in one. */
export function checkNamedFiles(manifest, paths, read) {
  const has = (path) => paths.has(path)
  const missing = new Map()
  const seen = new Set()
  const look = (path, who) => {
    if (seen.has(path)) return
    seen.add(path)
    if (!has(path)) missing.set(path, who)
    else if (/\.(?:js|cjs|mjs)$/.test(path)) for (const loaded of loadedFiles(path, read(path))) look(loaded, path)
  }
  for (const path of namedFiles(manifest)) look(path, 'package.json')
  for (const name of (manifest.files ?? []).filter((pattern) => !/^!|[*]/.test(pattern)))
    if (![...paths].some((path) => path === name || path.startsWith(`${name}/`))) missing.set(name, 'package.json')
  if (missing.size === 0) return
  const list = [...missing].map(([path, who]) => `${path}, which ${basename(who)} names`)
  throw new Error(`${manifest.name} lacks ${list.join('; ')}`)
}
