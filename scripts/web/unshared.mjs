// The linker makes code for threads alone with an import of shared memory. It is as good for memory of one thread, which is what most pages have: the
// file asks for that, and the library changes it back where memory can be shared (runtime/native/wasm/threads/shared-import.ts).
//   node scripts/web/unshared.mjs FROM TO
import { readFileSync, writeFileSync } from 'node:fs'

const [from, to] = process.argv.slice(2)
const module = readFileSync(from)
/** The name of the import, that it is a memory, and that it has a bound and is shared. */
const place = module.subarray(0, 1 << 14).indexOf(Buffer.from('\x06memory\x02\x03', 'latin1'))
if (place < 0) throw new Error(`${from} imports no shared memory`)
module[place + 8] = 1
writeFileSync(to, module)
