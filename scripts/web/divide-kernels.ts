// Writes the two files of kernels from the module that the linker has written.
//   tsx scripts/web/divide-kernels.ts LINKED FIRST MORE
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Status } from '../../runtime/native/generated/numbers.js'
import { divideModule } from './kernels/divide.js'
import { FIRST_KERNELS, STEPS } from './kernels/first-kernels.js'
import { readLinkedModule } from './kernels/linked-module.js'
import { kernelNames } from './kernels/names.js'

const [linked, first, more] = process.argv.slice(2)
if (linked === undefined || first === undefined || more === undefined) throw new Error('divide-kernels LINKED FIRST MORE')

const kernels = kernelNames()
const entryOf = (kernel: string): string => `(anonymous namespace)::ptlite_entry_${kernel}(void*)`
const apart = new Set(kernels.filter((kernel) => !FIRST_KERNELS.has(kernel)).map(entryOf))
const missing = [...FIRST_KERNELS].filter((kernel) => !kernels.includes(kernel))
if (missing.length > 0) throw new Error(`there are no kernels ${missing.join(', ')}`)

const files = divideModule(readLinkedModule(readFileSync(linked)), {
  ...{ kernels, entryOf, missing: Status.NO_KERNEL },
  isCut: (name) => apart.has(name) || STEPS.test(name),
})
for (const [path, module] of [
  [first, files.first],
  [more, files.more],
] as const) {
  // a new file and a rename, so that whoever reads the old one has all of it
  const written = join(dirname(path), `.${basename(path)}.new`)
  writeFileSync(written, module)
  renameSync(written, path)
  console.log(`${path}: ${module.length} bytes, ${gzipSync(module, { level: 9 }).length} gzipped`)
}
