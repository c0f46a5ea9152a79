import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PtliteError } from '../../runtime/error.js'
import type { OptionTable } from './options.js'
import { type Command, parse, UsageError } from './usage.js'

const OPTIONS = {
  plain: { type: 'boolean', help: 'no colours' },
} as const satisfies OptionTable

export const demo: Command = {
  synopsis: 'demo',
  about: `Recognises handwritten digits, and compares with what PyTorch made of the same images.`,
  options: OPTIONS,
  notes: `The network and the images are part of the package, in examples/digits.`,

  async run(args) {
    const { positionals } = parse({ args, options: OPTIONS, allowPositionals: true })
    if (positionals.length > 0) throw new UsageError('expected no file')
    const folder = folderOfDigits()
    // it looks for --plain among the arguments of the process itself
    await import(new URL('demo.mjs', folder).href)
    const path = (name: string): string => relative(process.cwd(), fileURLToPath(new URL(name, folder)))
    console.log(`\n  One image: ptlite run ${path('digits.ptl')} --input ${path('image.npy')}`)
  },
}

/** In the package, or in the clone that this is. */
function folderOfDigits(): URL {
  const folders = ['../examples/digits/', '../../examples/digits/'].map((path) => new URL(path, import.meta.url))
  const folder = folders.find((each) => existsSync(new URL('demo.mjs', each)))
  if (folder === undefined) throw new PtliteError('NOT_FOUND', 'examples/digits is not beside this program')
  return folder
}
