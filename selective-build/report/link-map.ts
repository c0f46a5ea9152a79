import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { kernelsBySource } from '../build/sources.js'
import { dtypeOf, type NativeSymbol } from './symbols.js'

/** What is in a module of WebAssembly, by the map that its linker wrote; nothing where there is none. */
export function mappedSymbols(root: string, map: string, level: string): NativeSymbol[] {
  if (!existsSync(map)) return []
  const sources = kernelsBySource(root, 'wasm')
  const lines = [...readFileSync(map, 'utf8').matchAll(/^ *(?:[0-9a-f]+|-) +[0-9a-f]+ +([0-9a-f]+) {9}(\S.*):\((.+)\)$/gm)]
  const names = demangled(lines.map(([, , , name]) => name!))
  return lines.map(([, size, file], i) => {
    const source = /(?:^|\/)kernels\/(.+)\.o(?:bj)?$/.exec(file!)?.[1] ?? ''
    return { bytes: parseInt(size!, 16), level, kernel: (sources.get(source) ?? []).join(', ') || 'shared', dtype: dtypeOf(names[i]!) }
  })
}

/** Sections of data are named after what they hold. */
function demangled(names: readonly string[]): string[] {
  const input = names.map((name) => name.replace(/^\.(?:text|rodata|data|bss)\./, '')).join('\n')
  return execFileSync('c++filt', { input, encoding: 'utf8', maxBuffer: 1 << 28 }).split('\n')
}
